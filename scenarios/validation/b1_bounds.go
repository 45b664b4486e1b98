package validation

import (
	"fmt"
	"strings"

	"rdmasim/congestion/fluid"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

var _ = register("B1", Row{
	Title: "thresholds of PFC and ECN",
	Hard:  true,
	Explain: `n ports, 8 priorities, buffer B, headroom t_flight per port and priority, dynamic threshold beta:
t_PFC <= (B - 8 n t_flight) / (8 n); ECN comes first if t_ECN < beta (B - 8 n t_flight) / (8 n (beta + 1)).
In terms of alpha = beta/8: one ingress port feeds n egress ports in 8 priorities; each priority holds n t_ECN, and is paused where
that reaches alpha (B' - 8 n t_ECN).
12 MB, n 32, t_flight 22.4 KB, beta 8: 24.475 KB and 21.756 KB.
The static bound t_PFC > n t_ECN gives 0.765 KB from the same formula, where the paper prints 0.85 KB.
Source: Zhu et al., SIGCOMM'15, section 4.`,
	Oracles:   []string{"sigcomm15_thresholds"},
	Scenarios: []string{"fan-out.yaml"},
	Measure:   measureBounds,
})

// paperSwitch is the switch of SIGCOMM'15, section 4.
var paperSwitch = fluid.SwitchBuffer{Buffer: 12 * sim.MB, Ports: 32, Priorities: 8, Flight: 22_400}

// boundCase is one point of B1: a switch, beta, and Kmin, or a distance in frames
// to the bound where Kmin is 0.
type boundCase struct {
	sw     fluid.SwitchBuffer
	alpha  string // beta/8
	beta   float64
	kmin   sim.Bytes
	frames int
	level  Level
}

// at is Kmin.
func (c boundCase) at() sim.Bytes {
	if c.kmin > 0 {
		return c.kmin
	}
	return sim.Bytes(c.sw.DynamicECN(c.beta)) + sim.Bytes(c.frames)*plainFrame(1024)
}

func measureBounds(b *Bench) error {
	const source = "SIGCOMM'15 4"
	b.Near("t_PFC bound, 12 MB, 32 ports", 24.475, one(paperSwitch.PFC()/1e3), 0.001, "KB", source)
	b.Near("t_ECN bound, beta 8", 21.756, one(paperSwitch.DynamicECN(8)/1e3), 0.001, "KB", source)
	small, large := fluid.SwitchBuffer{Buffer: 9 * sim.MB, Ports: 24, Priorities: 8, Flight: 15_000}, fluid.SwitchBuffer{Buffer: 16 * sim.MB, Ports: 16, Priorities: 8, Flight: 60_000}
	points := []boundCase{
		{paperSwitch, "1", 8, 21_700, 0, Quick}, {paperSwitch, "1", 8, 26_000, 0, Quick}, {paperSwitch, "1", 8, 15_000, 0, Quick},
		// A queue is a whole number of frames, so that points keep more than one away from the bound.
		{paperSwitch, "1/8", 1, 0, -2, Quick}, {paperSwitch, "1/8", 1, 0, 2, Quick}, {paperSwitch, "1/2", 4, 0, -2, Full}, {paperSwitch, "1/2", 4, 0, 2, Full},
		{paperSwitch, "4", 32, 0, -2, Full}, {paperSwitch, "4", 32, 0, 2, Full}, {small, "1/4", 2, 0, -2, Full}, {small, "1/4", 2, 0, 2, Full},
		{large, "1/16", 0.5, 0, -2, Full}, {large, "1/16", 0.5, 0, 2, Full}, {large, "1", 8, 0, -2, Full}, {large, "1", 8, 0, 2, Full},
	}
	first := map[string]*Line{"ECN": {Name: "ECN first"}, "PFC": {Name: "PFC first"}}
	for _, p := range points {
		if p.level > b.Level {
			continue
		}
		who, err := b.whoIsFirst(p)
		if err != nil {
			return err
		}
		if p.sw == paperSwitch {
			first[who].at(p.beta, float64(p.at()))
		}
	}
	b.Draw(Curve{Name: "bound", Title: "The highest Kmin at which ECN comes before PFC", X: Axis{Label: "beta", Log: true}, Y: Axis{Label: "Kmin (bytes)"},
		Lines: []Line{oracleLog("bound of SIGCOMM'15, section 4", 0.8, 40, paperSwitch.DynamicECN), *first["ECN"], *first["PFC"]}})
	return nil
}

// whoIsFirst checks which of the two comes first, and returns it.
func (b *Bench) whoIsFirst(p boundCase) (string, error) {
	mark, crossing, err := b.race(p)
	if err != nil {
		return "", err
	}
	first, want := "ECN", "ECN"
	if crossing < mark {
		first = "PFC"
	}
	if bound := p.sw.DynamicECN(p.beta); float64(p.at()) > bound {
		want = "PFC"
	}
	what := fmt.Sprintf("%v, %d ports, beta %g, Kmin %v, bound %.0f B: first", p.sw.Buffer, p.sw.Ports, p.beta, p.at(), p.sw.DynamicECN(p.beta))
	b.Exact(what, want, first, "SIGCOMM'15 4")
	return first, nil
}

// race returns when the first packet was marked, at the end of that bin of
// 1 us, and when the first priority reached its threshold; never if it did not.
func (b *Bench) race(c boundCase) (mark, crossing sim.Time, err error) {
	var list []string
	for prio := range 8 {
		for h := range c.sw.Ports {
			list = append(list, fmt.Sprintf("{from: h0, to: h%d, size: 1MB, priority: %d}", h+1, prio))
		}
	}
	set := []string{"traffic=[{flows: {list: [" + strings.Join(list, ", ") + "]}}]", "switch.buffer.alpha=" + c.alpha,
		// One port more, that of the sender, with its headroom.
		"switch.buffer.size=" + (c.sw.Buffer + sim.Bytes(c.sw.Priorities)*c.sw.Flight).String(), "switch.buffer.headroom=" + c.sw.Flight.String(),
		// The sender is a quarter faster than what its receivers take together.
		fmt.Sprintf("topology.star.hosts=%d", c.sw.Ports+1), fmt.Sprintf("links.0.rate=%dMbps", c.sw.Ports*12_500)}
	for prio := range 8 {
		set = append(set, fmt.Sprintf("switch.ecn.%d={kmin: %v, kmax: %v, pmax: 1}", prio, c.at(), c.at()))
	}
	o, err := b.Run("fan-out.yaml", set...)
	if err != nil {
		return 0, 0, err
	}
	defer o.Discard()
	mark, crossing = sim.Never, sim.Never
	for p, err := range o.Points(trace.SeriesMarked, nil) {
		if err != nil {
			return 0, 0, err
		}
		if p.Max > 0 {
			mark = min(mark, p.Time.Add(o.Spec.Series.Interval))
		}
	}
	events, err := o.Happened(trace.EventXoff)
	if err != nil {
		return 0, 0, err
	}
	for _, e := range events {
		crossing = min(crossing, e.Time)
	}
	if mark == sim.Never && crossing == sim.Never {
		return 0, 0, fmt.Errorf("neither ECN nor PFC by the end of the run")
	}
	return mark, crossing, nil
}
