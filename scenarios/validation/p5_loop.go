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
0.9 n B/TTL; at 1.15 n B/(TTL-1) the deadlock comes and stays when the source has stopped.`,
	Oracles:   []string{"loop_deadlock"},
	Scenarios: []string{"loop.yaml"},
	Measure:   measureLoop,
})

func measureLoop(b *Bench) error {
	const link = 40 * sim.Gbps
	for _, c := range []struct {
		n, ttl int
		level  Level
	}{{2, 16, Short}, {3, 16, Short}, {2, 32, Quick}, {4, 24, Quick}, {2, 8, Quick}, {2, 64, Full}, {4, 64, Full}, {8, 64, Full}, {3, 33, Full}} {
		if c.level > b.Level {
			continue
		}
		what := fmt.Sprintf("%d switches, TTL %d", c.n, c.ttl)
		below := 0.9 * fluid.LoopDeadlockRate(c.n, link, c.ttl)
		l, err := b.loop(c.n, c.ttl, below)
		if err != nil {
			return err
		}
		b.Exact(what+", 0.9 n B/TTL: deadlocks", 0, l.deadlocks, "Hu et al., HotNets'16")
		b.Exact(what+", 0.9 n B/TTL: XOFF frames", 0, l.xoff, "no buffer fills")
		above := 1.15 * fluid.LoopDeadlockRateStrict(c.n, link, c.ttl)
		if l, err = b.loop(c.n, c.ttl, above); err != nil {
			return err
		}
		b.Exact(what+", 1.15 n B/(TTL-1): deadlocks", 1, l.deadlocks, "Hu et al., HotNets'16")
		b.Exact(what+", 1.15 n B/(TTL-1): links of the loop paused at the end", c.n, l.waiting, "Hu et al., HotNets'16")
		b.Exact(what+", 1.15 n B/(TTL-1): packets discarded after the source stopped", 0, l.late, "nothing moves")
	}
	return nil
}

// loopRun is what a run of a routing loop left.
type loopRun struct {
	deadlocks int
	xoff      int64
	waiting   int // ports of the loop that are paused when the run ends
	late      int // packets discarded after the sender gave up
}

// loop runs a loop of n switches into which packets come at a rate in bit/s.
func (b *Bench) loop(n, ttl int, rate float64) (l loopRun, err error) {
	shape := "topology={dumbbell: {left: 1, right: 1, rate: 40Gbps, delay: 1us}}"
	routes := "routes=[{at: sw1, to: h1, via: [sw0]}]"
	if n > 2 {
		shape = fmt.Sprintf("topology.ring.switches=%d", n)
		routes = fmt.Sprintf("routes=[{at: sw0, to: h1, via: [sw%d]}", n-1)
		for i := 1; i < n; i++ {
			routes += fmt.Sprintf(", {at: sw%d, to: h1, via: [sw%d]}", i, i-1)
		}
		routes += "]"
	}
	o, err := b.Run("loop.yaml", shape, routes, fmt.Sprintf("nic.ttl=%d", ttl), fmt.Sprintf("nic.congestion.none.rate=%.0fbps", rate))
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
