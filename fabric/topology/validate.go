package topology

import (
	"fmt"
	"math"
	"unicode"
)

// maxNameLength bounds the names of nodes and ports, in bytes.
const maxNameLength = 128

// Validate returns the first thing that keeps the graph from being a fabric,
// naming the node or link: names, sizes, rates and delays, port numbers, hosts
// without links, and parts that cannot reach each other.
func (g *Graph) Validate() error {
	if err := g.validateNodes(); err != nil {
		return fmt.Errorf("topology %s: %w", g.Name, err)
	}
	if err := g.validateLinks(); err != nil {
		return fmt.Errorf("topology %s: %w", g.Name, err)
	}
	if err := g.validateReach(); err != nil {
		return fmt.Errorf("topology %s: %w", g.Name, err)
	}
	return nil
}

func (g *Graph) validateNodes() error {
	if len(g.Nodes) > MaxNodes {
		return fmt.Errorf("%d nodes: want at most %d", len(g.Nodes), MaxNodes)
	}
	seen := make(map[string]int, len(g.Nodes))
	hosts := 0
	for i, n := range g.Nodes {
		if err := checkName(n.Name); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		if j, ok := seen[n.Name]; ok {
			return fmt.Errorf("nodes %d and %d have the same name %q: names must be unique", j, i, n.Name)
		}
		seen[n.Name] = i
		switch {
		case n.Kind == Host && n.Tier != 0:
			return fmt.Errorf("host %s has tier %d: hosts are tier 0", n.Name, n.Tier)
		case n.Kind > Switch:
			return fmt.Errorf("node %s is of kind %d: want host or switch", n.Name, n.Kind)
		case n.Tier < 0 || n.Tier > MaxNodes:
			return fmt.Errorf("switch %s has tier %d: want 1 (leaf), 2, 3 ...", n.Name, n.Tier)
		case n.Pod < -1:
			return fmt.Errorf("node %s has pod %d: want -1 (none), 0, 1 ...", n.Name, n.Pod)
		}
		if n.Kind == Host {
			hosts++
		}
	}
	if hosts == 0 {
		return fmt.Errorf("no hosts among %d nodes: want at least one", len(g.Nodes))
	}
	return nil
}

// checkName accepts what a device may be called and what object names
// (node:port), stream names (node/port) and patterns leave free.
func checkName(name string) error {
	if name == "" {
		return fmt.Errorf("the name is empty")
	}
	if len(name) > maxNameLength {
		return fmt.Errorf("the name %q... has %d bytes: want at most %d", name[:32], len(name), maxNameLength)
	}
	for _, r := range name {
		if r == unicode.ReplacementChar || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_' && r != '-' {
			return fmt.Errorf("the name %q contains %q: want letters, digits, '.', '_' and '-'", name, r)
		}
	}
	return nil
}

func (g *Graph) validateLinks() error {
	if len(g.Links) > MaxLinks {
		return fmt.Errorf("%d links: want at most %d", len(g.Links), MaxLinks)
	}
	ports := make([]int, len(g.Nodes))
	type bundle struct {
		a, b int
		name string
	}
	lags := map[bundle]int{}
	for i := range g.Links {
		l := &g.Links[i]
		if l.A < 0 || l.A >= len(g.Nodes) || l.B < 0 || l.B >= len(g.Nodes) {
			return fmt.Errorf("link %d joins nodes %d and %d: want 0 to %d", i, l.A, l.B, len(g.Nodes)-1)
		}
		if l.A == l.B {
			return fmt.Errorf("link %d joins %s with itself", i, g.Nodes[l.A].Name)
		}
		if l.APort != ports[l.A] || l.BPort != ports[l.B] {
			return fmt.Errorf("%s uses ports %d and %d: the next ports in order are %d and %d", g.LinkName(i), l.APort, l.BPort, ports[l.A], ports[l.B])
		}
		ports[l.A]++
		ports[l.B]++
		if err := g.validateWire(i); err != nil {
			return err
		}
		if l.LAG != "" {
			k := bundle{min(l.A, l.B), max(l.A, l.B), l.LAG}
			if j, ok := lags[k]; ok && (g.from(j, k.a) != g.from(i, k.a) || g.from(j, k.b) != g.from(i, k.b)) {
				return fmt.Errorf("%s and link %d share LAG %q but differ in rate: the links of a LAG have one rate", g.LinkName(i), j, l.LAG)
			}
			lags[k] = i
		}
	}
	for i, n := range ports {
		if n == 0 {
			return fmt.Errorf("%v %s has no link", g.Nodes[i].Kind, g.Nodes[i].Name)
		}
		if n > MaxPorts {
			return fmt.Errorf("%v %s has %d ports: want at most %d", g.Nodes[i].Kind, g.Nodes[i].Name, n, MaxPorts)
		}
	}
	return nil
}

// from returns the rate at which node sends on link i, in bit/s.
func (g *Graph) from(i, node int) int64 {
	if g.Links[i].A == node {
		return int64(g.Links[i].AtoB.Rate)
	}
	return int64(g.Links[i].BtoA.Rate)
}

func (g *Graph) validateWire(i int) error {
	l := &g.Links[i]
	for _, d := range []struct {
		from, to int
		s        Side
	}{{l.A, l.B, l.AtoB}, {l.B, l.A, l.BtoA}} {
		if d.s.Rate <= 0 {
			return fmt.Errorf("%s: the rate from %s to %s is %d bit/s: want more than 0, for example 100Gbps", g.LinkName(i), g.Nodes[d.from].Name, g.Nodes[d.to].Name, int64(d.s.Rate))
		}
		if d.s.Delay <= 0 {
			return fmt.Errorf("%s: the delay from %s to %s is %d ps: want more than 0, for example 500ns, or a cable such as 100m", g.LinkName(i), g.Nodes[d.from].Name, g.Nodes[d.to].Name, int64(d.s.Delay))
		}
	}
	if l.Cable < 0 {
		return fmt.Errorf("%s: the cable is %d mm long: want 0 (unknown) or more", g.LinkName(i), int64(l.Cable))
	}
	if math.IsNaN(l.Loss) || l.Loss < 0 || l.Loss > 1 {
		return fmt.Errorf("%s: loss %v: want a probability from 0 to 1", g.LinkName(i), l.Loss)
	}
	if math.IsNaN(l.DataLoss) || l.DataLoss < 0 || l.DataLoss > 1 {
		return fmt.Errorf("%s: data loss %v: want a probability from 0 to 1", g.LinkName(i), l.DataLoss)
	}
	if l.DropEvery < 0 {
		return fmt.Errorf("%s: every %dth data packet is lost: want 0 (none) or more", g.LinkName(i), l.DropEvery)
	}
	if l.LAG != "" {
		if err := checkName(l.LAG); err != nil {
			return fmt.Errorf("%s: lag: %w", g.LinkName(i), err)
		}
	}
	for _, name := range []string{l.AName, l.BName} {
		if err := checkPortName(name); err != nil {
			return fmt.Errorf("%s: %w", g.LinkName(i), err)
		}
	}
	return nil
}

// checkPortName accepts printable names without blanks, such as Ethernet1/1.
func checkPortName(name string) error {
	if len(name) > maxNameLength {
		return fmt.Errorf("the port name %q... has %d bytes: want at most %d", name[:32], len(name), maxNameLength)
	}
	for _, r := range name {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) || unicode.IsSpace(r) || r == '"' {
			return fmt.Errorf("the port name %q contains %q: want printable characters without blanks", name, r)
		}
	}
	return nil
}

// validateReach demands that one part of the fabric reaches every host. Hosts
// do not forward: two switches whose only connection is a host with a port on
// each (as the rails of a rail-only network) are in different parts.
func (g *Graph) validateReach() error {
	p := newParts(g)
	hosts, withHost := 0, map[int]bool{}
	count := map[int]int{} // part -> hosts that it reaches
	ports := g.Ports()
	for i, n := range g.Nodes {
		if n.Kind != Host {
			continue
		}
		hosts++
		mine := map[int]bool{}
		for _, q := range ports.Of(i) {
			part := p.find(q.Link, g, q.Peer)
			withHost[part] = true
			if !mine[part] {
				mine[part] = true
				count[part]++
			}
		}
	}
	for i, n := range g.Nodes {
		if n.Kind == Switch && !withHost[p.root(i)] {
			return fmt.Errorf("not connected: no host reaches switch %s", n.Name)
		}
	}
	best := -1
	for i := range g.Nodes { // parts in node order, so that the message is always the same
		for _, part := range []int{i, len(g.Nodes) + i} {
			if c, ok := count[part]; ok && (best < 0 || c > count[best]) {
				best = part
			}
		}
	}
	if best >= 0 && count[best] == hosts {
		return nil
	}
	return g.unreached(p, ports, best)
}

// unreached names two hosts that cannot talk.
func (g *Graph) unreached(p *parts, ports *Ports, best int) error {
	in, out := "", ""
	for i, n := range g.Nodes {
		if n.Kind != Host {
			continue
		}
		reached := false
		for _, q := range ports.Of(i) {
			reached = reached || p.find(q.Link, g, q.Peer) == best
		}
		if reached && in == "" {
			in = n.Name
		}
		if !reached && out == "" {
			out = n.Name
		}
	}
	return fmt.Errorf("not connected: no switches lead from host %s to host %s (hosts do not forward)", in, out)
}

// parts are the connected parts of the switches, as a disjoint-set forest. A
// link between two hosts is a part of its own.
type parts struct{ parent []int }

func newParts(g *Graph) *parts {
	p := &parts{parent: make([]int, len(g.Nodes))}
	for i := range p.parent {
		p.parent[i] = i
	}
	for _, l := range g.Links {
		if g.Nodes[l.A].Kind == Switch && g.Nodes[l.B].Kind == Switch {
			a, b := p.root(l.A), p.root(l.B)
			p.parent[max(a, b)] = min(a, b)
		}
	}
	return p
}

func (p *parts) root(i int) int {
	for p.parent[i] != i {
		p.parent[i] = p.parent[p.parent[i]]
		i = p.parent[i]
	}
	return i
}

// find returns the part that a host's link to peer leads to: for a link to
// another host a number beyond the nodes, the same from both ends.
func (p *parts) find(link int, g *Graph, peer int) int {
	if g.Nodes[peer].Kind == Switch {
		return p.root(peer)
	}
	l := &g.Links[link]
	return len(g.Nodes) + min(l.A, l.B)
}
