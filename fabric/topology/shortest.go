package topology

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// Bounds on the routes, by which memory stays below 512 MiB and the work below
// about a minute. A fat tree of 64-port switches has 10.5 million entries, found
// in 540 million steps.
const (
	maxEntries = 1 << 27 // of the routing table, at 4 bytes
	maxSteps   = 1 << 32 // links between switches, both ways, times groups of endpoints
)

// ShortestPaths computes the routes of a valid graph.
func ShortestPaths(g *Graph) (*Routes, error) {
	return ShortestPathsWithout(g, func(int) bool { return false })
}

// ShortestPathsWithout computes the routes that remain when the links for which
// down is true have failed. Endpoints that cannot be reached have no next hops.
func ShortestPathsWithout(g *Graph, down func(link int) bool) (*Routes, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	b := &routing{g: g, r: &Routes{graph: g, ports: g.Ports()}}
	b.r.setStart = []uint32{0, 0} // set 0 is empty
	b.sets = map[uint64]uint32{}
	b.failed = make([]bool, len(g.Links))
	for i := range g.Links {
		b.failed[i] = down(i)
	}
	b.findArcs()
	b.findEndpoints()
	b.findRows()
	if n := product(b.rows, b.r.groups); n > maxEntries {
		return nil, fmt.Errorf("topology %s: the routes need %d tables of %d entries: want at most %d in all", g.Name, b.rows, b.r.groups, maxEntries)
	}
	if n := product(b.switchArcs, b.r.groups); n > maxSteps {
		return nil, fmt.Errorf("topology %s: the routes need a search over %d ends of links from each of %d places: want a product of at most %d", g.Name, b.switchArcs, b.r.groups, int64(maxSteps))
	}
	b.fill()
	return b.r, nil
}

// routing is the work in progress of ShortestPaths.
type routing struct {
	g      *Graph
	r      *Routes
	failed []bool // by link

	// Logical links, LAGs counted once, in order of neighbour, then port.
	arcs       [][]arc  // by node; a switch lists switches alone
	switchArcs int      // arcs of switches
	hopOf      []uint16 // by position in Ports.list: the hop that the port belongs to

	attach [][]int32 // by group: nodes to which its endpoints are attached, in order
	rows   int
	lead   []int32 // by row: the first node that uses it

	hostRows []int32 // rows of hosts
	walk     walk    // the search from the groups at hand

	sets    map[uint64]uint32 // hash of a set -> its number
	scratch []uint16
}

type arc struct {
	peer int32
	hop  uint16
}

// findArcs gathers ports into logical hops and numbers the LAGs of every node.
func (b *routing) findArcs() {
	g, r := b.g, b.r
	b.arcs = make([][]arc, len(g.Nodes))
	b.hopOf = make([]uint16, len(r.ports.list))
	r.lagFirst = make([]int32, len(g.Nodes)+1)
	type bundle struct {
		peer int
		name string
	}
	var order []int
	all := make([]arc, 0, 2*len(g.Links)) // never grows, so that arcs can be cut from it
	for node := range g.Nodes {
		ports := r.ports.Of(node)
		hops := b.hopOf[r.ports.start[node]:]
		order = order[:0]
		for p := range ports {
			order = append(order, p)
		}
		slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(ports[x].Peer, ports[y].Peer) })
		var lags map[bundle]uint16
		from := len(all)
		for _, p := range order {
			q := ports[p]
			hop := uint16(p)
			if name := g.Links[q.Link].LAG; name != "" {
				if lags == nil {
					lags = map[bundle]uint16{}
				}
				k := bundle{q.Peer, name}
				n, seen := lags[k]
				if !seen {
					n = uint16(len(lags))
					lags[k] = n
					r.lagPorts = append(r.lagPorts, nil)
				}
				hop = LAGHop | n
				if m := &r.lagPorts[int(r.lagFirst[node])+int(n)]; !b.failed[q.Link] {
					*m = append(*m, uint16(p))
				}
			}
			hops[p] = hop
			if b.failed[q.Link] || g.Nodes[node].Kind == Switch && g.Nodes[q.Peer].Kind == Host {
				continue
			}
			if a := (arc{int32(q.Peer), hop}); hop < LAGHop || !slices.Contains(all[from:], a) {
				all = append(all, a)
			}
		}
		b.arcs[node] = all[from:len(all):len(all)]
		if g.Nodes[node].Kind == Switch {
			b.switchArcs += len(all) - from
		}
		r.lagFirst[node+1] = int32(len(r.lagPorts))
	}
}

// findEndpoints numbers the endpoints, groups them by the nodes to which they
// are attached, and notes the last hop to each.
func (b *routing) findEndpoints() {
	g, r := b.g, b.r
	var members [][]uint16
	r.endpoints, members = g.endpoints(r.ports)
	r.hostPorts, r.hostHops = make([][]uint16, len(members)), make([][]uint16, len(members))
	r.first = make([]int32, len(g.Nodes)+1)
	r.group = make([]int32, len(r.endpoints))
	r.localStart = make([]int32, len(r.endpoints)+1)
	single := make([]int32, len(g.Nodes)) // group of endpoints attached to that node alone, plus one
	several := map[string]int32{}
	type last struct {
		node int32
		hop  uint16
	}
	var lasts []last
	for e, at := range r.endpoints {
		r.first[at.Node+1]++
		ports := r.ports.Of(at.Node)
		lasts = lasts[:0]
		for _, p := range members[e] {
			q := ports[p]
			if b.failed[q.Link] {
				continue
			}
			r.hostPorts[e] = append(r.hostPorts[e], p)
			if hop := b.hopOf[r.ports.start[at.Node]+int(p)]; !slices.Contains(r.hostHops[e], hop) {
				r.hostHops[e] = append(r.hostHops[e], hop)
			}
			l := last{int32(q.Peer), b.hopOf[r.ports.start[q.Peer]+q.PeerPort]}
			if !slices.Contains(lasts, l) {
				lasts = append(lasts, l)
			}
		}
		slices.SortStableFunc(lasts, func(x, y last) int { return cmp.Compare(x.node, y.node) })
		var nodes []int32
		for i := 0; i < len(lasts); {
			node := lasts[i].node
			b.scratch = b.scratch[:0]
			for ; i < len(lasts) && lasts[i].node == node; i++ {
				b.scratch = append(b.scratch, lasts[i].hop)
			}
			nodes = append(nodes, node)
			r.local = append(r.local, localHop{node, b.intern(b.scratch)})
		}
		r.localStart[e+1] = int32(len(r.local))
		r.group[e] = b.groupOf(nodes, single, several)
	}
	for i := range g.Nodes {
		r.first[i+1] += r.first[i]
	}
	r.groups = len(b.attach)
}

func (b *routing) groupOf(nodes []int32, single []int32, several map[string]int32) int32 {
	if len(nodes) == 1 && single[nodes[0]] > 0 {
		return single[nodes[0]] - 1
	}
	var key []byte
	if len(nodes) != 1 {
		for _, n := range nodes {
			key = binary.AppendUvarint(key, uint64(n))
		}
		if n, ok := several[string(key)]; ok {
			return n
		}
	}
	n := int32(len(b.attach))
	b.attach = append(b.attach, nodes)
	if len(nodes) == 1 {
		single[nodes[0]] = n + 1
	} else {
		several[string(key)] = n
	}
	return n
}

// findRows gives every switch a row of the table. A host with one way out
// follows its neighbour; hosts with several share a row with those that are
// wired alike.
func (b *routing) findRows() {
	g, r := b.g, b.r
	r.row, r.only = make([]int32, len(g.Nodes)), make([]uint32, len(g.Nodes))
	alike := map[string]int32{}
	for node, n := range g.Nodes {
		arcs := b.arcs[node]
		if n.Kind == Host && len(arcs) <= 1 {
			r.row[node] = -1 - int32(r.ports.Of(node)[0].Peer)
			if len(arcs) == 1 {
				r.row[node] = -1 - arcs[0].peer
				r.only[node] = b.intern([]uint16{arcs[0].hop})
			}
			continue
		}
		if n.Kind == Host {
			var key []byte
			direct := false
			for _, a := range arcs {
				key = binary.AppendUvarint(key, uint64(a.peer))
				key = binary.AppendUvarint(key, uint64(a.hop))
				direct = direct || g.Nodes[a.peer].Kind == Host
			}
			if row, ok := alike[string(key)]; ok && !direct {
				r.row[node] = row
				continue
			}
			alike[string(key)] = int32(b.rows)
			b.hostRows = append(b.hostRows, int32(b.rows))
		}
		r.row[node] = int32(b.rows)
		b.lead = append(b.lead, int32(node))
		b.rows++
	}
}

// intern returns the number of a set of hops, storing it if it is new.
func (b *routing) intern(hops []uint16) uint32 {
	if len(hops) == 0 {
		return 0
	}
	h := uint64(len(hops))
	for _, p := range hops {
		h = (h ^ uint64(p)) * 0x9E3779B97F4A7C15 // 2^64 / golden ratio, as in Knuth's multiplicative hashing
		h ^= h >> 29
	}
	for ; ; h++ {
		id, ok := b.sets[h]
		if !ok {
			break
		}
		if slices.Equal(b.r.set(id), hops) {
			return id
		}
	}
	id := uint32(len(b.r.setStart) - 1)
	b.sets[h] = id
	b.r.setPorts = append(b.r.setPorts, hops...)
	b.r.setStart = append(b.r.setStart, uint32(len(b.r.setPorts)))
	return id
}
