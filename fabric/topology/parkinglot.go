package topology

import (
	"fmt"

	"rdmasim/sim"
)

// ParkingLotParams describes a chain of switches sw0 - sw1 - ... with hosts on
// each, numbered along the chain. Traffic to the last host meets one merge per
// switch: whoever joins late shares with a port behind which all others wait.
// With hosts [3, 2], h0 to h2 share one port of sw1 and h3 has another, so that
// PFC, which is fair to ports, gives h3 half of the link to h4 and the others a
// sixth each; [2, 3] splits the senders 2 + 1 + 1.
type ParkingLotParams struct {
	Hosts      []int        `key:"hosts" doc:"hosts on each switch of the chain, first to last"`
	Rate       sim.Rate     `key:"rate" doc:"rate of the host links"`
	TrunkRate  sim.Rate     `key:"trunk_rate" doc:"rate of the links between switches; 0bps = rate"`
	Delay      sim.Duration `key:"delay" doc:"propagation delay of every link"`
	Cable      sim.Length   `key:"cable" doc:"length of the cables instead of delay, at 5 ns/m"`
	TrunkDelay sim.Duration `key:"trunk_delay" doc:"delay of the links between switches; 0s = delay"`
	TrunkCable sim.Length   `key:"trunk_cable" doc:"cable of the links between switches, instead of trunk_delay"`
}

// The default is the unfairness case of Zhu et al., "Congestion control for
// large-scale RDMA deployments", SIGCOMM 2015, section 2.2, at 40 Gb/s.
var _ = sim.Register(Topologies, "parking_lot", "a chain of switches with hosts on each: many bottlenecks in a row",
	ParkingLotParams{Hosts: []int{3, 2}, Rate: 40 * sim.Gbps, Delay: DefaultDelay}, nil, parkingLot)

func parkingLot(p ParkingLotParams) (*Graph, error) {
	const name = "parking_lot"
	if len(p.Hosts) == 0 || len(p.Hosts) > MaxNodes/2 {
		return in(name, fmt.Errorf("hosts: %d switches: want at least 1 and at most %d, for example [3, 2]", len(p.Hosts), MaxNodes/2))
	}
	keys := make([]string, len(p.Hosts))
	for i := range keys {
		keys[i] = fmt.Sprintf("hosts[%d]", i)
	}
	return buildChain(name, chain{
		hosts: p.Hosts, keys: keys,
		rate: p.Rate, delay: p.Delay, cable: p.Cable,
		trunkKey: "trunk_", trunk: p.TrunkRate, trunkLen: span{p.TrunkDelay, p.TrunkCable},
	})
}
