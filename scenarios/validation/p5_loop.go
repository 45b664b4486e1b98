package validation

import (
	"fmt"

	"rdmasim/congestion/fluid"
	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

var _ = register("P5", Row{
	Title: "deadlock of a routing loop",
	Hard:  true,
	Explain: `Packets that enter a loop of n switches cross its links until their TTL is used up. Where they enter faster than they
are discarded the buffers fill, every switch pauses the one before it, and nothing moves any more. None is expected below
0.9 n B/TTL; at 1.15 n B/(TTL-1) the deadlock comes and stays when the source has stopped. Both bounds take the links of the loop
to be loaded alike. The one by which packets enter is crossed ceil((TTL-1)/n) times by each, which gives the bound to 5 %.`,
	Oracles:   []string{"loop_deadlock"},
	Scenarios: []string{"loop.yaml"},
	Measure:   measureLoop,
})

// loopCase is one point of P5.
type loopCase struct {
	n, ttl int
	link   sim.Rate
	level  Level
}

// rates are those below the published bound and above the strict one.
func (c loopCase) rates() (below, above float64) {
	return 0.9 * fluid.LoopDeadlockRate(c.n, c.link, c.ttl), 1.15 * fluid.LoopDeadlockRateStrict(c.n, c.link, c.ttl)
}

func measureLoop(b *Bench) error {
	const link = 40 * sim.Gbps
	fine, dead := Line{Name: "nothing pauses"}, Line{Name: "deadlock"}
	for i, c := range []loopCase{{2, 16, link, Short}, {3, 16, link, Short}, {2, 32, link, Quick}, {4, 24, link, Quick}, {2, 8, link, Quick}, {2, 20, 100 * sim.Gbps, Quick}, {3, 12, 25 * sim.Gbps, Quick},
		{2, 64, link, Full}, {4, 64, link, Full}, {8, 64, link, Full}, {3, 33, link, Full}, {5, 40, 200 * sim.Gbps, Full}, {2, 6, 10 * sim.Gbps, Full}, {8, 18, 50 * sim.Gbps, Full}, {3, 64, 800 * sim.Gbps, Full}} {
		if c.level > b.Level {
			continue
		}
		if err := b.goRound(c); err != nil {
			return err
		}
		if i == 0 && b.Level > Short {
			if err := b.goRoundForASecond(c); err != nil {
				return err
			}
		}
		below, above := c.rates()
		perLink := float64(c.n) * float64(c.link)
		fine.at(float64(c.ttl), below/perLink)
		dead.at(float64(c.ttl), above/perLink)
	}
	b.Draw(Curve{Name: "deadlock", Title: "What a routing loop bears", X: Axis{Label: "TTL", Log: true}, Y: Axis{Label: "rate into the loop / (n B)", Log: true},
		Lines: []Line{oracleLog("1/TTL", 4, 64, func(ttl float64) float64 { return 1 / ttl }), oracleLog("1/(TTL-1)", 4, 64, func(ttl float64) float64 { return 1 / (ttl - 1) }), fine, dead}})
	return nil
}

// uneven reports whether the entry of the loop is full below the published
// bound already.
func (c loopCase) uneven() bool {
	below, _ := c.rates()
	return below > fluid.LoopDeadlockRateExact(c.n, c.link, c.ttl)
}

// goRound checks one loop below and above the bounds.
func (b *Bench) goRound(c loopCase) error {
	below, above := c.rates()
	exact := fluid.LoopDeadlockRateExact(c.n, c.link, c.ttl)
	for _, p := range []struct {
		what     string
		rate     float64
		deadlock bool
	}{{"0.9 n B/TTL", below, false}, {"0.95 of the exact bound", 0.95 * exact, false}, {"1.05 of the exact bound", 1.05 * exact, true}, {"1.15 n B/(TTL-1)", above, true}} {
		if p.rate == below && c.uneven() {
			continue
		}
		l, err := b.loop(c, p.rate)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("%d switches, %v, TTL %d, %s", c.n, c.link, c.ttl, p.what)
		if !p.deadlock {
			b.Exact(what+": deadlocks, XOFF frames", "0 0", fmt.Sprint(l.deadlocks, l.xoff), "Hu et al., HotNets'16")
			continue
		}
		b.Exact(what+": deadlocks", 1, l.deadlocks, "Hu et al., HotNets'16")
		b.Exact(what+": links of the loop paused at the end", c.n, l.waiting, "Hu et al., HotNets'16")
		b.Exact(what+": packets discarded after the source stopped", 0, l.late, "nothing moves")
	}
	return nil
}

// goRoundForASecond checks that there is no deadlock below the bound in 1 s
// either.
func (b *Bench) goRoundForASecond(c loopCase) error {
	below, _ := c.rates()
	l, err := b.loop(c, below, "nic.timeout=18", "duration=1s")
	if err != nil {
		return err
	}
	b.Exact(fmt.Sprintf("%d switches, %v, TTL %d, 0.9 n B/TTL for 1 s: deadlocks and XOFF frames", c.n, c.link, c.ttl), "0 0", fmt.Sprint(l.deadlocks, l.xoff), "Hu et al., HotNets'16")
	return nil
}

// loopRun is what a run of a routing loop left.
type loopRun struct {
	deadlocks int
	xoff      int64
	waiting   int // ports of the loop that are paused when the run ends
	late      int // packets discarded after the sender gave up
}

// loop runs a loop into which packets come at a rate in bit/s.
func (b *Bench) loop(c loopCase, rate float64, more ...string) (l loopRun, err error) {
	n := c.n
	shape := []string{fmt.Sprintf("topology={dumbbell: {left: 1, right: 1, rate: %v, delay: 1us}}", c.link)}
	routes := "routes=[{at: sw1, to: h1, via: [sw0]}]"
	if n > 2 {
		shape = []string{fmt.Sprintf("topology.ring.switches=%d", n), "topology.ring.rate=" + c.link.String()}
		routes = fmt.Sprintf("routes=[{at: sw0, to: h1, via: [sw%d]}", n-1)
		for i := 1; i < n; i++ {
			routes += fmt.Sprintf(", {at: sw%d, to: h1, via: [sw%d]}", i, i-1)
		}
		routes += "]"
	}
	set := append(shape, routes, fmt.Sprintf("switch.buffer.size=%dB", max(800_000, int64(c.link)/50_000)), fmt.Sprintf("nic.ttl=%d", c.ttl), fmt.Sprintf("nic.congestion.none.rate=%.0fbps", rate))
	o, err := b.Run("loop.yaml", append(set, more...)...)
	if err != nil {
		return l, err
	}
	defer o.Discard()
	stop := sim.Time(scenarios.AckTimeout(13))
	on := map[string]bool{}
	for e, err := range o.Run.Events(trace.EventPauseOn, trace.EventPauseOff, trace.EventDeadlock, trace.EventDrop, trace.EventXoff) {
		if err != nil {
			return l, err
		}
		switch e.Kind {
		case trace.EventPauseOn:
			on[e.Object] = e.Peer[0] == 's' && e.Object[0] == 's'
		case trace.EventPauseOff:
			delete(on, e.Object)
		case trace.EventDeadlock:
			l.deadlocks++
		case trace.EventXoff:
			l.xoff++
		case trace.EventDrop:
			if e.Time > stop.Add(sim.Millisecond) {
				l.late++
			}
		}
	}
	for _, loop := range on {
		if loop {
			l.waiting++
		}
	}
	return l, nil
}
