package topology_test

import (
	"fmt"

	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// Two racks behind two spines: how much they are oversubscribed, and how many
// ways lead from one rack to the other.
func Example() {
	leafSpine, err := topology.Topologies.Lookup("leaf_spine")
	if err != nil {
		panic(err)
	}
	p := leafSpine.Defaults.(topology.LeafSpineParams)
	p.Leaves, p.Spines, p.HostsPerLeaf = 2, 2, 8
	p.Rate, p.UplinkRate, p.Cable = 100*sim.Gbps, 200*sim.Gbps, 40*sim.Metre
	g, err := leafSpine.Build(p)
	if err != nil {
		panic(err)
	}
	fmt.Println(g.Stats())
	for _, tier := range g.Oversubscription() {
		fmt.Println(tier)
	}
	routes, err := topology.ShortestPaths(g)
	if err != nil {
		panic(err)
	}
	fmt.Println(routes.CountPaths(0, 15), "paths of", routes.Distance(0, 15), "links from h0 to h15")
	// Output:
	// 16 hosts, 4 switches, 20 links, 2 tiers
	// tier 1: 2 switches, 1.6Tbps from below, 800Gbps up: oversubscription 2:1
	// tier 2: 2 switches, 800Gbps from below, no uplinks
	// 2 paths of 4 links from h0 to h15
}
