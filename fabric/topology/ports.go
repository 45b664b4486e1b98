package topology

import (
	"strconv"
)

// Port is one end of a link, seen from its node.
type Port struct {
	Link     int // index in Graph.Links
	Peer     int // node at the other end
	PeerPort int
	IsA      bool // this end is side A of the link
}

// Ports is the table of all ports of a graph by node and port number.
type Ports struct {
	start []int
	list  []Port
}

// Ports returns the table of ports.
func (g *Graph) Ports() *Ports {
	t := &Ports{start: make([]int, len(g.Nodes)+1), list: make([]Port, 2*len(g.Links))}
	for _, l := range g.Links {
		t.start[l.A+1]++
		t.start[l.B+1]++
	}
	for i := range g.Nodes {
		t.start[i+1] += t.start[i]
	}
	for i, l := range g.Links {
		t.list[t.start[l.A]+l.APort] = Port{Link: i, Peer: l.B, PeerPort: l.BPort, IsA: true}
		t.list[t.start[l.B]+l.BPort] = Port{Link: i, Peer: l.A, PeerPort: l.APort}
	}
	return t
}

// Of returns the ports of a node in order.
func (t *Ports) Of(node int) []Port { return t.list[t.start[node]:t.start[node+1]:t.start[node+1]] }

// Out returns what the port can send: rate and delay of its direction.
func (p Port) Out(g *Graph) Side {
	if p.IsA {
		return g.Links[p.Link].AtoB
	}
	return g.Links[p.Link].BtoA
}

// In returns what the port can receive.
func (p Port) In(g *Graph) Side {
	p.IsA = !p.IsA
	return p.Out(g)
}

// Name returns the name of the port where it is known, else "".
func (p Port) Name(g *Graph) string {
	if p.IsA {
		return g.Links[p.Link].AName
	}
	return g.Links[p.Link].BName
}

// LinkName names link i for messages: "link 3 (h0 - leaf1)".
func (g *Graph) LinkName(i int) string {
	l := g.Links[i]
	return "link " + strconv.Itoa(i) + " (" + g.Nodes[l.A].Name + " - " + g.Nodes[l.B].Name + ")"
}

// Find returns the index of a node by its name.
func (g *Graph) Find(name string) (int, bool) {
	for i, n := range g.Nodes {
		if n.Name == name {
			return i, true
		}
	}
	return -1, false
}
