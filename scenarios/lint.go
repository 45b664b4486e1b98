package scenarios

import (
	"fmt"
	"slices"
	"strconv"

	"rdmasim/congestion"
	"rdmasim/sim"
)

// Note is something that a scenario may say, but that is seldom meant.
type Note struct {
	Pos  Position
	Path string
	Text string
}

// String returns file:line:column: path: text.
func (n Note) String() string {
	return (&Error{Pos: n.Pos, Path: n.Path, Problem: n.Text}).Error()
}

// Lint returns what is suspicious about a valid scenario.
func Lint(s *Spec) []Note {
	l := linter{spec: s}
	l.pair(&s.Switch, "switch", &s.NIC, "nic")
	for i := range s.Switches {
		l.pair(&s.Switches[i].Switch, "switches."+strconv.Itoa(i), &s.NIC, "nic")
	}
	for i := range s.NICs {
		l.pair(&s.Switch, "switch", &s.NICs[i].NIC, "nics."+strconv.Itoa(i))
	}
	return l.notes
}

type linter struct {
	spec  *Spec
	notes []Note
}

// note adds a note unless the same was said already.
func (l *linter) note(path, format string, args ...any) {
	n := Note{Pos: l.spec.Position(path), Path: path, Text: fmt.Sprintf(format, args...)}
	if !slices.ContainsFunc(l.notes, func(o Note) bool { return o.Text == n.Text && o.Pos == n.Pos }) {
		l.notes = append(l.notes, n)
	}
}

// pair looks at a switch and at a NIC that sends through it.
func (l *linter) pair(w *SwitchSpec, sw string, n *NICSpec, nic string) {
	class := n.Priority
	if w.Trust == "dscp" {
		class = w.DSCPMap[n.DSCP]
		if class != n.Priority {
			l.note(l.given(nic+".dscp", nic+".priority", sw+".dscp_map"), "data of DSCP %d goes to priority %d in switches (%s.dscp_map), not to that of the NIC, %d", n.DSCP, class, sw, n.Priority)
		}
		if cnp := w.DSCPMap[n.CNPDSCP]; cnp == class && n.CNPDSCP != n.DSCP {
			l.note(l.given(nic+".cnp_dscp", sw+".dscp_map"), "CNPs of DSCP %d wait in the queue of the data, priority %d", n.CNPDSCP, cnp)
		}
	} else if n.Encapsulation != "vlan" {
		l.note(sw+".trust", "switches look at the priority of the VLAN tag, and frames of encapsulation %s have none", n.Encapsulation)
	}
	if w.Balance.Method == "spray" {
		l.note(l.given(sw+".balance.method"), "packets of a queue pair overtake each other, and with recovery %s whatever arrives out of order is sent again", n.Recovery)
	}
	if w.VTEP && n.Encapsulation == "vxlan" {
		l.note(l.given(nic+".encapsulation", sw+".vtep"), "frames leave the hosts in VXLAN (%s.encapsulation) and switches put them into another (%s.vtep): one of the two is enough", nic, sw)
	}
	if len(w.PFC.Priorities) > 0 && !slices.Contains(w.PFC.Priorities, class) {
		l.note(sw+".pfc.priorities", "data is in priority %d, which is not lossless", class)
	}
	l.marking(w, sw, n, nic, class)
}

// given returns the first of the paths that the scenario names, or the first of all.
func (l *linter) given(paths ...string) string {
	for _, p := range paths {
		if _, ok := l.spec.source.find(p); ok {
			return p
		}
	}
	return paths[0]
}

// marking compares what the algorithm needs with what switches do.
func (l *linter) marking(w *SwitchSpec, sw string, n *NICSpec, nic string, class int) {
	curves := []map[int]ECNSpec{w.ECN}
	for _, r := range w.ECNByRate {
		curves = append(curves, r.ECN)
	}
	marks := slices.ContainsFunc(curves, func(m map[int]ECNSpec) bool { _, ok := m[class]; return ok })
	if listensToMarks(n.Congestion) && !marks {
		l.note(sw+".ecn", "%s needs marks, and switches mark nothing in priority %d", n.Congestion.Name, class)
	}
	if !slices.Contains(w.PFC.Priorities, class) {
		return
	}
	// One ingress port alone is paused at alpha B / (1 + alpha) of the buffer
	// B (Choudhury and Hahne, 1998): marking must begin well below.
	xoff := sim.Bytes(float64(w.Buffer.Alpha) / (1 + float64(w.Buffer.Alpha)) * float64(w.Buffer.Size))
	for _, m := range curves {
		if e, ok := m[class]; ok && e.Kmin >= xoff {
			l.note(sw+".ecn."+strconv.Itoa(class)+".kmin", "PFC pauses a port at %v or less, before marking begins at %v", xoff, e.Kmin)
		}
	}
}

// listensToMarks reports whether an algorithm reacts to ECN marks.
func listensToMarks(m Member) bool {
	e, err := congestion.Algorithms.Lookup(m.Name)
	if err != nil {
		return false
	}
	a, err := e.Build(m.Params)
	if err != nil {
		return false
	}
	f, _ := a.Feedback()
	return f != congestion.NoFeedback && a.ECT()
}
