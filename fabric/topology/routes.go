package topology

// LAGHop marks a next hop that is a LAG: the other bits are its number among
// the LAGs of the node (see Routes.LAG). Without it a next hop is a port.
const LAGHop = 0x8000

// Routes holds all equal-cost shortest paths of a graph. Hosts never forward.
// Memory is by structure: switches have one entry per set of switches to which
// endpoints are attached, not per host, and equal sets of next hops are stored
// once. Lookups allocate nothing and may be done by many goroutines.
type Routes struct {
	graph     *Graph
	ports     *Ports
	endpoints []Endpoint
	hostPorts [][]uint16 // by endpoint: its ports, failed links left out
	hostHops  [][]uint16 // the same as ports or LAGs
	first     []int32    // by node: its first endpoint; one more at the end

	// An endpoint belongs to the group of those attached to the same nodes.
	group  []int32 // by endpoint
	groups int

	row   []int32  // by node: its row in table; for a host with one way out -1-peer
	table []uint32 // row by row, a set per group: 0 none, attached = see local
	only  []uint32 // by node: the set of a host with one way out

	localStart []int32 // by endpoint: where its entries of local begin; one more at the end
	local      []localHop

	setStart []uint32
	setPorts []uint16

	lagFirst []int32 // by node: number of its first LAG; one more at the end
	lagPorts [][]uint16

	over *overrides // static routes, nil = none
}

// attached is the entry of a switch for endpoints on its own ports.
const attached = ^uint32(0)

// localHop is the set of ports by which node reaches an endpoint attached to it.
type localHop struct {
	node int32
	set  uint32
}

// Next returns the equal-cost next hops from a node towards an endpoint, in
// order of the neighbour's node number, then of port: ports, or LAGHop plus the
// number of a LAG. It is empty where there is no path, and at the endpoint's own
// host. For a host it holds the ports that begin a shortest path. Static routes
// come first where there are any (see Override).
func (r *Routes) Next(node, endpoint int) []uint16 {
	if r.over != nil {
		if set, ok := r.over.next(node, endpoint); ok {
			return set
		}
	}
	row := r.row[node]
	if row < 0 {
		return r.fromHost(node, int(-1-row), endpoint)
	}
	id := r.table[int(row)*r.groups+int(r.group[endpoint])]
	if id == attached {
		return r.atLast(node, endpoint)
	}
	if r.endpoints[endpoint].Node == node {
		return nil
	}
	return r.set(id)
}

func (r *Routes) set(id uint32) []uint16 {
	a, b := r.setStart[id], r.setStart[id+1]
	return r.setPorts[a:b:b]
}

func (r *Routes) atLast(node, endpoint int) []uint16 {
	for _, l := range r.local[r.localStart[endpoint]:r.localStart[endpoint+1]] {
		if int(l.node) == node {
			return r.set(l.set)
		}
	}
	return nil
}

// fromHost is Next at a host whose only way out leads to peer.
func (r *Routes) fromHost(node, peer, endpoint int) []uint16 {
	if r.graph.Nodes[peer].Kind == Host {
		return r.atLast(node, endpoint)
	}
	if r.endpoints[endpoint].Node == node || r.only[node] == 0 || len(r.Next(peer, endpoint)) == 0 {
		return nil
	}
	return r.set(r.only[node])
}

// LAG returns the ports of a LAG of a node, given the next hop or its number.
// Ports on failed links are left out.
func (r *Routes) LAG(node int, hop uint16) []uint16 {
	return r.lagPorts[int(r.lagFirst[node])+int(hop&^LAGHop)]
}

// Endpoints returns the endpoints in order of their numbers.
func (r *Routes) Endpoints() []Endpoint { return r.endpoints }

// Of returns the range [first, end) of the endpoints of a node; it is empty for
// a switch.
func (r *Routes) Of(node int) (first, end int) { return int(r.first[node]), int(r.first[node+1]) }

// HostPorts returns the ports of its host that serve an endpoint: one, or the
// members of a LAG; those on failed links are left out.
func (r *Routes) HostPorts(endpoint int) []uint16 { return r.hostPorts[endpoint] }

// EndpointAt returns the endpoint that a port of a host serves.
func (r *Routes) EndpointAt(node, port int) (endpoint int, ok bool) {
	first, end := r.Of(node)
	for e := first; e < end; e++ {
		if r.endpoints[e].Port == port {
			return e, true
		}
		for _, p := range r.hostPorts[e] {
			if int(p) == port {
				return e, true
			}
		}
	}
	return 0, false
}

// Ports returns the table of ports of the graph.
func (r *Routes) Ports() *Ports { return r.ports }

// Graph returns the graph that was routed.
func (r *Routes) Graph() *Graph { return r.graph }
