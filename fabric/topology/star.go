package topology

import "rdmasim/sim"

// StarParams describes one switch.
type StarParams struct {
	Hosts int          `key:"hosts" doc:"hosts h0.. on the switch sw0"`
	Rate  sim.Rate     `key:"rate" doc:"rate of every link"`
	Delay sim.Duration `key:"delay" doc:"propagation delay of every link"`
	Cable sim.Length   `key:"cable" doc:"length of the cables instead of delay, at 5 ns/m"`
}

var _ = sim.Register(Topologies, "star", "one switch sw0 with hosts h0..",
	StarParams{Hosts: 9, Rate: DefaultRate, Delay: DefaultDelay}, nil, star)

func star(p StarParams) (*Graph, error) {
	return buildChain("star", chain{hosts: []int{p.Hosts}, keys: []string{"hosts"}, rate: p.Rate, delay: p.Delay, cable: p.Cable})
}
