package topology

import "rdmasim/sim"

// DumbbellParams describes two switches joined by one link.
type DumbbellParams struct {
	Left            int          `key:"left" doc:"hosts h0.. on sw0"`
	Right           int          `key:"right" doc:"hosts on sw1, numbered on from those of sw0"`
	Rate            sim.Rate     `key:"rate" doc:"rate of the host links"`
	Bottleneck      sim.Rate     `key:"bottleneck_rate" doc:"rate of the link sw0 - sw1; 0bps = rate"`
	Delay           sim.Duration `key:"delay" doc:"propagation delay of every link"`
	Cable           sim.Length   `key:"cable" doc:"length of the cables instead of delay, at 5 ns/m"`
	BottleneckDelay sim.Duration `key:"bottleneck_delay" doc:"delay of the link sw0 - sw1; 0s = delay"`
	BottleneckCable sim.Length   `key:"bottleneck_cable" doc:"length of the cable sw0 - sw1, instead of bottleneck_delay"`
}

var _ = sim.Register(Topologies, "dumbbell", "two switches sw0 and sw1 with hosts on each, joined by a bottleneck",
	DumbbellParams{Left: 4, Right: 4, Rate: DefaultRate, Delay: DefaultDelay}, nil, dumbbell)

func dumbbell(p DumbbellParams) (*Graph, error) {
	return buildChain("dumbbell", chain{
		hosts: []int{p.Left, p.Right}, keys: []string{"left", "right"}, least: 1,
		rate: p.Rate, delay: p.Delay, cable: p.Cable,
		trunkKey: "bottleneck_", trunk: p.Bottleneck, trunkLen: span{p.BottleneckDelay, p.BottleneckCable},
	})
}
