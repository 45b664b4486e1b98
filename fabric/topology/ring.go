package topology

import (
	"fmt"

	"rdmasim/sim"
)

// RingParams describes a ring of switches, the smallest fabric in which
// shortest paths close a cycle of buffer dependencies and PFC can deadlock.
type RingParams struct {
	Switches       int          `key:"switches" doc:"switches sw0.. in a ring"`
	HostsPerSwitch int          `key:"hosts_per_switch" doc:"hosts on each switch; h0.. in order of switches"`
	Rate           sim.Rate     `key:"rate" doc:"rate of the host links"`
	TrunkRate      sim.Rate     `key:"trunk_rate" doc:"rate of the links between switches; 0bps = rate"`
	Delay          sim.Duration `key:"delay" doc:"propagation delay of every link"`
	Cable          sim.Length   `key:"cable" doc:"length of the cables instead of delay, at 5 ns/m"`
	TrunkDelay     sim.Duration `key:"trunk_delay" doc:"delay of the links between switches; 0s = delay"`
	TrunkCable     sim.Length   `key:"trunk_cable" doc:"cable of the links between switches, instead of trunk_delay"`
}

var _ = sim.Register(Topologies, "ring", "a ring of switches with hosts on each",
	RingParams{Switches: 4, HostsPerSwitch: 2, Rate: DefaultRate, Delay: DefaultDelay}, nil, ring)

func ring(p RingParams) (*Graph, error) {
	const name = "ring"
	if err := checks(check{"switches", p.Switches, 3}, check{"hosts_per_switch", p.HostsPerSwitch, 1}); err != nil {
		return in(name, err)
	}
	if n := product(p.Switches, p.HostsPerSwitch+1); n > MaxNodes {
		return in(name, checkSize(n, 0))
	}
	hosts, keys := make([]int, p.Switches), make([]string, p.Switches)
	for i := range hosts {
		hosts[i], keys[i] = p.HostsPerSwitch, fmt.Sprintf("hosts_per_switch (sw%d)", i)
	}
	return buildChain(name, chain{
		hosts: hosts, keys: keys, closed: true,
		rate: p.Rate, delay: p.Delay, cable: p.Cable,
		trunkKey: "trunk_", trunk: p.TrunkRate, trunkLen: span{p.TrunkDelay, p.TrunkCable},
	})
}
