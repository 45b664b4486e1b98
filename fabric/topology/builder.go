package topology

import (
	"fmt"

	"rdmasim/sim"
)

// Wire describes a new link. Rate and either Delay or Cable are needed.
type Wire struct {
	Rate         sim.Rate
	Delay        sim.Duration // propagation; 0 = that of Cable
	Cable        sim.Length   // 0 = only the delay is known
	BackRate     sim.Rate     // from B to A where it differs; 0 = Rate
	BackDelay    sim.Duration // from B to A where it differs; 0 = Delay
	Loss         float64      // probability per packet, each direction
	LAG          string       // see Link.LAG
	AName, BName string       // port names where known
}

// Builder puts a Graph together. The first mistake is kept and returned by
// Graph; what follows it is ignored.
type Builder struct {
	g     Graph
	ports []int
	index map[string]int
	quiet map[int]bool // hosts that make no leaf of their switch
	err   error
}

// NewBuilder returns a builder of an empty graph of that name.
func NewBuilder(name string) *Builder {
	return &Builder{g: Graph{Name: name}, index: map[string]int{}, quiet: map[int]bool{}}
}

// AddHost adds a host and returns its index.
func (b *Builder) AddHost(name string) int { return b.add(Node{Name: name, Kind: Host, Pod: -1}) }

// AddSwitch adds a switch and returns its index. Tier 0 leaves the tier to
// Graph, which takes the distance to the nearest host; pod -1 is none.
func (b *Builder) AddSwitch(name string, tier, pod int) int {
	return b.add(Node{Name: name, Kind: Switch, Tier: tier, Pod: pod})
}

func (b *Builder) add(n Node) int {
	if b.err != nil {
		return -1
	}
	if len(b.g.Nodes) == MaxNodes {
		b.fail("more than %d nodes", MaxNodes)
		return -1
	}
	if old, ok := b.index[n.Name]; ok {
		b.fail("two nodes have the name %q (a %v and a %v): names must be unique", n.Name, b.g.Nodes[old].Kind, n.Kind)
		return -1
	}
	i := len(b.g.Nodes)
	b.index[n.Name] = i
	b.g.Nodes = append(b.g.Nodes, n)
	b.ports = append(b.ports, 0)
	return i
}

// SetPod puts a node into a pod; -1 is none.
func (b *Builder) SetPod(node, pod int) {
	if b.err == nil {
		b.g.Nodes[node].Pod = pod
	}
}

// Node returns the index of a node by its name.
func (b *Builder) Node(name string) (int, bool) {
	i, ok := b.index[name]
	return i, ok
}

// Connect joins the next free port of x with the next free port of y.
func (b *Builder) Connect(x, y int, w Wire) {
	if b.err != nil {
		return
	}
	if x < 0 || x >= len(b.g.Nodes) || y < 0 || y >= len(b.g.Nodes) {
		b.fail("link %d joins nodes %d and %d of %d", len(b.g.Links), x, y, len(b.g.Nodes))
		return
	}
	if len(b.g.Links) == MaxLinks {
		b.fail("more than %d links", MaxLinks)
		return
	}
	if w.Delay != 0 && w.Cable != 0 && w.Delay != w.Cable.Delay() {
		b.fail("link %s - %s: delay %v and cable %v (%v) contradict each other: give one of them",
			b.g.Nodes[x].Name, b.g.Nodes[y].Name, w.Delay, w.Cable, w.Cable.Delay())
		return
	}
	out := Side{Rate: w.Rate, Delay: w.Delay}
	if out.Delay == 0 {
		out.Delay = w.Cable.Delay()
	}
	back := out
	if w.BackRate != 0 {
		back.Rate = w.BackRate
	}
	if w.BackDelay != 0 {
		back.Delay = w.BackDelay
	}
	l := Link{A: x, B: y, APort: b.ports[x], AtoB: out, BtoA: back, Cable: w.Cable, Loss: w.Loss, LAG: w.LAG, AName: w.AName, BName: w.BName}
	b.ports[x]++
	l.BPort = b.ports[y]
	b.ports[y]++
	b.g.Links = append(b.g.Links, l)
}

func (b *Builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("topology %s: "+format, append([]any{b.g.Name}, args...)...)
	}
}

// Graph returns the validated graph. The builder must not be used afterwards.
func (b *Builder) Graph() (*Graph, error) {
	if b.err != nil {
		return nil, b.err
	}
	if err := b.g.Validate(); err != nil {
		return nil, err
	}
	b.g.deriveTiers(b.quiet)
	return &b.g, nil
}
