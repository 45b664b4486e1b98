package metric

import "strings"

// Expression is one side of an expectation alone: a sum or product of figures
// of metrics.json, of functions of rows, and of values, as in
// p99(flows.slowdown, max_bytes=100KB).
type Expression struct {
	Text string
	Unit string // Seconds, BitsPerS, Bytes, Ratio or Count
	node node
}

// ParseExpression reads an expression. The error is an *ExpectError. What is the
// same for every run is refused.
func ParseExpression(text string) (Expression, error) {
	p := &parser{text: strings.TrimSpace(text)}
	switch {
	case len(p.text) > mostLength:
		return Expression{}, p.fail(0, "has %d characters: want at most %d", len(p.text), mostLength)
	case p.text == "" || !startsOperand(p.text[0]):
		return Expression{}, p.fail(0, "want a figure or a function, as in: pfc.paused_s or p99(flows.slowdown)")
	}
	n, err := p.sum()
	if err != nil {
		return Expression{}, err
	}
	if p.space(); p.pos < len(p.text) {
		return Expression{}, p.fail(p.pos, "%q is left over: want a figure, a function, or a sum or product of them", p.rest())
	}
	if isValue(n) {
		return Expression{}, p.fail(0, "is the same for every run: want a figure or a function, as in: pfc.paused_s or p99(flows.slowdown)")
	}
	e := Expression{Text: p.text, Unit: n.unit(), node: n}
	if e.Unit == "" {
		e.Unit = Count
	}
	return e, nil
}

// Value computes the expression on a run, in SI units; why says what was not
// measured, "" where it has a value.
func (e Expression) Value(m *Metrics) (v float64, why string) { return e.node.eval(m) }
