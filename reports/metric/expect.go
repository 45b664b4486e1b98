package metric

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// Expectation is a condition on one figure:
//
//	packets.dropped.lossless == 0
//	goodput_bps.total > 85Gbps
//	flows.slowdown.p99 within 1..10
//
// Values have the units of scenarios or are plain numbers in SI units; both
// ends of a range belong to it.
type Expectation struct {
	Text     string
	path     Path
	op       string
	low, top float64 // top is that of a range
}

// Verdict is an expectation that was checked: an element of metrics.json's expect.
type Verdict struct {
	Text  string   `json:"text"`
	OK    bool     `json:"ok"`
	Value *float64 `json:"value"`         // of the figure, in SI units; null = not measured
	Why   string   `json:"why,omitempty"` // it failed, in words
}

// operators in the order in which they are looked for.
var operators = []string{"==", "!=", "<=", ">=", "<", ">"}

// ParseExpectation reads an expectation. Errors name what would be valid.
func ParseExpectation(text string) (Expectation, error) {
	e := Expectation{Text: strings.TrimSpace(text)}
	fail := func(format string, args ...any) (Expectation, error) {
		return Expectation{}, fmt.Errorf("expectation %q: %s", e.Text, fmt.Sprintf(format, args...))
	}
	n := strings.IndexFunc(e.Text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.')
	})
	if n < 0 {
		n = len(e.Text)
	}
	if n == 0 {
		return fail("want a figure, an operator and a value, as in: packets.dropped.lossless == 0")
	}
	name, rest := e.Text[:n], strings.TrimSpace(e.Text[n:])
	var ok bool
	if e.path, ok = find(name); !ok {
		return fail("%s", unknownPath(name))
	}
	if values, ok := strings.CutPrefix(rest, "within "); ok {
		a, b, ok := strings.Cut(values, "..")
		if !ok {
			return fail("want a range after within, as in: within 1..10")
		}
		e.op = "within"
		var err error
		if e.low, err = parseValue(a, e.path); err != nil {
			return fail("%v", err)
		}
		if e.top, err = parseValue(b, e.path); err != nil {
			return fail("%v", err)
		}
		if e.low > e.top {
			return fail("the range is empty: %s is more than %s", strings.TrimSpace(a), strings.TrimSpace(b))
		}
		return e, nil
	}
	for _, op := range operators {
		if value, ok := strings.CutPrefix(rest, op); ok {
			e.op = op
			var err error
			if e.low, err = parseValue(value, e.path); err != nil {
				return fail("%v", err)
			}
			return e, nil
		}
	}
	return fail("%q does not begin with an operator: want one of %s, or within a..b", rest, strings.Join(operators, " "))
}

// parseValue reads a value in the unit of a figure.
func parseValue(text string, p Path) (float64, error) {
	text = strings.TrimSpace(text)
	if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v, nil
	}
	switch p.Unit {
	case Seconds:
		if d, err := sim.ParseDuration(text); err == nil {
			return d.Seconds(), nil
		}
		return 0, fmt.Errorf("%q is not a time: %s is in seconds, write 12ms or 0.012", text, p.Name)
	case BitsPerS:
		if r, err := sim.ParseRate(text); err == nil {
			return float64(r), nil
		}
		return 0, fmt.Errorf("%q is not a rate: %s is in bits per second, write 85Gbps or 85e9", text, p.Name)
	case Bytes:
		if b, err := sim.ParseBytes(text); err == nil {
			return float64(b), nil
		}
		return 0, fmt.Errorf("%q is not a size: %s is in bytes, write 2MB or 2e6", text, p.Name)
	case Ratio:
		if r, err := sim.ParseRatio(text); err == nil {
			return float64(r), nil
		}
		return 0, fmt.Errorf("%q is not a ratio: %s has no unit, write 0.5, 50%% or 1/2", text, p.Name)
	}
	return 0, fmt.Errorf("%q is not a number: %s is a count without a unit", text, p.Name)
}

// Check evaluates the expectation. A figure that was not measured fulfils none.
func (e Expectation) Check(m *Metrics) Verdict {
	v, measured := m.Lookup(e.path.Name)
	if !measured {
		return Verdict{Text: e.Text, Why: e.path.Name + " was not measured"}
	}
	r := Verdict{Text: e.Text, OK: e.holds(v), Value: &v}
	if !r.OK {
		r.Why = fmt.Sprintf("%s is %s", e.path.Name, Format(v, e.path.Unit))
	}
	return r
}

func (e Expectation) holds(v float64) bool {
	switch e.op {
	case "==":
		return v == e.low
	case "!=":
		return v != e.low
	case "<":
		return v < e.low
	case "<=":
		return v <= e.low
	case ">":
		return v > e.low
	case ">=":
		return v >= e.low
	}
	return e.low <= v && v <= e.top
}

// Check parses and evaluates expectations into m.Expect; ok is true if all hold.
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
