package topology

import (
	"cmp"

	"rdmasim/sim"
)

// LeafSpineParams describes two tiers in which every leaf joins every spine.
type LeafSpineParams struct {
	Leaves       int          `key:"leaves" doc:"leaf switches leaf0.."`
	Spines       int          `key:"spines" doc:"spine switches spine0.."`
	HostsPerLeaf int          `key:"hosts_per_leaf" doc:"hosts on each leaf; h0.. in order of leaves"`
	Uplinks      int          `key:"uplinks" doc:"parallel links between a leaf and each spine"`
	LAG          bool         `key:"lag" doc:"parallel links form a LAG, that is one next hop"`
	Rate         sim.Rate     `key:"rate" doc:"hosts to leaves"`
	UplinkRate   sim.Rate     `key:"uplink_rate" doc:"leaves to spines; 0bps = rate"`
	Delay        sim.Duration `key:"delay" doc:"propagation delay of every link"`
	Cable        sim.Length   `key:"cable" doc:"length of the cables instead of delay, at 5 ns/m"`
	UplinkDelay  sim.Duration `key:"uplink_delay" doc:"leaves to spines; 0s = delay"`
	UplinkCable  sim.Length   `key:"uplink_cable" doc:"leaves to spines, instead of uplink_delay"`
}

var _ = sim.Register(Topologies, "leaf_spine", "leaf and spine switches, every leaf joined to every spine",
	LeafSpineParams{Leaves: 4, Spines: 4, HostsPerLeaf: 4, Uplinks: 1, Rate: DefaultRate, Delay: DefaultDelay}, nil, leafSpine)

func leafSpine(p LeafSpineParams) (*Graph, error) {
	const name = "leaf_spine"
	if err := checks(check{"leaves", p.Leaves, 1}, check{"spines", p.Spines, 1}, check{"hosts_per_leaf", p.HostsPerLeaf, 1}, check{"uplinks", p.Uplinks, 1}); err != nil {
		return in(name, err)
	}
	if err := checkRate("rate", p.Rate); err != nil {
		return in(name, err)
	}
	uplink := cmp.Or(p.UplinkRate, p.Rate)
	if err := checkRate("uplink_rate", uplink); err != nil {
		return in(name, err)
	}
	all, err := topSpan(p.Delay, p.Cable)
	if err != nil {
		return in(name, err)
	}
	up, err := all.or("uplink_", p.UplinkDelay, p.UplinkCable)
	if err != nil {
		return in(name, err)
	}
	return buildClos(name, ClosParams{
		Tiers: []ClosTier{
			{Down: p.HostsPerLeaf, Up: 1, Rate: p.Rate},
			{Down: p.Leaves, Up: p.Spines, Parallel: p.Uplinks, LAG: p.LAG, Rate: uplink, Delay: up.delay, Cable: up.cable},
		},
		Rate: p.Rate, Delay: p.Delay, Cable: p.Cable,
	})
}
