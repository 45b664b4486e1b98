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
	Measure: func(b *Bench) error {
		points := []longFlows{{10, 40 * sim.Gbps, 1000, nil, Quick}, {8, 40 * sim.Gbps, 1000, nil, Full}, {14, 40 * sim.Gbps, 1000, nil, Full}, {30, 100 * sim.Gbps, 1000, nil, Full}}
		if b.Level == Short {
			points = []longFlows{{10, 40 * sim.Gbps, 1000, []string{"warmup=50ms", "duration=100ms"}, Short}}
		}
		for _, c := range points {
			if c.level > b.Level {
				continue
			}
			got, err := b.settle(c)
			if err != nil {
				return err
			}
			b.Within(fmt.Sprintf("%v, N %d: utilisation", c.rate, c.n), 0.999, inf, got.utilisation, "", "independent packet model")
		}
		return nil
	},
})
