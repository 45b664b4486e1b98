package switchconf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rdmasim/sim"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Harm    Severity = "error"   // frames are lost, or traffic stops
	Warning Severity = "warning" // it works less well than it should
	Remark  Severity = "note"    // worth knowing; some do it on purpose
)

// Rule is one thing that lint looks for. Rules register themselves in Rules.
type Rule struct {
	Name     string // stable: scripts refer to it
	Severity Severity
	Doc      string // what is found, in one sentence
	Why      string // why it hurts
	Set      string // what to set instead
	Scenario string // that shows the harm: of the library, or a file of docs/lint
	Source   string // where the rule comes from
	// Check looks at a switch. Nil: the rule is about more than a switch, and
	// whoever has the rest checks it.
	Check func(l *Linter)
}

// Rules are the rules by name.
var Rules = sim.NewCatalogue[*Rule]("lint rule")

// AddRule registers a rule and returns true.
func AddRule(r Rule) bool {
	return sim.Register(Rules, r.Name, r.Doc, struct{}{}, nil, func(struct{}) (*Rule, error) { return &r, nil })
}

// LookupRule returns the rule of a name.
func LookupRule(name string) (*Rule, error) {
	e, err := Rules.Lookup(name)
	if err != nil {
		return nil, err
	}
	return e.Build(struct{}{})
}

// AllRules returns the rules in order of their names.
func AllRules() []*Rule {
	var list []*Rule
	for _, n := range Rules.Names() {
		if r, err := LookupRule(n); err == nil {
			list = append(list, r)
		}
	}
	return list
}

// Sender is a kind of NIC that sends through the switch.
type Sender struct {
	Name        string // "" for all
	Priority    int    // 802.1p priority of data
	DSCP        int
	CNPPriority int
	CNPDSCP     int
	ECT         bool         // data can be marked
	NeedsMarks  bool         // its congestion control reacts to marks
	Timeout     sim.Duration // before data is sent again; 0: never
	Frame       sim.Bytes    // of a full packet
	// Where tells where a value of the NIC comes from, by name: priority, dscp,
	// cnp_dscp, timeout, congestion.
	Where map[string]Origin
}

// VendorSender is a NIC as vendors' guides configure it for RoCEv2: DSCP 26 and
// priority 3 for data, 48 and 6 for CNPs (NVIDIA, Broadcom and Cisco guides).
// It stands in where the senders are not known.
func VendorSender() Sender {
	return Sender{Priority: 3, DSCP: 26, CNPPriority: 6, CNPDSCP: 48, ECT: true, NeedsMarks: true, Frame: 1024 + 58}
}

// LintContext is what a switch's configuration does not say.
type LintContext struct {
	Senders []Sender     // empty: VendorSender
	RTT     sim.Duration // longest round trip through the idle fabric; 0: not known
	Message sim.Bytes    // smallest message of the traffic; 0: not known
	// Needed returns the least headroom that a port can do with, and how it is
	// found; nil: that of full frames on an ideal switch.
	Needed func(p *Port) (sim.Bytes, string)
	Files  bool // the configuration is that of a real switch, as its files say
}

// Finding is one place where a rule applies.
type Finding struct {
	Rule     *Rule
	Severity Severity // that of the rule, or less
	Switch   string   // "" when there is one configuration for all
	Ports    []string // none: the switch as a whole
	From     Origin
	Text     string // what is there
	Set      string // what to set instead
}

// String returns place: severity: text [rule], in one line.
func (f *Finding) String() string {
	return fmt.Sprintf("%s: %s: %s [%s]", f.From, f.Severity, f.Text, f.Rule.Name)
}

// Linter looks at one switch.
type Linter struct {
	Switch  *Switch
	Context LintContext
	ports   []*Port // that are configured
	assumed bool    // the senders are
	rule    *Rule
	found   []Finding
	at      map[string]int
}

// Lint applies all rules to a switch. Findings are in the order of their
// severity, then of their rules.
func Lint(s *Switch, c LintContext) []Finding {
	l := &Linter{Switch: s, Context: c, ports: s.Configured(), at: map[string]int{}}
	if len(c.Senders) == 0 {
		l.Context.Senders, l.assumed = []Sender{VendorSender()}, true
	}
	for _, r := range AllRules() {
		if r.Check != nil {
			l.rule = r
			r.Check(l)
		}
	}
	SortFindings(l.found)
	return l.found
}

// SortFindings puts the worst first, and then goes by rule.
func SortFindings(list []Finding) {
	rank := map[Severity]int{Harm: 0, Warning: 1, Remark: 2}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(rank[a.Severity]-rank[b.Severity], strings.Compare(a.Rule.Name, b.Rule.Name))
	})
}

// add reports a finding. The same text at the same place is one finding for
// several ports. port "" is the switch as a whole, set "" what the rule says.
func (l *Linter) add(port string, from Origin, set, format string, args ...any) {
	l.addAs(l.rule.Severity, port, from, set, format, args...)
}

// placeApart tells places apart, but not those of the same field of two ports.
func placeApart(o Origin, port string) string {
	parts := strings.Split(o.Path, "/")
	if len(parts) > 2 && port != "" && strings.Contains(parts[2], port) {
		return parts[1] + "/" + strings.Join(parts[3:], "/")
	}
	return fmt.Sprint(o.File, o.Line, o.Path)
}

// addAs is add with another severity.
func (l *Linter) addAs(s Severity, port string, from Origin, set, format string, args ...any) {
	f := Finding{Rule: l.rule, Severity: s, From: from, Text: fmt.Sprintf(format, args...), Set: cmp.Or(set, l.rule.Set)}
	id := l.rule.Name + "\x00" + f.Text + "\x00" + placeApart(from, port)
	i, ok := l.at[id]
	if !ok {
		i = len(l.found)
		l.at[id] = i
		l.found = append(l.found, f)
	}
	if port != "" && !slices.Contains(l.found[i].Ports, port) {
		l.found[i].Ports = append(l.found[i].Ports, port)
	}
}
