package fault

import (
	"fmt"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// Routes are the routes of a fabric with changes on top.
type Routes struct {
	base    fabric.Router
	changes map[hopKey][]change
}

type hopKey struct{ node, endpoint int }

// change is another set of next hops; of several that hold, the last counts.
type change struct {
	fault *Context
	hops  []uint16
	on    *bool
}

// Next returns the next hops from a node to an endpoint.
func (r *Routes) Next(node, endpoint int) []uint16 {
	list := r.changes[hopKey{node, endpoint}]
	for i := len(list) - 1; i >= 0; i-- {
		if *list[i].on {
			return list[i].hops
		}
	}
	return r.base.Next(node, endpoint)
}

// LAG returns the ports of a group of links.
func (r *Routes) LAG(node int, hop uint16) []uint16 { return r.base.LAG(node, hop) }

// overlay puts changes on top of the routes of every switch.
func (c *Context) overlay() *Routes {
	if c.World.routes != nil {
		return c.World.routes
	}
	r := &Routes{changes: map[hopKey][]change{}}
	c.World.routes = r
	for _, s := range c.Switches {
		if s != nil {
			r.base = s.Cfg.Router
			s.SetRouter(r)
		}
	}
	return r
}

// Rebase changes the routes below the changes.
func (w *World) Rebase(base fabric.Router) {
	if w.routes != nil {
		w.routes.base = base
		return
	}
	for _, s := range w.Switches {
		if s != nil {
			s.SetRouter(base)
		}
	}
}

// Route is a switch that sends frames for some hosts to a neighbour that it
// should not: a static route, a stale entry.
type Route struct {
	Switch string `key:"switch" required:"true" doc:"name of the switch"`
	Dst    string `key:"dst" required:"true" doc:"hosts whose frames go astray, a name or a pattern"`
	Via    string `key:"via" required:"true" doc:"neighbour that they are sent to; none = they are lost"`
	When
}

var _ = register("route", `{switch: leaf0, dst: h3, via: none, to: 100us}`, "is a switch with a wrong route", Route{}, func(f Route) error {
	if err := required("switch", f.Switch, "the name of a switch"); err != nil {
		return err
	}
	if err := required("dst", f.Dst, "a host, or a pattern"); err != nil {
		return err
	}
	return required("via", f.Via, "a neighbour of the switch, or none")
})

// Inject changes the route.
func (f Route) Inject(c *Context) error {
	on := new(bool)
	node, err := c.misroute("via", f.Switch, f.Dst, f.Via, f.When, on)
	if err != nil {
		return err
	}
	return c.swap(node, f, f.When, on)
}

func (f Route) String() string {
	return fmt.Sprintf("route of %s to %s via %s", f.Switch, f.Dst, f.Via)
}

// RoutingLoop is a ring of switches that hand frames for some hosts on to each
// other until their TTL has run out.
type RoutingLoop struct {
	Switches []string `key:"switches" required:"true" doc:"that hand on to the next, and the last to the first: neighbours"`
	Dst      string   `key:"dst" required:"true" doc:"hosts whose frames go round, a name or a pattern"`
	When
}

var _ = register("routing_loop", `{switches: [leaf0, spine0], dst: h3, from: 10us, to: 100us}`, "lets switches hand frames round in a ring", RoutingLoop{}, func(f RoutingLoop) error {
	if len(f.Switches) < 2 {
		return fmt.Errorf("switches: %d: want two or more that are neighbours", len(f.Switches))
	}
	return required("dst", f.Dst, "a host, or a pattern")
})

// Inject makes the ring.
func (f RoutingLoop) Inject(c *Context) error {
	on, first := new(bool), 0
	for i, name := range f.Switches {
		node, err := c.misroute("switches", name, f.Dst, f.Switches[(i+1)%len(f.Switches)], f.When, on)
		if err != nil {
			return err
		}
		if i == 0 {
			first = node
		}
	}
	return c.swap(first, f, f.When, on)
}

func (f RoutingLoop) String() string {
	return fmt.Sprintf("routing loop %v for %s", f.Switches, f.Dst)
}

// misroute adds a change of the routes of one switch that holds while on is true.
func (c *Context) misroute(key, name, dst, via string, w When, on *bool) (node int, err error) {
	node, ok := c.Graph.Find(name)
	if !ok || c.Graph.Nodes[node].Kind != topology.Switch {
		if key == "via" {
			key = "switch"
		}
		return 0, fmt.Errorf("%s: %s: is no switch: there are %s", key, name, c.places("switch"))
	}
	var hops []uint16
	var neighbours []string
	for p, q := range c.Ports.Of(node) {
		neighbours = append(neighbours, c.Graph.Nodes[q.Peer].Name)
		if c.Graph.Nodes[q.Peer].Name == via {
			hops = append(hops, uint16(p))
		}
	}
	if len(hops) == 0 && via != "none" {
		return 0, fmt.Errorf("%s: %s: is no neighbour of %s: there are %s", key, via, name, names(neighbours))
	}
	ends, err := c.endpoints("dst", dst)
	if err != nil {
		return 0, err
	}
	r := c.overlay()
	for e, yes := range ends {
		if yes {
			k := hopKey{node, e}
			r.changes[k] = append(r.changes[k], change{c, hops, on})
		}
	}
	for p := range c.Ports.Of(node) {
		n := c.counter()
		c.tamper(c.peer(direction{node, p}), tamperFunc(func(now sim.Time, m *packet.Packet, _ *fabric.Verdict) {
			if m.Kind < packet.PFC && ends[m.Dst] && w.Active(now) {
				*n++
			}
		}))
	}
	return node, nil
}

// swap turns changes of routes on and off.
func (c *Context) swap(node int, f Fault, w When, on *bool) error {
	c.tell(node, f)
	return c.global(w, func(now bool, _ sim.Time) {
		*on = now
		c.Rerouted()
	})
}
