package topology

import (
	"math"
	"slices"
)

// Hop is one link of a path: the node that sends and its port.
type Hop struct {
	Node, Port int
}

// Peer returns the node that a next hop of node leads to; failed members of a
// LAG lead nowhere, and a LAG without members is -1.
func (r *Routes) Peer(node int, hop uint16) int {
	if hop&LAGHop != 0 {
		members := r.LAG(node, hop)
		if len(members) == 0 {
			return -1
		}
		hop = members[0]
	}
	return r.ports.Of(node)[hop].Peer
}

// starts returns the logical hops out of the port or LAG of an endpoint that
// begin a shortest path to dst, and the number of links that follow.
func (r *Routes) starts(src, dst int) (hops []uint16, rest int) {
	node := r.endpoints[src].Node
	rest = -1
	for _, hop := range r.hostHops[src] {
		d := r.after(node, hop, dst)
		if d < 0 || rest >= 0 && d > rest {
			continue
		}
		if d < rest {
			hops = hops[:0]
		}
		rest, hops = d, append(hops, hop)
	}
	return hops, rest
}

// after counts the links that follow a hop of a host on the way to an
// endpoint: 0 if the hop leads to its host, -1 if there is no path.
func (r *Routes) after(host int, hop uint16, dst int) int {
	node := r.Peer(host, hop)
	if r.graph.Nodes[node].Kind == Host {
		if slices.Contains(r.atLast(host, dst), hop) {
			return 0
		}
		return -1
	}
	n := 0
	for ; node != r.endpoints[dst].Node; n++ {
		next := r.Next(node, dst)
		if len(next) == 0 || n > len(r.graph.Nodes) { // no path, or static routes in a loop
			return -1
		}
		node = r.Peer(node, next[0])
	}
	return n
}

// Distance returns the number of links of a shortest path between two
// endpoints, -1 where there is none. The path begins at a port of src itself,
// even if another port of that host is nearer.
func (r *Routes) Distance(src, dst int) int {
	hops, rest := r.starts(src, dst)
	if len(hops) == 0 {
		return -1
	}
	return 1 + rest
}

// CountPaths returns the number of equal-cost shortest paths between two
// endpoints, a LAG counted as one link; it saturates at the largest uint64.
func (r *Routes) CountPaths(src, dst int) uint64 {
	node := r.endpoints[src].Node
	paths := map[int]uint64{} // node -> paths that lead to it, at the current distance
	var level []int           // its keys, in order of discovery
	reach := func(to map[int]uint64, list *[]int, node int, n uint64) {
		if _, ok := to[node]; !ok {
			*list = append(*list, node)
		}
		to[node] = addSaturated(to[node], n)
	}
	hops, _ := r.starts(src, dst)
	for _, hop := range hops {
		reach(paths, &level, r.Peer(node, hop), 1)
	}
	target := r.endpoints[dst].Node
	for steps := 0; len(level) > 0 && steps <= len(r.graph.Nodes); steps++ {
		if level[0] == target {
			return paths[target]
		}
		next, following := map[int]uint64{}, []int(nil)
		for _, n := range level {
			for _, hop := range r.Next(n, dst) {
				reach(next, &following, r.Peer(n, hop), paths[n])
			}
		}
		paths, level = next, following
	}
	return 0
}

func addSaturated(a, b uint64) uint64 {
	if s := a + b; s >= a {
		return s
	}
	return math.MaxUint64
}

// Path walks from endpoint src to dst; at every node pick chooses one of n next
// hops or LAG members, by index. It returns nil where there is no path.
func (r *Routes) Path(src, dst int, pick func(node, n int) int) []Hop {
	node := r.endpoints[src].Node
	hops, _ := r.starts(src, dst)
	if len(hops) == 0 {
		return nil
	}
	var path []Hop
	for target := r.endpoints[dst].Node; node != target; hops = r.Next(node, dst) {
		if len(hops) == 0 || len(path) > len(r.graph.Nodes) { // static routes that drop or loop
			return nil
		}
		port := hops[pick(node, len(hops))]
		if port&LAGHop != 0 {
			members := r.LAG(node, port)
			port = members[pick(node, len(members))]
		}
		path = append(path, Hop{node, int(port)})
		node = r.ports.Of(node)[port].Peer
	}
	return path
}
