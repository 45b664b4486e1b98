package hpcc

import (
	"fmt"

	"rdmasim/sim"
)

// Bounds on what a file may ask for.
const (
	maxNodes = 1 << 16 // addresses have 16 bits for the node
	maxLinks = 1 << 20
	minRate  = sim.Mbps // no RDMA NIC is slower
)

// Topology is a topology.txt.
type Topology struct {
	Nodes    int
	Switches []int // in the order of the file
	Links    []Link

	isSwitch []bool
	notes    []Note
}

// Link joins two nodes. Ports of a node are numbered in the order in which its
// links appear; parallel links are allowed (in the HPCC model they collapse).
type Link struct {
	A, B  int
	Rate  sim.Rate
	Delay sim.Duration // whole nanoseconds
	Loss  float64      // probability per packet, each direction
	Line  int
}

// IsSwitch says whether a node is a switch; the others are hosts.
func (t *Topology) IsSwitch(node int) bool { return node >= 0 && node < t.Nodes && t.isSwitch[node] }

// Hosts returns the hosts in order.
func (t *Topology) Hosts() []int {
	var out []int
	for i := range t.Nodes {
		if !t.isSwitch[i] {
			out = append(out, i)
		}
	}
	return out
}

// Name returns h<id> for a host and s<id> for a switch.
func (t *Topology) Name(node int) string {
	if t.IsSwitch(node) {
		return fmt.Sprintf("s%d", node)
	}
	return fmt.Sprintf("h%d", node)
}

// ParseTopology reads a topology.txt: a line of `nodes switches links`, the ids
// of the switches, and `a b rate delay loss` per link. A first line of four
// numbers is `nodes switches tors links`, as later models write it. What
// follows the links and is no link is a remark and only noted; a link beyond
// the count, or too few, means that the count lies and is an error. Errors name
// file and line.
func ParseTopology(file string, text []byte) (*Topology, []Note, error) {
	all := lines(text)
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("%s: empty: want nodes, switches and links in the first line", file)
	}
	r := &reader{file: file}
	for _, l := range all {
		r.words = append(r.words, l...)
	}
	t := &Topology{}
	links, err := t.header(r, all)
	if err != nil {
		return nil, nil, err
	}
	for i := range links {
		l, err := t.link(r, i, links)
		if err != nil {
			return nil, nil, err
		}
		t.Links = append(t.Links, l)
	}
	if err := t.rest(r, links); err != nil {
		return nil, nil, err
	}
	return t, t.notes, nil
}

// header reads the counts and the ids of the switches and returns the number of links.
func (t *Topology) header(r *reader, all [][]token) (int, error) {
	nodes, err := r.count("number of nodes", 1, maxNodes)
	if err != nil {
		return 0, err
	}
	switches, err := r.count("number of switches", 0, nodes)
	if err != nil {
		return 0, err
	}
	links, err := r.count("number of links", 0, maxLinks)
	if err != nil {
		return 0, err
	}
	if len(all[0]) == 4 {
		tors := links
		if links, err = r.count("number of links", 0, maxLinks); err != nil {
			return 0, err
		}
		t.notes = append(t.notes, Note{File: r.file, Line: 1, Status: Honoured,
			Reason: fmt.Sprintf("the first line has four numbers: read as nodes, switches, ToR switches (%d, not needed) and links", tors)})
	}
	t.Nodes, t.isSwitch = int(nodes), make([]bool, nodes)
	for i := range switches {
		what := fmt.Sprintf("switch %d of %d", i+1, switches)
		id, err := r.count(what, 0, nodes-1)
		if err != nil {
			return 0, err
		}
		if t.isSwitch[id] {
			return 0, r.errorf(r.line, "%s: %d is named twice", what, id)
		}
		t.isSwitch[id] = true
		t.Switches = append(t.Switches, int(id))
	}
	return int(links), nil
}

// link reads the i-th of n links.
func (t *Topology) link(r *reader, i, n int) (l Link, err error) {
	what := fmt.Sprintf("link %d of %d", i+1, n)
	var f [5]string
	for k := range f {
		w, err := r.take(what)
		if err != nil {
			return l, err
		}
		f[k] = w.text
		if k == 0 {
			l.Line = w.line
		}
		if w.line != l.Line {
			return l, r.errorf(l.Line, "%s: want five values in a line: node, node, rate, delay, loss", what)
		}
	}
	fail := func(err error) (Link, error) { return l, r.errorf(l.Line, "%s: %v", what, err) }
	if l.A, err = t.node(f[0]); err != nil {
		return fail(err)
	}
	if l.B, err = t.node(f[1]); err != nil {
		return fail(err)
	}
	if l.A == l.B {
		return fail(fmt.Errorf("node %d is joined to itself", l.A))
	}
	if l.Rate, err = parseRate(f[2]); err != nil {
		return fail(err)
	}
	if l.Rate < minRate {
		return fail(fmt.Errorf("rate %v (%q): want %v or more", l.Rate, f[2], minRate))
	}
	if l.Delay, err = parseDelay(f[3]); err != nil {
		return fail(err)
	}
	if l.Loss, err = parseFloat(f[4], 0, 1); err != nil {
		return fail(fmt.Errorf("loss: %w", err))
	}
	return l, nil
}

// node reads the id of a node.
func (t *Topology) node(s string) (int, error) {
	id, err := parseInt(s, 0, int64(t.Nodes)-1)
	if err != nil {
		return 0, fmt.Errorf("node %w", err)
	}
	return int(id), nil
}

// rest looks at what follows the last link.
func (t *Topology) rest(r *reader, links int) error {
	if r.next >= len(r.words) {
		return nil
	}
	first := r.words[r.next]
	for i := r.next; i < len(r.words); {
		end := i
		for end < len(r.words) && r.words[end].line == r.words[i].line {
			end++
		}
		if t.isLink(r.words[i:end]) {
			return r.errorf(r.words[i].line, "the first line says %d links, and this is one more", links)
		}
		i = end
	}
	t.notes = append(t.notes, Note{File: r.file, Line: first.line, Status: Dead, Reason: fmt.Sprintf("what follows the %d links is no link and not read", links)})
	return nil
}

// isLink says whether a line has the form of a link.
func (t *Topology) isLink(words []token) bool {
	if len(words) < 4 {
		return false
	}
	_, err1 := t.node(words[0].text)
	_, err2 := t.node(words[1].text)
	_, err3 := parseRate(words[2].text)
	return err1 == nil && err2 == nil && err3 == nil
}
