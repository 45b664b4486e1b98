package metric

import (
	"fmt"
	"math"
	"strings"

	"rdmasim/sim"
)

// Expectation is a condition on what a run has measured:
//
//	packets.dropped.lossless == 0
//	goodput_bps.total > 85Gbps
//	max(queue_bytes, switch=leaf*) < 2MB
//	first(events, kind=watchdog) within 200ms..400ms
//
// Both sides are sums and products of figures of metrics.json, of functions of
// series, events, messages and counters, and of values, which have the units of
// scenarios or are plain numbers in SI units. Both ends of a range belong to it.
type Expectation struct {
	Text  string
	left  node
	op    string
	right node
	top   node // the other end of a range, else nil
}

// Verdict is an expectation that was checked: an element of metrics.json's expect.
type Verdict struct {
	Text  string   `json:"text"`
	OK    bool     `json:"ok"`
	Value *float64 `json:"value"`         // of the left side, in SI units; null = not measured
	Why   string   `json:"why,omitempty"` // it failed, in words
}

// ExpectError is what is wrong with an expectation, and where in its text.
type ExpectError struct {
	Text    string
	Offset  int // bytes of Text before the place
	Problem string
}

func (e *ExpectError) Error() string { return fmt.Sprintf("expectation %q: %s", e.Text, e.Problem) }

// operators in the order in which they are looked for.
var operators = []string{"==", "!=", "<=", ">=", "<", ">"}

// within is the operator of ranges.
const within = "within"

// ParseExpectation reads an expectation. The error is an *ExpectError and names
// what would be valid.
func ParseExpectation(text string) (Expectation, error) {
	e := Expectation{Text: strings.TrimSpace(text)}
	p := &parser{text: e.Text}
	if err := p.expectation(&e); err != nil {
		return Expectation{}, err
	}
	return e, nil
}

// Check evaluates the expectation on the run that the figures are of. What was
// not measured fulfils none.
func (e Expectation) Check(m *Metrics) Verdict {
	r := Verdict{Text: e.Text}
	v, why := e.left.eval(m)
	if why != "" {
		r.Why = why
		return r
	}
	r.Value = &v
	low, why := e.right.eval(m)
	top := low
	if why == "" && e.top != nil {
		top, why = e.top.eval(m)
	}
	if why != "" {
		r.Why = why
		return r
	}
	if r.OK = holds(e.op, v, low, top); !r.OK {
		r.Why = fmt.Sprintf("%s is %s", e.left.text(), Format(v, e.left.unit()))
		for _, n := range []node{e.right, e.top} {
			if n == nil || isValue(n) {
				continue
			}
			if w, why := n.eval(m); why == "" {
				r.Why += fmt.Sprintf(", %s is %s", n.text(), Format(w, n.unit()))
			}
		}
	}
	return r
}

func holds(op string, v, low, top float64) bool {
	switch op {
	case "==":
		return v == low
	case "!=":
		return v != low
	case "<":
		return v < low
	case "<=":
		return v <= low
	case ">":
		return v > low
	case ">=":
		return v >= low
	}
	return low <= v && v <= top
}

// Check parses and evaluates expectations into m.Expect, and adds one for every
// fault of the run; ok is true if all hold.
func (m *Metrics) Check(texts []string) (ok bool, err error) {
	list, ok := []Verdict{}, true
	for _, text := range texts {
		e, err := ParseExpectation(text)
		if err != nil {
			return false, err
		}
		v := e.Check(m)
		list, ok = append(list, v), ok && v.OK
	}
	for _, f := range m.Faults {
		v := f.Verdict()
		list, ok = append(list, v), ok && v.OK
	}
	m.Expect = list
	return ok, nil
}

// unknownPath says what was probably meant, and what there is.
func unknownPath(name string) string {
	var members, all []string
	nearest, best := "", 1+len(name)/3
	for _, p := range paths {
		if strings.HasPrefix(p.Name, name+".") {
			members = append(members, p.Name)
		}
		if !strings.HasPrefix(p.Name, "completions.") {
			all = append(all, p.Name)
		}
		if d := sim.EditDistance(name, p.Name); d < best {
			nearest, best = p.Name, d
		}
	}
	if len(members) > 0 {
		return fmt.Sprintf("%s is a group of figures: want one of %s", name, strings.Join(members, ", "))
	}
	s := fmt.Sprintf("there is no figure %q", name)
	if nearest != "" {
		s += fmt.Sprintf(" (did you mean %s?)", nearest)
	}
	return s + ": want one of " + strings.Join(all, ", ") + ", completions.STATUS"
}

// finite refuses what a division by nothing makes.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
