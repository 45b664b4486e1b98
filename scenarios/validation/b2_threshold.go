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

// fullBuffer is one point of B2: n saturated ingress ports of a shared buffer.
type fullBuffer struct {
	n     int
	alpha string
	value float64 // of alpha
	rate  sim.Rate
	size  sim.Bytes
	mtu   int
	level Level
}

func measureThreshold(b *Bench) error {
	points := []fullBuffer{
		{1, "1", 1, 100 * sim.Gbps, 6 * sim.MB, 1024, Short}, {4, "1", 1, 100 * sim.Gbps, 6 * sim.MB, 1024, Short}, {8, "1/8", 1. / 8, 100 * sim.Gbps, 6 * sim.MB, 1024, Short},
		{1, "1/16", 1. / 16, 40 * sim.Gbps, 12 * sim.MB, 1024, Quick}, {16, "8", 8, 100 * sim.Gbps, 6 * sim.MB, 1024, Quick}, {31, "1", 1, 25 * sim.Gbps, 12 * sim.MB, 1024, Quick},
		{3, "1/64", 1. / 64, 100 * sim.Gbps, 9 * sim.MB, 1024, Quick}, {2, "1/2", 1. / 2, 400 * sim.Gbps, 24 * sim.MB, 1024, Quick},
		{7, "1/4", 1. / 4, 200 * sim.Gbps, 16 * sim.MB, 4096, Quick}, {33, "2", 2, 50 * sim.Gbps, 32 * sim.MB, 256, Quick},
	}
	found, want := Line{Name: "simulated"}, oracleLog("n alpha / (1 + n alpha)", 1./64, 200, func(x float64) float64 {
		return fluid.DynamicThreshold(1*sim.Byte, x, 1)
	})
	for _, p := range points {
		if p.level > b.Level {
			continue
		}
		mean, err := b.saturate(p)
		if err != nil {
			return err
		}
		found.at(float64(p.n)*p.value, mean*float64(p.n)/float64(p.size))
	}
	b.Draw(Curve{Name: "threshold", Title: "Share of the shared buffer that n saturated ports fill", X: Axis{Label: "n alpha", Log: true}, Y: Axis{Label: "share of the buffer at XOFF"}, Lines: []Line{want, found}})
	return nil
}

// saturate checks where the ports are paused, and returns the middle of it.
func (b *Bench) saturate(p fullBuffer) (float64, error) {
	const headroom = 100 * sim.KB
	size := p.size + headroom*sim.Bytes(p.n+1)
	// Twice as long as filling the whole buffer takes.
	span := 2 * p.rate.TxTime(p.size)
	o, err := b.Run("stopped-receiver.yaml", fmt.Sprintf("topology.star.hosts=%d", p.n+1), "topology.star.rate="+p.rate.String(), "switch.buffer.alpha="+p.alpha,
		fmt.Sprintf("nic.path_mtu=%d", p.mtu), "switch.buffer.size="+size.String(), fmt.Sprintf("duration=%dps", span+sim.Millisecond))
	if err != nil {
		return 0, err
	}
	defer o.Discard()
	at, err := firstXoff(o)
	if err != nil {
		return 0, err
	}
	expect := fluid.DynamicThreshold(p.size, p.value, p.n)
	low, high := inf, 0.0
	for _, v := range at {
		low, high = min(low, v), max(high, v)
	}
	frames := 2 * float64(plainFrame(p.mtu))
	what := fmt.Sprintf("n %d, alpha %s, B %v, %v, MTU %d: ", p.n, p.alpha, p.size, p.rate, p.mtu)
	b.Exact(what+"ports paused", p.n, len(at), "derived")
	b.Off(what+"lowest XOFF", expect, one(low), frames, "B", "Choudhury, Hahne")
	b.Off(what+"highest XOFF", expect, one(high), frames, "B", "Choudhury, Hahne")
	return (low + high) / 2, nil
}
