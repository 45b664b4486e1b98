package validation

import (
	"fmt"
	"strings"

	"rdmasim/congestion/fluid"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

var _ = register("B2", Row{
	Title: "dynamic threshold of the shared buffer",
	Hard:  true,
	Explain: `A priority group may use alpha times the free shared buffer: XOFF where q >= alpha (B - sum of all q).
n groups that grow alike reach it at alpha B / (1 + n alpha); B is the buffer without headroom and reserves.
Source: A. Choudhury and E. Hahne, IEEE/ACM Transactions on Networking 6(2), 1998; Guo et al., SIGCOMM'16, section 6.2.`,
	Oracles:   []string{"dynamic_threshold"},
	Scenarios: []string{"stopped-receiver.yaml"},
	Measure:   measureThreshold,
})

// firstXoff returns what each ingress port of the switch held when it first
// paused its sender, by port.
func firstXoff(o *Outcome) (map[string]float64, error) {
	events, err := o.Happened(trace.EventXoff)
	if err != nil {
		return nil, err
	}
	at := map[string]float64{}
	for _, e := range events {
		if _, ok := at[e.Object]; !ok && strings.HasPrefix(e.Object, "sw0:") {
			at[e.Object] = e.Value
		}
	}
	return at, nil
}

func measureThreshold(b *Bench) error {
	points := []struct {
		n     int
		alpha string
		value float64
		rate  sim.Rate
		size  sim.Bytes
		level Level
	}{
		{1, "1", 1, 100 * sim.Gbps, 6 * sim.MB, Short}, {4, "1", 1, 100 * sim.Gbps, 6 * sim.MB, Short}, {8, "1/8", 1. / 8, 100 * sim.Gbps, 6 * sim.MB, Short},
		{1, "1/16", 1. / 16, 40 * sim.Gbps, 12 * sim.MB, Quick}, {16, "8", 8, 100 * sim.Gbps, 6 * sim.MB, Quick}, {31, "1", 1, 25 * sim.Gbps, 12 * sim.MB, Quick},
		{3, "1/64", 1. / 64, 100 * sim.Gbps, 9 * sim.MB, Quick}, {2, "1/2", 1. / 2, 400 * sim.Gbps, 24 * sim.MB, Quick},
	}
	const headroom, frame = 100 * sim.KB, 1086
	found, want := Line{Name: "simulated, alpha 1"}, oracle("B alpha / (1 + n alpha), alpha 1", 1, 32, func(n float64) float64 {
		return fluid.DynamicFree(1*sim.Byte, n, 1) // at alpha 1 as much stays free as each may hold, and only n alpha counts
	})
	for _, p := range points {
		if p.level > b.Level {
			continue
		}
		size := p.size + headroom*sim.Bytes(p.n+1)
		// Twice as long as filling the whole buffer takes.
		span := 2 * p.rate.TxTime(p.size)
		o, err := b.Run("stopped-receiver.yaml", fmt.Sprintf("topology.star.hosts=%d", p.n+1), "topology.star.rate="+p.rate.String(), "switch.buffer.alpha="+p.alpha,
			"switch.buffer.size="+size.String(), fmt.Sprintf("duration=%dps", span+sim.Millisecond))
		if err != nil {
			return err
		}
		at, err := firstXoff(o)
		if err != nil {
			return err
		}
		o.Discard()
		expect := fluid.DynamicThreshold(p.size, p.value, p.n)
		low, high := inf, 0.0
		for _, v := range at {
			low, high = min(low, v), max(high, v)
		}
		what := fmt.Sprintf("n %d, alpha %s, B %v, %v: ", p.n, p.alpha, p.size, p.rate)
		b.Exact(what+"ports paused", p.n, len(at), "derived")
		b.Off(what+"lowest XOFF", expect, one(low), 2*frame, "B", "Choudhury, Hahne")
		b.Off(what+"highest XOFF", expect, one(high), 2*frame, "B", "Choudhury, Hahne")
		if p.value == 1 {
			found.at(float64(p.n), (low+high)/2/float64(p.size))
		}
	}
	b.Draw(Curve{Name: "threshold", Title: "Buffer share of each saturated ingress at XOFF", X: Axis{Label: "saturated ingress ports"}, Y: Axis{Label: "share of the shared buffer"}, Lines: []Line{want, found}})
	return nil
}
