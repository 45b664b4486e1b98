package validation

import (
	"fmt"

	"rdmasim/sim"
)

var _ = register("D3", Row{
	Title: "utilisation under DCQCN with many flows",
	Hard:  true,
	Explain: `Ten long flows at 40 Gb/s, where a mark takes 4 us to become a change of rate: the queue stays above zero and the link busy.
The more flows, the higher the queue of the fixed point and the smaller the swings of their sum.
Source: an independent packet model of the same parameters (utilisation above 0.999); no published figure.`,
	Scenarios: []string{"dcqcn-long.yaml"},
	Measure:   measureUtilisation,
})

func measureUtilisation(b *Bench) error {
	points := []longFlows{{n: 10, rate: 40 * sim.Gbps, packet: 1000, level: Quick}, {n: 8, rate: 40 * sim.Gbps, packet: 1000, level: Full}, {n: 14, rate: 40 * sim.Gbps, packet: 1000, level: Full},
		{n: 30, rate: 100 * sim.Gbps, packet: 1000, level: Full}, {n: 7, rate: 25 * sim.Gbps, packet: 1000, level: Full}}
	if b.Level == Short {
		points = []longFlows{{n: 10, rate: 40 * sim.Gbps, packet: 1000, sets: []string{"warmup=50ms", "duration=100ms"}}}
	}
	found, bound := Line{Name: "simulated"}, Line{Name: "bound 0.999", Oracle: true}
	for _, c := range points {
		if c.level > b.Level {
			continue
		}
		got, err := b.settle(c)
		if err != nil {
			return err
		}
		b.Within(fmt.Sprintf("%v, N %d: utilisation", c.rate, c.n), 0.999, inf, got.utilisation, "", "independent packet model")
		share := float64(c.rate) / float64(c.n) / 1e9
		found.at(share, 1-got.utilisation.Mean)
		found.Half = append(found.Half, got.utilisation.Half)
	}
	for _, share := range []float64{2.5, 5.5} {
		bound.at(share, 0.001)
	}
	b.Draw(Curve{Name: "idle", Title: "Time for which the link of many DCQCN flows is idle", X: Axis{Label: "fair share C/N (Gb/s)"}, Y: Axis{Label: "share of the time"}, Lines: []Line{bound, found}})
	return nil
}
