// Package topology builds the graphs of fabrics, as data: named nodes, links
// with rates and delays, and the routes over them.
package topology

import "rdmasim/sim"

// Kind tells hosts from switches.
type Kind uint8

// Kinds of nodes.
const (
	Host Kind = iota
	Switch
)

// String returns "host" or "switch".
func (k Kind) String() string {
	if k == Host {
		return "host"
	}
	return "switch"
}

// Node is a host or a switch.
type Node struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Tier int    `json:"tier"` // 0 host, 1 leaf (ToR), 2 aggregation or spine, 3 core
	Pod  int    `json:"pod"`  // -1 = none
}

// Side is one direction of a link: what A (or B) can send.
type Side struct {
	Rate  sim.Rate     `json:"rate_bps"`
	Delay sim.Duration `json:"delay_ps"` // propagation
}

// Link joins port APort of node A with port BPort of node B. Ports of a node
// are numbered from 0 in the order in which its links appear.
type Link struct {
	A, B         int        `json:"-"`
	APort, BPort int        `json:"-"`
	AtoB         Side       `json:"a_to_b"`
	BtoA         Side       `json:"b_to_a"`
	Cable        sim.Length `json:"cable_mm"`   // 0 = only the delay is known
	Loss         float64    `json:"loss"`       // probability per packet, each direction
	DataLoss     float64    `json:"data_loss"`  // probability per data packet, on top
	DropEvery    int64      `json:"drop_every"` // every so manieth data packet of each direction is lost, 0 = none
	LAG          string     `json:"lag"`        // links of one name between two nodes act as one next hop
	AName, BName string     `json:"-"`          // names of the two ports where known, such as swp1 or Ethernet4
}

// Graph is a fabric. Node order is the order of everything that a run writes.
type Graph struct {
	Name  string
	Nodes []Node
	Links []Link
}

// Limits of a graph, so that nothing that a user writes exhausts memory: a fat
// tree of 64-port switches has 70 656 nodes and 196 608 links.
const (
	MaxNodes = 200_000
	MaxLinks = 2_000_000
	// MaxPorts is the number of ports of one node; a next hop with the bit
	// above it set is a LAG (see Routes.Next).
	MaxPorts = 1 << 15
)

// Topologies holds every topology by the name used in scenarios; parameters
// build a Graph.
var Topologies = sim.NewCatalogue[*Graph]("topology")
