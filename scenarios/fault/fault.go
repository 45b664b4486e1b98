// Package fault is what can go wrong in a fabric: frames that are lost, late,
// doubled or broken, links and switches that fail, NICs that storm, and
// settings that are wrong. Each fault is one file that registers itself.
package fault

import (
	"fmt"
	"strings"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs/simnic"
)

// Fault is one thing that goes wrong, with its parameters.
type Fault interface {
	// Inject puts the fault into the fabric of c. It is called once, before the
	// run; its errors begin with the key that they are about.
	Inject(c *Context) error
	// Span says when the fault is there.
	Span() When
	// String says what it does, for events: "loses 1% of the frames".
	String() string
}

// Faults is the catalogue of faults.
var Faults = sim.NewCatalogue[Fault]("fault")

var examples = map[string]string{}

// Example returns parameters of a fault in YAML, for a fabric of leaves and
// spines: it acts there, and the documents show it.
func Example(name string) string { return examples[name] }

// register adds a fault whose parameters are the fault itself, once check finds
// nothing wrong with them.
func register[P Fault](name, example, doc string, defaults P, check func(P) error) bool {
	examples[name] = example
	return sim.Register(Faults, name, doc, defaults, nil, func(p P) (Fault, error) {
		if err := p.Span().check(); err != nil {
			return nil, err
		}
		if check != nil {
			if err := check(p); err != nil {
				return nil, err
			}
		}
		return p, nil
	})
}

// World is the fabric that faults act on.
type World struct {
	Graph    *topology.Graph
	Ports    *topology.Ports
	Switches []*fabric.Switch // by node, nil for hosts
	NICs     []*simnic.NIC    // by node, nil for switches
	Sinks    []*trace.Sink    // by node
	Names    *trace.Names
	NodeOf   []int // node by endpoint
	End      sim.Time
	Rand     func(name string) *sim.Rand
	// Global calls f at t between windows: for what nodes of several threads see.
	Global func(t sim.Time, f func(now sim.Time))
	// Reroute computes the routes anew without the links for which down is true.
	Reroute func(down func(link int) bool) error
	// Headroom is what a switch port would need if its cable had another length.
	Headroom func(node, port int, cable sim.Length) int64
	// Routes are changed by faults of routing; nil until the first of them.
	routes *Routes
	// Rerouted is told when routes have changed.
	Rerouted func()
	down     map[int]int // links that are down for the routes, by how many faults
}

// Context is the place of one fault in a World.
type Context struct {
	*World
	Name    string // of the fault, unique in the run
	touched []*uint64
}

// Touched returns how many frames the fault has touched.
func (c *Context) Touched() (n uint64) {
	for _, p := range c.touched {
		n += *p
	}
	return n
}

// counter returns a place where one thread counts the frames touched.
func (c *Context) counter() *uint64 {
	p := new(uint64)
	c.touched = append(c.touched, p)
	return p
}

// rand returns the random stream of the fault at one place.
func (c *Context) rand(place string) *sim.Rand {
	return c.Rand("fault/" + c.Name + "/" + place)
}

// portName names a port as the rows of a run do.
func (c *Context) portName(d direction) string {
	return fmt.Sprintf("%s:%d", c.Graph.Nodes[d.node].Name, d.port)
}

// peer returns the other side of a port.
func (c *Context) peer(d direction) direction {
	q := c.Ports.Of(d.node)[d.port]
	return direction{q.Peer, q.PeerPort}
}

// portOf returns the port of a switch or a NIC.
func (c *Context) portOf(d direction) *fabric.Port {
	if s := c.Switches[d.node]; s != nil {
		return s.Port(d.port)
	}
	return c.NICs[d.node].Port(d.port)
}

// do calls f on the thread of a node.
func (c *Context) do(node int, t sim.Time, f func(now sim.Time) (again sim.Time)) {
	if s := c.Switches[node]; s != nil {
		s.Do(t, f)
		return
	}
	c.NICs[node].Do(t, f)
}

// tell makes begin and end of the fault events of a node.
func (c *Context) tell(node int, f Fault) {
	id := c.Names.ID("fault/" + c.Name)
	c.on(node, f.Span(), func(on bool, now sim.Time) {
		e := trace.Event{Time: now, Kind: trace.EventFault, Object: id, Prio: -1, Cause: f.String()}
		if on {
			e.Value = 1
		}
		c.Sinks[node].Event(e)
	})
}

// slow tells of a direction that it is slow while the fault is there.
func (c *Context) slow(d direction, f Fault) {
	id, sink := c.Names.ID(c.portName(d)), c.Sinks[d.node]
	c.on(d.node, f.Span(), func(on bool, now sim.Time) {
		e := trace.Event{Time: now, Kind: trace.EventLinkState, Object: id, Prio: -1, Cause: trace.CauseSlow + f.String()}
		if on {
			e.Value = 1
		}
		sink.Event(e)
	})
}

// on calls f at every begin and end of a span, on the thread of a node.
func (c *Context) on(node int, w When, f func(on bool, now sim.Time)) {
	c.do(node, sim.Time(w.From), func(now sim.Time) sim.Time {
		on := w.Active(now)
		f(on, now)
		return w.next(now)
	})
}

// mostEdges bounds how often a fault may change the whole fabric.
const mostEdges = 10_000

// global calls f at every begin and end of a span, between windows.
func (c *Context) global(w When, f func(on bool, now sim.Time)) error {
	n := 0
	for t := sim.Time(w.From); t < c.End && t != sim.Never; t = w.next(t) {
		if n++; n > mostEdges {
			return fmt.Errorf("period: %v: changes the fabric more than %d times in the run: want a longer one, or times", w.Period, mostEdges)
		}
		c.Global(t, func(now sim.Time) { f(w.Active(now), now) })
	}
	return nil
}

// frame counts the frames of one direction that a changed setting applied to.
type count struct {
	when  When
	match matcher
	n     *uint64
}

// Frame counts.
func (k *count) Frame(now sim.Time, m *packet.Packet, _ *fabric.Verdict) {
	if k.when.Active(now) && k.match.matches(m) {
		*k.n++
	}
}

// countFrames counts what passes in a direction while the fault is there.
func (c *Context) countFrames(d direction, w When, f Frames) error {
	m, err := f.compile(c, kindsRoCE)
	if err != nil {
		return err
	}
	c.tamper(d, &count{when: w, match: m, n: c.counter()})
	return nil
}

// tamper puts a hook into a direction of a link.
func (c *Context) tamper(d direction, x fabric.Tamper) {
	p := c.peer(d)
	c.portOf(d).Tamper(x, c.Sinks[d.node], c.Names.ID(c.portName(d)), c.Names.ID(c.portName(p)))
}

// names lists names for errors, the middle of a long list left out.
func names(list []string) string {
	const most = 10
	if len(list) > most {
		list = append(append([]string{}, list[:most-1]...), fmt.Sprintf("... %s (%d)", list[len(list)-1], len(list)))
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
