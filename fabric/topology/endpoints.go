package topology

import "strconv"

// Endpoint is a host port that has an address of its own. The ports of one LAG
// of a host share an endpoint, whose Port is the first of them.
type Endpoint struct {
	Node, Port int
}

// Endpoints returns the endpoints in node order, then port order; their index
// is the number by which routes and NICs know them.
func (g *Graph) Endpoints() []Endpoint {
	list, _ := g.endpoints(g.Ports())
	return list
}

// endpoints also returns the ports of every endpoint.
func (g *Graph) endpoints(ports *Ports) (list []Endpoint, members [][]uint16) {
	for i, n := range g.Nodes {
		if n.Kind != Host {
			continue
		}
		bonds := map[string]int{}
		for p, q := range ports.Of(i) {
			lag := g.Links[q.Link].LAG
			if e, ok := bonds[lag]; ok && lag != "" {
				members[e] = append(members[e], uint16(p))
				continue
			}
			bonds[lag] = len(list)
			list = append(list, Endpoint{Node: i, Port: p})
			members = append(members, []uint16{uint16(p)})
		}
	}
	return list, members
}

// EndpointNames returns a name for every endpoint: the host's where the host
// has one endpoint, else host:port.
func (g *Graph) EndpointNames() []string {
	list := g.Endpoints()
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = g.Nodes[e.Node].Name
		if i > 0 && list[i-1].Node == e.Node || i+1 < len(list) && list[i+1].Node == e.Node {
			names[i] += ":" + strconv.Itoa(e.Port)
		}
	}
	return names
}
