package topology

import (
	"fmt"
	"slices"
)

// Override is a static route: at a switch, what goes to some endpoints takes
// hops of its own instead of a shortest path. Nothing keeps static routes from
// closing a loop.
type Override struct {
	Node      int      // a switch
	Endpoints []int    // destinations
	Hops      []uint16 // ports or LAGs of Node, as Routes.Next gives them; empty = packets are dropped
}

// maxOverrides bounds the table of static routes, at 2 bytes each.
const maxOverrides = 1 << 25

// overrides are the static routes of a fabric.
type overrides struct {
	row  [][]uint16 // by node: by endpoint a number of sets, 0 = shortest paths; nil = none
	sets [][]uint16 // by number, from 1
}

func (o *overrides) next(node, endpoint int) (set []uint16, ok bool) {
	row := o.row[node]
	if row == nil || row[endpoint] == 0 {
		return nil, false
	}
	return o.sets[row[endpoint]], true
}

// Override sets static routes; of several for one switch and endpoint the last
// holds. The error names what does not fit the fabric.
func (r *Routes) Override(list []Override) error {
	if len(list) == 0 {
		return nil
	}
	o := &overrides{row: make([][]uint16, len(r.graph.Nodes)), sets: make([][]uint16, 1)}
	entries := 0
	for _, v := range list {
		if r.graph.Nodes[v.Node].Kind != Switch {
			return fmt.Errorf("a static route at %s, which is a host: hosts do not forward", r.graph.Nodes[v.Node].Name)
		}
		if len(o.sets) == 1<<16 {
			return fmt.Errorf("more than %d static routes", 1<<16-1)
		}
		if o.row[v.Node] == nil {
			if entries += len(r.endpoints); entries > maxOverrides {
				return fmt.Errorf("the static routes need a table of more than %d entries: want fewer switches with routes of their own", maxOverrides)
			}
			o.row[v.Node] = make([]uint16, len(r.endpoints))
		}
		o.sets = append(o.sets, v.Hops)
		for _, e := range v.Endpoints {
			o.row[v.Node][e] = uint16(len(o.sets) - 1)
		}
	}
	r.over = o
	return nil
}

// HopOf returns the next hop that a port of a node belongs to: the port itself,
// or the LAG that it is a member of.
func (r *Routes) HopOf(node, port int) uint16 {
	first, end := r.lagFirst[node], r.lagFirst[node+1]
	for i := first; i < end; i++ {
		if slices.Contains(r.lagPorts[i], uint16(port)) {
			return LAGHop | uint16(i-first)
		}
	}
	return uint16(port)
}

// HopsTo returns the next hops of a node that lead to a neighbour, in order of
// ports.
func (r *Routes) HopsTo(node, neighbour int) []uint16 {
	var hops []uint16
	for p, q := range r.ports.Of(node) {
		if q.Peer != neighbour {
			continue
		}
		if h := r.HopOf(node, p); !slices.Contains(hops, h) {
			hops = append(hops, h)
		}
	}
	return hops
}
