package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"rdmasim/congestion"
	"rdmasim/fabric/switchconf"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
	"rdmasim/verbs/simnic"
)

// Lint returns what is suspicious about a valid scenario, the worst first.
func Lint(s *Spec) []switchconf.Finding {
	g, err := s.graph()
	if err != nil {
		return nil // whoever builds it says so
	}
	n := len(g.Nodes)
	w := &world{spec: s, graph: g, ports: g.Ports(), swSpec: make([]*SwitchSpec, n), nicSpec: make([]*NICSpec, n), sizes: make([]simnic.FrameSizes, n), hostOf: make([]int, n)}
	for i := range g.Nodes {
		if w.resolve(i) != nil {
			return nil
		}
	}
	l := &linter{w: w, spec: s, at: map[string]int{}}
	l.context = switchconf.LintContext{Senders: l.senders(), RTT: w.longestRTT(), Message: s.smallestMessage()}
	l.switches()
	l.scenarioRules()
	switchconf.SortFindings(l.found)
	return l.found
}

type linter struct {
	w       *world
	spec    *Spec
	context switchconf.LintContext
	found   []switchconf.Finding
	at      map[string]int
}

// add adds a finding; the same at the same place is one for several switches.
func (l *linter) add(f switchconf.Finding) {
	id := f.Rule.Name + "\x00" + f.Text + "\x00" + f.From.String()
	i, ok := l.at[id]
	if !ok {
		l.at[id] = len(l.found)
		l.found = append(l.found, f)
		return
	}
	if o := &l.found[i]; o.Switch != f.Switch && !strings.HasSuffix(o.Switch, " ...") {
		o.Switch += " ..."
		o.Ports = nil
	}
}

// origin tells where the value of a path comes from.
func (s *Spec) origin(path string) switchconf.Origin {
	p, given := s.source.find(path)
	o := switchconf.Origin{Kind: switchconf.Defaulted, File: p.File, Line: p.Line, Column: p.Column, Path: path, Why: "default of a scenario"}
	if given {
		o.Kind, o.Why = switchconf.Given, ""
	}
	return o
}

// given returns the origin of the first of the paths that the scenario names,
// or of the first of all.
func (s *Spec) given(paths ...string) switchconf.Origin {
	for _, p := range paths {
		if o := s.origin(p); o.Kind == switchconf.Given {
			return o
		}
	}
	return s.origin(paths[0])
}

// nics calls f for each kind of NIC that a host has.
func (l *linter) nics(f func(n *NICSpec, path string)) {
	seen := map[*NICSpec]bool{}
	for _, n := range l.w.nicSpec {
		if n == nil || seen[n] {
			continue
		}
		seen[n] = true
		path := "nic"
		for k := range l.spec.NICs {
			if n == &l.spec.NICs[k].NIC {
				path = "nics." + strconv.Itoa(k)
			}
		}
		f(n, path)
	}
}

// senders describes the NICs to the rules.
func (l *linter) senders() (list []switchconf.Sender) {
	l.nics(func(n *NICSpec, path string) {
		x := switchconf.Sender{Priority: n.Priority, DSCP: n.DSCP, CNPPriority: n.CNPPriority, CNPDSCP: n.CNPDSCP, Frame: l.w.maxFrame, Where: map[string]switchconf.Origin{}}
		x.ECT, x.NeedsMarks = feedbackOf(n.Congestion)
		if n.Timeout > 0 {
			x.Timeout = timeoutUnit << n.Timeout
		}
		if n.CNPDSCP == n.DSCP {
			x.CNPDSCP, x.CNPPriority = n.DSCP, n.Priority
		}
		for key, at := range map[string]string{"priority": "priority", "dscp": "dscp", "cnp_dscp": "cnp_dscp", "timeout": "timeout", "congestion": "congestion"} {
			x.Where[key] = l.spec.origin(path + "." + at)
		}
		list = append(list, x)
	})
	return list
}

// timeoutUnit is 4.096 us, InfiniBand Architecture, 9.7.6.1.3.
const timeoutUnit = 4096 * sim.Nanosecond

// feedbackOf reports whether an algorithm's data can be marked, and whether it
// reacts to marks.
func feedbackOf(m Member) (ect, needs bool) {
	e, err := congestion.Algorithms.Lookup(m.Name)
	if err != nil {
		return false, false
	}
	a, err := e.Build(m.Params)
	if err != nil {
		return false, false
	}
	f, _ := a.Feedback()
	return a.ECT(), f != congestion.NoFeedback && f != congestion.RoundTrips && a.ECT()
}

// smallestMessage returns the smallest message that a workload names, 0 when
// none does.
func (s *Spec) smallestMessage() (least sim.Bytes) {
	for _, t := range s.Traffic {
		v := reflect.ValueOf(t.Params)
		if v.Kind() != reflect.Struct {
			continue
		}
		for _, f := range fieldsOf(v.Type()) {
			if n, ok := v.FieldByIndex(f.index).Interface().(sim.Bytes); ok && f.key == "message" && n > 0 && (least == 0 || n < least) {
				least = n
			}
		}
	}
	return least
}

// longestRTT returns about the longest time that a full frame and its answer
// take through the idle fabric: of the first host to the host farthest from it.
func (w *world) longestRTT() sim.Duration {
	if len(w.hosts) < 2 {
		return 0
	}
	const never = sim.Duration(1) << 62
	far := make([]sim.Duration, len(w.graph.Nodes))
	for i := range far {
		far[i] = never
	}
	start := w.hosts[0]
	far[start] = 0
	queue := []int{start}
	var longest sim.Duration
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if w.graph.Nodes[i].Kind == topology.Host && i != start {
			longest = max(longest, far[i])
			continue
		}
		for _, q := range w.ports.Of(i) {
			if far[q.Peer] < never {
				continue
			}
			out, in := q.Out(w.graph), q.In(w.graph)
			const answer = 84 * sim.Byte // an ACK on the wire
			far[q.Peer] = far[i] + w.delay(q.Peer, out) + out.Rate.TxTime(w.maxFrame) + w.delay(i, in) + in.Rate.TxTime(answer)
			queue = append(queue, q.Peer)
		}
	}
	return longest
}

// switches lints each configuration of a switch once.
func (l *linter) switches() {
	seen := map[string]bool{}
	for i := range l.w.graph.Nodes {
		sp := l.w.swSpec[i]
		if sp == nil {
			continue
		}
		id := l.signature(i)
		if seen[id] {
			continue
		}
		seen[id] = true
		b := newConfigBuilder(l.w, i)
		sw := b.build()
		c := l.context
		c.Needed = b.needed
		for _, f := range switchconf.Lint(sw, c) {
			f.Switch = l.w.graph.Nodes[i].Name
			l.add(f)
		}
	}
	for _, sp := range l.sonicSwitches() {
		l.sonic(sp)
	}
}

// signature is the same for switches that lint cannot tell apart.
func (l *linter) signature(node int) string {
	sp := l.w.swSpec[node]
	rules := len(sp.Buffer.Groups)+len(sp.Buffer.Queues)+len(sp.WRED)+len(sp.Maps)+len(sp.PFC.Ports)+len(sp.Schedulers)+len(sp.Watchdogs) > 0
	var b strings.Builder
	fmt.Fprintf(&b, "%p", sp)
	for _, q := range l.w.ports.Of(node) {
		out := q.Out(l.w.graph)
		fmt.Fprintf(&b, ";%d,%d", out.Rate, out.Delay)
		if rules {
			b.WriteString("," + l.w.graph.Nodes[q.Peer].Name)
		}
	}
	return b.String()
}

// sonicSwitches returns the configurations that were read from files.
func (l *linter) sonicSwitches() (list []*SwitchSpec) {
	for i := range l.w.graph.Nodes {
		if sp := l.w.swSpec[i]; sp != nil && sp.Sonic.read != nil && !slices.Contains(list, sp) {
			list = append(list, sp)
		}
	}
	return list
}

// sonic lints the files that a switch is made from: they tell places that the
// scenario does not.
func (l *linter) sonic(sp *SwitchSpec) {
	c := l.context
	c.Files = true
	found := switchconf.Lint(sp.Sonic.read.Switch, c)
	l.found = slices.DeleteFunc(l.found, func(f switchconf.Finding) bool {
		return strings.Contains(f.From.Path, "switch") && f.From.Kind != switchconf.Given &&
			slices.ContainsFunc(found, func(o switchconf.Finding) bool { return o.Rule == f.Rule })
	})
	l.found = append(l.found, found...)
}

// FindingText is a finding as one line.
func FindingText(f *switchconf.Finding) string {
	where := f.From.String()
	if f.From.File == "" && f.From.Path == "" {
		where = "switch"
	}
	return fmt.Sprintf("%s: %s [%s]", where, f.Text, f.Rule.Name)
}
