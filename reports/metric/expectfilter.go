package metric

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// filter says which rows of a table a function is about.
type filter struct {
	text         map[string]string // patterns by key
	prio         int               // -1 = any
	from, to     sim.Time          // to = sim.Never: the end of the run
	above, below *float64
	least, most  *float64 // sizes of messages, in bytes
}

// Keys of filters, by what rows have them.
var (
	whereKeys = []string{"object", "port", "link", "host", "switch", "priority"}
	timeKeys  = []string{"from", "to"}
	levelKeys = []string{"above", "below"}
	sizeKeys  = []string{"min_bytes", "max_bytes"}
)

// keys returns the keys of a source.
func (s source) keys() []string {
	switch s.table {
	case tableSeries:
		return slices.Concat(whereKeys, []string{"qp"}, timeKeys, levelKeys)
	case tableEvents:
		return slices.Concat([]string{"kind", "cause", "peer"}, whereKeys, timeKeys)
	case tableFlows:
		return slices.Concat([]string{"src", "dst", "tag", "workload", "verb", "status", "qp"}, timeKeys, sizeKeys)
	}
	return whereKeys
}

// set reads one key and its value.
func (f *filter) set(key, value string, s source) error {
	switch key {
	case "priority":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > 7 {
			return fmt.Errorf("%q is no priority: want 0..7", value)
		}
		f.prio = n
	case "from", "to":
		d, err := sim.ParseDuration(value)
		if err != nil {
			return fmt.Errorf("%q is not a time: write 12ms", value)
		}
		if key == "from" {
			f.from = sim.Time(d)
		} else {
			f.to = sim.Time(d)
		}
		if f.to <= f.from {
			return fmt.Errorf("%s: the time is empty: from must be before to", value)
		}
	case "above", "below":
		p := &parser{text: value}
		n, err := p.value()
		if err != nil || p.pos != len(value) || !sameUnit(n.unit(), s.unit) {
			return fmt.Errorf("%q is not %s, which %s is", value, unitWord(s.unit), s.name)
		}
		v, _ := n.eval(nil)
		if key == "above" {
			f.above = &v
		} else {
			f.below = &v
		}
	case "min_bytes", "max_bytes":
		return f.setSize(key, value)
	default:
		if _, err := path.Match(value, ""); err != nil || value == "" {
			return fmt.Errorf("%q is no pattern: want a name, with * and ? where it may vary", value)
		}
		if key == "kind" {
			if near := nearKind(value); near != "" {
				return fmt.Errorf("%q is no kind of events: did you mean %s?", value, near)
			}
		}
		f.text[key] = value
	}
	return nil
}

// eventKinds are those that models of this program write.
var eventKinds = []trace.EventKind{trace.EventPauseOn, trace.EventPauseOff, trace.EventXoff, trace.EventXon, trace.EventDrop, trace.EventMark,
	trace.EventNAK, trace.EventRNR, trace.EventTimeout, trace.EventCNP, trace.EventQPState, trace.EventFault, trace.EventWatchdog,
	trace.EventDeadlock, trace.EventLinkState}

// nearKind returns the kind that was probably meant, "" where value is one or
// like none.
func nearKind(value string) (near string) {
	best := 1 + len(value)/4
	for _, k := range eventKinds {
		switch d := sim.EditDistance(value, string(k)); {
		case match(value, string(k)):
			return ""
		case d <= best:
			best, near = d-1, string(k)
		}
	}
	return near
}

func match(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// is reports whether a value fits the pattern of a key, which may be absent.
func (f *filter) is(key, value string) bool {
	p, ok := f.text[key]
	return !ok || match(p, value)
}

func (f *filter) during(t sim.Time) bool { return t >= f.from && t < f.to }

// place is what a run knows of the object of a row.
type place struct{ node, port, kind, peer string }

// places looks objects up.
type places struct {
	kind map[string]string // of nodes
	peer map[string]string // of ports
}

func (m *Metrics) places() places {
	p := places{kind: map[string]string{}, peer: map[string]string{}}
	t := &m.run.Topology
	for _, n := range t.Nodes {
		p.kind[n.Name] = n.Kind
	}
	for _, l := range t.Links {
		a, b := t.Nodes[l.A].Name+":"+strconv.Itoa(l.APort), t.Nodes[l.B].Name+":"+strconv.Itoa(l.BPort)
		p.peer[a], p.peer[b] = b, a
	}
	return p
}

func (p places) of(object string) place {
	port, _, _ := strings.Cut(object, "/")
	node, _, ported := strings.Cut(port, ":")
	at := place{node: node, kind: p.kind[node]}
	if ported {
		at.port = port
		at.peer, _, _ = strings.Cut(p.peer[port], ":")
	}
	return at
}

// at reports whether an object of a priority (-1 = read it from the object) is
// where the filter says.
func (f *filter) at(p places, object string, prio int) bool {
	if _, tail, ok := strings.Cut(object, "/"); ok && prio < 0 {
		if n, err := strconv.Atoi(strings.TrimLeft(tail, "pqg")); err == nil && !strings.HasPrefix(tail, "qp") {
			prio = n
		}
	}
	if !f.is("object", object) || f.prio >= 0 && prio != f.prio {
		return false
	}
	w := p.of(object)
	if want, ok := f.text["link"]; ok && !linkMatches(want, w.node, w.peer) {
		return false
	}
	if want, ok := f.text["qp"]; ok && !match(want, object) {
		return false
	}
	return f.is("port", w.port) &&
		(f.text["host"] == "" || w.kind == "host" && f.is("host", w.node)) &&
		(f.text["switch"] == "" || w.kind == "switch" && f.is("switch", w.node))
}

// linkMatches reports whether what own sends to peer belongs to a link pattern:
// A-B both ways, A>B one.
func linkMatches(pattern, own, peer string) bool {
	if peer == "" {
		return false
	}
	if a, b, ok := strings.Cut(pattern, ">"); ok {
		return match(a, own) && match(b, peer)
	}
	for i := range len(pattern) {
		if pattern[i] != '-' {
			continue
		}
		a, b := pattern[:i], pattern[i+1:]
		if match(a, own) && match(b, peer) || match(b, own) && match(a, peer) {
			return true
		}
	}
	return false
}

// unknown names a key whose pattern fits nothing in the fabric, so that an
// expectation about it could never fail.
func (f *filter) unknown(p places, t *trace.TopologyFile) string {
	for _, key := range []string{"host", "switch", "src", "dst", "port", "link", "object", "qp"} {
		want, ok := f.text[key]
		if !ok {
			continue
		}
		if !fits(key, want, p, t) {
			return fmt.Sprintf("%s=%s: there is none in this fabric", key, want)
		}
	}
	return ""
}

func fits(key, want string, p places, t *trace.TopologyFile) bool {
	for _, n := range t.Nodes {
		switch key {
		case "host", "src", "dst":
			if n.Kind == "host" && match(want, n.Name) {
				return true
			}
		case "switch":
			if n.Kind == "switch" && match(want, n.Name) {
				return true
			}
		case "object", "qp":
			node, _, _ := strings.Cut(want, "/")
			node, _, _ = strings.Cut(node, ":")
			if match(node, n.Name) || node == "fault" || key == "qp" && !strings.Contains(want, "/") {
				return true
			}
		}
	}
	for port, peer := range p.peer {
		node, _, _ := strings.Cut(port, ":")
		other, _, _ := strings.Cut(peer, ":")
		if key == "port" && match(want, port) || key == "link" && linkMatches(want, node, other) {
			return true
		}
	}
	return false
}
