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

func measureBounds(b *Bench) error {
	const source = "SIGCOMM'15 4"
	b.Near("t_PFC bound, 12 MB, 32 ports", 24.475, one(paperSwitch.PFC()/1e3), 0.001, "KB", source)
	b.Near("t_ECN bound, beta 8", 21.756, one(paperSwitch.DynamicECN(8)/1e3), 0.001, "KB", source)
	type point struct {
		kmin     sim.Bytes
		alpha    string
		ecnFirst bool
		level    Level
	}
	points := []point{
		{21_700, "1", true, Quick}, {26_000, "1", false, Quick}, {15_000, "1", true, Quick},
		// beta 1 and 4: the bounds are 12.237 and 19.580 KB; a queue is a whole
		// number of frames, so that points keep more than a frame away from them.
		{10_800, "1/8", true, Quick}, {14_500, "1/8", false, Quick}, {19_300, "1/2", true, Full}, {23_500, "1/2", false, Full},
	}
	for _, p := range points {
		if p.level > b.Level {
			continue
		}
		mark, crossing, err := b.race(p.kmin, p.alpha)
		if err != nil {
			return err
		}
		first := "ECN"
		if crossing < mark {
			first = "PFC"
		}
		want := map[bool]string{true: "ECN", false: "PFC"}[p.ecnFirst]
		b.Exact(fmt.Sprintf("alpha %s, Kmin %v: first", p.alpha, p.kmin), want, first, source)
	}
	return nil
}

// race returns when the first packet was marked, at the end of that bin of
// 1 us, and when the first priority reached its threshold; never if it did not.
func (b *Bench) race(kmin sim.Bytes, alpha string) (mark, crossing sim.Time, err error) {
	var list []string
	for prio := range 8 {
		for h := range 32 {
			list = append(list, fmt.Sprintf("{from: h0, to: h%d, size: 1MB, priority: %d}", h+1, prio))
		}
	}
	set := []string{"traffic=[{flows: {list: [" + strings.Join(list, ", ") + "]}}]", "switch.buffer.alpha=" + alpha,
		// One port more, that of the sender, with its headroom.
		"switch.buffer.size=" + (paperSwitch.Buffer + sim.Bytes(paperSwitch.Priorities)*paperSwitch.Flight).String()}
	for prio := range 8 {
		set = append(set, fmt.Sprintf("switch.ecn.%d={kmin: %v, kmax: %v, pmax: 1}", prio, kmin, kmin))
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
