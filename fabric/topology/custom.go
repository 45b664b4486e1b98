package topology

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// CustomParams describes any graph, node by node and link by link. Links of
// different rates may meet in one switch, and two nodes may have several links.
type CustomParams struct {
	Name      string           `key:"name" doc:"name of the fabric"`
	Nodes     []CustomNode     `key:"nodes" doc:"hosts and switches, in the order that every report uses"`
	Links     []CustomLink     `key:"links" doc:"links; the ports of a node are numbered in the order in which its links appear"`
	Breakouts []CustomBreakout `key:"breakouts" doc:"ports that are split in several, after the links"`
	Rate      sim.Rate         `key:"rate" doc:"rate of every link that gives none"`
	Delay     sim.Duration     `key:"delay" doc:"propagation delay of every link that gives neither delay nor cable"`
}

// CustomNode is a host or a switch.
type CustomNode struct {
	Name string `key:"name" doc:"unique name"`
	Kind string `key:"kind" doc:"host or switch"`
	Tier int    `key:"tier" doc:"tier of a switch: 1 leaf, 2 aggregation or spine, 3 core; 0 = distance to the nearest host"`
	Pod  Pod    `key:"pod" doc:"number of the pod, or none"`
}

// Pod is the number of a pod plus one, so that the zero value is none; in text
// it is the number, or none.
type Pod int

// MarshalText and UnmarshalText read and write none, 0, 1, 2 ...
func (p Pod) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

func (p Pod) String() string {
	if p <= 0 {
		return "none"
	}
	return strconv.Itoa(int(p) - 1)
}

// UnmarshalText reads none or a number from 0.
func (p *Pod) UnmarshalText(text []byte) error {
	if string(text) == "none" {
		*p = 0
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 || n >= MaxNodes {
		return fmt.Errorf("%q is not a pod: want none, or a number from 0", text)
	}
	*p = Pod(n + 1)
	return nil
}

// CustomLink joins two nodes.
type CustomLink struct {
	A         string       `key:"a" doc:"name of one node"`
	B         string       `key:"b" doc:"name of the other"`
	Rate      sim.Rate     `key:"rate" doc:"rate of both directions; 0bps = that of all"`
	Delay     sim.Duration `key:"delay" doc:"propagation delay of both directions; 0s = that of the cable, or of all"`
	Cable     sim.Length   `key:"cable" doc:"length of the cable instead of delay, at 5 ns/m"`
	BackRate  sim.Rate     `key:"back_rate" doc:"rate from b to a where it differs; 0bps = rate"`
	BackDelay sim.Duration `key:"back_delay" doc:"delay from b to a where it differs; 0s = delay"`
	Loss      sim.Ratio    `key:"loss" doc:"probability that a packet is lost, each direction"`
	LAG       string       `key:"lag" doc:"links of one name between two nodes act as one next hop; the ports of a host that share a name share one address"`
	APort     string       `key:"a_port" doc:"name of the port of a, such as swp1"`
	BPort     string       `key:"b_port" doc:"name of the port of b"`
}

// CustomBreakout is one physical port split in as many as there are nodes in
// To: 400 Gb/s to four nodes is four ports of 100 Gb/s.
type CustomBreakout struct {
	Node  string       `key:"node" doc:"name of the node whose port is split"`
	Port  string       `key:"port" doc:"name of the port; its parts get the suffixes s0, s1 ..."`
	Rate  sim.Rate     `key:"rate" doc:"rate of the whole port; 0bps = that of all"`
	To    []string     `key:"to" doc:"names of the nodes at the other ends, one per part: 2, 4 or 8"`
	Delay sim.Duration `key:"delay" doc:"propagation delay; 0s = that of the cable, or of all"`
	Cable sim.Length   `key:"cable" doc:"length of the cable instead of delay, at 5 ns/m"`
}

var _ = sim.Register(Topologies, "custom", "any graph: named nodes and links, mixed speeds, LAGs, breakout ports",
	CustomParams{
		Name:  "custom",
		Nodes: []CustomNode{{Name: "h0", Kind: "host"}, {Name: "h1", Kind: "host"}, {Name: "sw0", Kind: "switch"}},
		Links: []CustomLink{{A: "h0", B: "sw0"}, {A: "h1", B: "sw0"}},
		Rate:  DefaultRate, Delay: DefaultDelay,
	}, nil, custom)

func custom(p CustomParams) (*Graph, error) {
	if len(p.Nodes) == 0 {
		return in("custom", fmt.Errorf("nodes: want at least one"))
	}
	b := NewBuilder(cmp.Or(p.Name, "custom"))
	if len(p.Nodes) > MaxNodes || len(p.Links)+len(p.Breakouts) > MaxLinks {
		return in("custom", checkSize(len(p.Nodes), len(p.Links)+len(p.Breakouts)))
	}
	for i, n := range p.Nodes {
		if err := p.checkNode(b, n); err != nil {
			return in("custom", fmt.Errorf("nodes[%d] (%s): %w", i, n.Name, err))
		}
		switch n.Kind {
		case "host":
			if n.Tier != 0 {
				return in("custom", fmt.Errorf("nodes[%d] (%s): tier: %d: a host has none", i, n.Name, n.Tier))
			}
			b.SetPod(b.AddHost(n.Name), int(n.Pod)-1)
		case "switch":
			b.AddSwitch(n.Name, n.Tier, int(n.Pod)-1)
		default:
			return in("custom", fmt.Errorf("nodes[%d] (%s): kind: %q: want host or switch", i, n.Name, n.Kind))
		}
		if b.err != nil {
			return nil, b.err
		}
	}
	for i, l := range p.Links {
		if err := p.addLink(b, l); err != nil {
			return in("custom", fmt.Errorf("links[%d] (%s - %s): %w", i, l.A, l.B, err))
		}
	}
	for i, s := range p.Breakouts {
		if err := p.addBreakout(b, s); err != nil {
			return in("custom", fmt.Errorf("breakouts[%d] (%s %s): %w", i, s.Node, s.Port, err))
		}
	}
	if err := onePortEach(&b.g); err != nil {
		return in("custom", err)
	}
	return b.Graph()
}

// onePortEach says which named port of a node has two links, or nil.
func onePortEach(g *Graph) error {
	type port struct {
		node int
		name string
	}
	used := map[port]int{}
	for i := range g.Links {
		l := &g.Links[i]
		for _, e := range []struct {
			key string
			port
		}{{"a_port", port{l.A, l.AName}}, {"b_port", port{l.B, l.BName}}} {
			if e.name == "" {
				continue
			}
			if j, ok := used[e.port]; ok {
				return fmt.Errorf("links[%d] (%s): %s: port %s of %s has a link already, %s", i, g.LinkName(i), e.key, e.name, g.Nodes[e.node].Name, g.LinkName(j))
			}
			used[e.port] = i
		}
	}
	return nil
}

// checkNode says why a node cannot be the next one, or nil.
func (p CustomParams) checkNode(b *Builder, n CustomNode) error {
	if err := checkName(n.Name); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	if _, ok := b.Node(n.Name); ok {
		return fmt.Errorf("name: two nodes have the name %q: names must be unique", n.Name)
	}
	return nil
}

func (p CustomParams) addLink(b *Builder, l CustomLink) error {
	x, y, err := p.ends(b, "a", l.A, "b", l.B)
	switch {
	case err != nil:
		return err
	case x == y:
		return fmt.Errorf("b: %s is joined with itself", l.B)
	case l.Loss > 1:
		return fmt.Errorf("loss %v: want a probability from 0 to 1", l.Loss)
	}
	w, err := p.wire(l.Rate, l.Delay, l.Cable)
	if err != nil {
		return err
	}
	if l.BackRate < 0 || l.BackDelay < 0 {
		return fmt.Errorf("back_rate %v, back_delay %v: must not be negative", l.BackRate, l.BackDelay)
	}
	w.BackRate, w.BackDelay, w.Loss, w.LAG, w.AName, w.BName = l.BackRate, l.BackDelay, float64(l.Loss), l.LAG, l.APort, l.BPort
	b.Connect(x, y, w)
	return b.err
}

func (p CustomParams) addBreakout(b *Builder, s CustomBreakout) error {
	n := len(s.To)
	if n != 2 && n != 4 && n != 8 {
		return fmt.Errorf("to: %d nodes: a port is split in 2, 4 or 8", n)
	}
	w, err := p.wire(s.Rate, s.Delay, s.Cable)
	if err != nil {
		return err
	}
	if w.Rate%sim.Rate(n) != 0 {
		return fmt.Errorf("rate: %v cannot be split in %d equal parts", w.Rate, n)
	}
	w.Rate /= sim.Rate(n)
	for i, to := range s.To {
		x, y, err := p.ends(b, "node", s.Node, fmt.Sprintf("to[%d]", i), to)
		if err != nil {
			return err
		}
		w.AName = ""
		if s.Port != "" {
			w.AName = s.Port + "s" + strconv.Itoa(i)
		}
		b.Connect(x, y, w)
	}
	return b.err
}

func (p CustomParams) ends(b *Builder, xKey, xName, yKey, yName string) (x, y int, err error) {
	for _, e := range []struct {
		key, name string
		to        *int
	}{{xKey, xName, &x}, {yKey, yName, &y}} {
		i, ok := b.Node(e.name)
		if !ok {
			return 0, 0, fmt.Errorf("%s: no node is called %q: want one of %s", e.key, e.name, p.someNames())
		}
		*e.to = i
	}
	return x, y, nil
}

// someNames lists the nodes, cut to a readable number.
func (p CustomParams) someNames() string {
	const most = 12
	var names []string
	for _, n := range p.Nodes[:min(len(p.Nodes), most)] {
		names = append(names, n.Name)
	}
	if len(p.Nodes) > most {
		names = append(names, fmt.Sprintf("... (%d nodes)", len(p.Nodes)))
	}
	return strings.Join(names, ", ")
}

func (p CustomParams) wire(rate sim.Rate, delay sim.Duration, cable sim.Length) (Wire, error) {
	s, err := span{delay: p.Delay}.or("", delay, cable)
	if err != nil {
		return Wire{}, err
	}
	return s.wire(cmp.Or(rate, p.Rate)), nil
}

// WriteCustom returns the parameters of custom that build g again. A cable that
// does not explain the delay of its link is left out, and so are DataLoss and
// DropEvery, which a scenario sets by its key links.
func WriteCustom(g *Graph) CustomParams {
	p := CustomParams{Name: g.Name, Nodes: make([]CustomNode, len(g.Nodes)), Links: make([]CustomLink, len(g.Links)), Rate: DefaultRate, Delay: DefaultDelay}
	for i, n := range g.Nodes {
		p.Nodes[i] = CustomNode{Name: n.Name, Kind: n.Kind.String(), Tier: n.Tier, Pod: Pod(n.Pod + 1)}
	}
	for i, l := range g.Links {
		c := CustomLink{
			A: g.Nodes[l.A].Name, B: g.Nodes[l.B].Name,
			Rate: l.AtoB.Rate, Delay: l.AtoB.Delay, Cable: l.Cable, Loss: sim.Ratio(l.Loss), LAG: l.LAG, APort: l.AName, BPort: l.BName,
		}
		if l.Cable.Delay() == l.AtoB.Delay {
			c.Delay = 0
		} else {
			c.Cable = 0
		}
		if l.BtoA.Rate != l.AtoB.Rate {
			c.BackRate = l.BtoA.Rate
		}
		if l.BtoA.Delay != l.AtoB.Delay {
			c.BackDelay = l.BtoA.Delay
		}
		p.Links[i] = c
	}
	return p
}
