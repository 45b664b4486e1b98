package scenarios

import (
	"strconv"
	"strings"

	"rdmasim/fabric/topology"
)

// RouteRule is a static route. Where several hold for one switch and host, the
// last does.
type RouteRule struct {
	At   string   `key:"at" required:"true" doc:"name of a switch, or a pattern such as spine*"`
	To   string   `key:"to" required:"true" doc:"host to which the traffic goes, or a pattern such as h1*"`
	Via  []string `key:"via" doc:"neighbours by which it leaves, or ports as port:5; several are equal-cost paths"`
	Drop bool     `key:"drop" doc:"true: the traffic is discarded (a black hole), instead of via"`
}

// checkRoutes checks static routes against themselves.
func (s *Spec) checkRoutes() error {
	for i, r := range s.Routes {
		at := "routes." + strconv.Itoa(i)
		if err := s.checkMatch(r.At, at+".at"); err != nil {
			return err
		}
		if err := s.checkMatch(r.To, at+".to"); err != nil {
			return err
		}
		switch {
		case len(r.Via) == 0 && !r.Drop:
			return s.errorAt(at, "", "has no way out: want via, such as [spine1] or [port:5], or drop: true")
		case len(r.Via) > 0 && r.Drop:
			return s.errorAt(at+".drop", "true", "traffic that is dropped has no via: give one of them")
		}
	}
	return nil
}

// routesOn returns the routes of a scenario over its graph: shortest paths,
// and what its static routes replace.
func (s *Spec) routesOn(g *topology.Graph) (*topology.Routes, error) {
	routes, err := topology.ShortestPaths(g)
	if err != nil {
		return nil, err
	}
	return s.overridden(g, routes)
}

// overridden puts the static routes on top of others.
func (s *Spec) overridden(g *topology.Graph, routes *topology.Routes) (*topology.Routes, error) {
	if len(s.Routes) == 0 {
		return routes, nil
	}
	var list []topology.Override
	for i := range s.Routes {
		rule := &s.Routes[i]
		at := "routes." + strconv.Itoa(i)
		if err := s.matchesNode(g, topology.Switch, rule.At, at+".at"); err != nil {
			return nil, err
		}
		if err := s.matchesNode(g, topology.Host, rule.To, at+".to"); err != nil {
			return nil, err
		}
		var to []int
		for e, end := range routes.Endpoints() {
			if matches(rule.To, g.Nodes[end.Node].Name) {
				to = append(to, e)
			}
		}
		for n := range g.Nodes {
			if g.Nodes[n].Kind != topology.Switch || !matches(rule.At, g.Nodes[n].Name) {
				continue
			}
			o := topology.Override{Node: n, Endpoints: to}
			for k, via := range rule.Via {
				hops, err := s.hopsVia(g, routes, n, via, to, at+".via."+strconv.Itoa(k))
				if err != nil {
					return nil, err
				}
				o.Hops = append(o.Hops, hops...)
			}
			list = append(list, o)
		}
	}
	return routes, s.at("routes", routes.Override(list))
}

// hopsVia returns the hops of a switch that a via names: those to a neighbour,
// or the one that a port belongs to.
func (s *Spec) hopsVia(g *topology.Graph, routes *topology.Routes, node int, via string, to []int, at string) ([]uint16, error) {
	ports := routes.Ports().Of(node)
	var hops []uint16
	peer := -1
	if number, ok := strings.CutPrefix(via, "port:"); ok {
		p, err := strconv.Atoi(number)
		if err != nil || p < 0 || p >= len(ports) {
			return nil, s.errorAt(at, via, "%s has ports port:0 to port:%d", g.Nodes[node].Name, len(ports)-1)
		}
		peer, hops = ports[p].Peer, []uint16{routes.HopOf(node, p)}
	} else {
		var names []string
		for _, q := range ports {
			name := g.Nodes[q.Peer].Name
			if name == via {
				peer = q.Peer
			} else if len(names) == 0 || names[len(names)-1] != name {
				names = append(names, name)
			}
		}
		if peer < 0 {
			return nil, s.errorAt(at, orEmpty(via), "is no neighbour of %s: %swant one of %s, or a port such as port:0", g.Nodes[node].Name, didYouMean(via, names), some(names))
		}
		hops = routes.HopsTo(node, peer)
	}
	if g.Nodes[peer].Kind == topology.Host {
		for _, e := range to {
			if routes.Endpoints()[e].Node != peer {
				return nil, s.errorAt(at, via, "leads to host %s, which does not forward to %s: want a switch", g.Nodes[peer].Name, g.Nodes[routes.Endpoints()[e].Node].Name)
			}
		}
	}
	return hops, nil
}
