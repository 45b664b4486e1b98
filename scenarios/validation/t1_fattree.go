package validation

import (
	"fmt"

	"rdmasim/fabric/topology"
)

var _ = register("T1", Row{
	Title: "k-ary fat tree",
	Hard:  true,
	Explain: `Hosts k^3/4, switches 5k^2/4 (k^2/2 edge, k^2/2 aggregation, k^2/4 core), k^3/4 links in each of three layers,
(k/2)^2 shortest paths between pods, k/2 within a pod, 1 on an edge switch. Paths are counted over the routes that packets take.
Source: Al-Fares, Loukissas, Vahdat, SIGCOMM'08, section 3.`,
	Measure: measureFatTree,
})

func measureFatTree(b *Bench) error {
	hosts, paths := Line{Name: "hosts, built"}, Line{Name: "paths between pods, built"}
	for _, k := range map[Level][]int{Short: {4, 8}, Quick: {2, 4, 6, 8, 16, 24}, Full: {2, 4, 6, 8, 10, 16, 24, 48}}[b.Level] {
		n, p, err := b.fatTree(k)
		if err != nil {
			return err
		}
		hosts.at(float64(k), float64(n))
		paths.at(float64(k), float64(p))
	}
	b.Draw(Curve{Name: "sizes", Title: "Hosts and paths of a k-ary fat tree", X: Axis{Label: "k", Log: true}, Y: Axis{Label: "count", Log: true},
		Lines: []Line{oracleLog("k^3/4", 2, 48, func(k float64) float64 { return k * k * k / 4 }), oracleLog("(k/2)^2", 2, 48, func(k float64) float64 { return k * k / 4 }), hosts, paths}})
	return nil
}

// fatTree checks one fat tree, and returns its hosts and its paths between pods.
func (b *Bench) fatTree(k int) (hosts, paths int, err error) {
	e, err := topology.Topologies.Lookup("fat_tree")
	if err != nil {
		return 0, 0, err
	}
	p := e.Defaults.(topology.FatTreeParams)
	p.K = k
	g, err := e.Build(p)
	if err != nil {
		return 0, 0, err
	}
	routes, err := topology.ShortestPaths(g)
	if err != nil {
		return 0, 0, err
	}
	list, tiers := []int{}, [4]int{}
	for i, n := range g.Nodes {
		if n.Kind == topology.Host {
			list = append(list, i)
		}
		tiers[n.Tier]++
	}
	const source = "SIGCOMM'08 3"
	b.Exact(fmt.Sprintf("k %d: hosts, edge, aggregation, core", k), [4]int{k * k * k / 4, k * k / 2, k * k / 2, k * k / 4}, tiers, source)
	b.Exact(fmt.Sprintf("k %d: links", k), 3*k*k*k/4, len(g.Links), source)
	// The first host, its neighbours on the edge switch, in the pod, and beyond.
	half, from := k/2, list[0]
	if half > 1 {
		b.Exact(fmt.Sprintf("k %d: paths on an edge switch", k), 1, pathsBetween(g, routes, from, list[1]), source)
		b.Exact(fmt.Sprintf("k %d: paths within a pod", k), half, pathsBetween(g, routes, from, list[half]), source)
	}
	for _, to := range []int{list[half*half], list[len(list)-1]} {
		paths = pathsBetween(g, routes, from, to)
		b.Exact(fmt.Sprintf("k %d: paths to %s in another pod", k, g.Nodes[to].Name), half*half, paths, source)
	}
	return len(list), paths, nil
}

// pathsBetween counts the paths that packets from one host may take to another.
func pathsBetween(g *topology.Graph, r *topology.Routes, from, to int) int {
	first, _ := r.Of(to)
	ports := r.Ports()
	var count func(node int) int
	count = func(node int) int {
		if node == to {
			return 1
		}
		n := 0
		for _, p := range r.Next(node, first) {
			n += count(ports.Of(node)[p].Peer)
		}
		return n
	}
	start := ports.Of(from)[0].Peer
	return count(start)
}
