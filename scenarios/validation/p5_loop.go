package validation

import (
	"fmt"
	"strings"

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
to be loaded alike: they are tried with packets that enter at every switch, at all points, where n B/(TTL-1) is exact to 5 %. With
one entry its link is crossed ceil((TTL-1)/n) times by each packet, which gives that bound to 5 %, and no deadlock comes where
packets come back to the entry once at most (TTL-1 <= 2n): what comes in is then never less than what comes round, so that the
port from outside is the one that is paused.`,
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

// entry is how packets come into the loop.
type entry int

const (
	oneSwitch   entry = iota // by one switch, whose link into the loop is crossed most
	everySwitch              // by all of them alike, so that all links are loaded alike
)

func (e entry) String() string { return [...]string{"", "by every switch, "}[e] }

// exact is the rate into the loop at which a link of it is full.
func (c loopCase) exact(e entry) float64 {
	if e == everySwitch {
		return fluid.LoopDeadlockRateStrict(c.n, c.link, c.ttl)
	}
	return fluid.LoopDeadlockRateExact(c.n, c.link, c.ttl)
}

// rates are those below the published bound and above the strict one.
func (c loopCase) rates() (below, above float64) {
	return 0.9 * fluid.LoopDeadlockRate(c.n, c.link, c.ttl), 1.15 * fluid.LoopDeadlockRateStrict(c.n, c.link, c.ttl)
}

func measureLoop(b *Bench) error {
	const link = 40 * sim.Gbps
	fine, dead := Line{Name: "nothing pauses"}, Line{Name: "deadlock"}
	for i, c := range []loopCase{{2, 16, link, Short}, {3, 16, link, Short}, {2, 32, link, Quick}, {4, 24, link, Quick}, {2, 8, link, Quick}, {2, 20, 100 * sim.Gbps, Quick}, {3, 12, 25 * sim.Gbps, Quick},
		{8, 18, 50 * sim.Gbps, Quick}, {8, 6, 100 * sim.Gbps, Quick}, {3, 4, 40 * sim.Gbps, Quick},
		{2, 64, link, Full}, {4, 64, link, Full}, {8, 64, link, Full}, {3, 33, link, Full}, {5, 40, 200 * sim.Gbps, Full}, {2, 6, 10 * sim.Gbps, Full}, {3, 64, 800 * sim.Gbps, Full}, {5, 8, 200 * sim.Gbps, Full}, {2, 4, 10 * sim.Gbps, Full}} {
		if c.level > b.Level {
			continue
		}
		for _, e := range c.entries() {
			if err := b.goRound(c, e); err != nil {
				return err
			}
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

// entries are the ways into the loop for which a deadlock can come: by one
// switch only where packets come back to it twice.
func (c loopCase) entries() []entry {
	if c.ttl-1 <= 2*c.n {
		return []entry{everySwitch}
	}
	return []entry{oneSwitch, everySwitch}
}

// goRound checks one loop below and above the bounds.
func (b *Bench) goRound(c loopCase, e entry) error {
	below, above := c.rates()
	for _, p := range []struct {
		what     string
		rate     float64
		deadlock bool
	}{{"0.9 n B/TTL", below, below > c.exact(e)}, {"0.95 of the exact bound", 0.95 * c.exact(e), false}, {"1.05 of the exact bound", 1.05 * c.exact(e), true}, {"1.15 n B/(TTL-1)", above, true}} {
		if r := p.rate / c.exact(e); 0.95 < r && r < 1.05 && p.rate == below {
			continue // so near to a bound a run of a second does not show on which side it is; 0.95 and 1.05 are tried
		}
		l, err := b.loop(c, e, p.rate)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("%d switches, %v, TTL %d, %v%s", c.n, c.link, c.ttl, e, p.what)
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
	l, err := b.loop(c, oneSwitch, below, "nic.timeout=18", "duration=1s")
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

// into returns the topology, the routes and the traffic of a loop into which
// packets come at a rate in bit/s in all.
func (c loopCase) into(e entry, rate float64) []string {
	set := []string{fmt.Sprintf("topology.ring.switches=%d", c.n), "topology.ring.rate=" + c.link.String()}
	if c.n == 2 {
		set = []string{fmt.Sprintf("topology={dumbbell: {left: 1, right: 1, rate: %v, delay: 1us}}", c.link)}
	}
	targets := []string{"h1"}
	if e == everySwitch {
		// h1 cannot send to itself: what is for h0 goes round too.
		targets, rate = append(targets, "h0"), rate/float64(c.n)
		others := "h0"
		for i := 2; i < c.n; i++ {
			others += fmt.Sprintf(", h%d", i)
		}
		set = append(set, "traffic=[{incast: {senders: ["+others+"], receiver: h1, message: 1GB, repeat: 1}}, {incast: {senders: [h1], receiver: h0, message: 1GB, repeat: 1}}]")
	}
	var routes []string
	for _, to := range targets {
		for i := range c.n {
			routes = append(routes, fmt.Sprintf("{at: sw%d, to: %s, via: [sw%d]}", i, to, (i+c.n-1)%c.n))
		}
	}
	return append(set, "routes=["+strings.Join(routes, ", ")+"]", fmt.Sprintf("nic.congestion.none.rate=%.0fbps", rate))
}

// loop runs a loop into which packets come at a rate in bit/s.
func (b *Bench) loop(c loopCase, e entry, rate float64, more ...string) (l loopRun, err error) {
	set := append(c.into(e, rate), fmt.Sprintf("switch.buffer.size=%dB", max(800_000, int64(c.link)/50_000)), fmt.Sprintf("nic.ttl=%d", c.ttl))
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
