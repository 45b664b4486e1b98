package metric

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// parser reads the text of an expectation from left to right.
type parser struct {
	text  string
	pos   int
	depth int
}

// most bounds how deep and how long an expectation may be.
const (
	mostDepth  = 50
	mostLength = 2000
)

func (p *parser) fail(at int, format string, args ...any) error {
	return &ExpectError{Text: p.text, Offset: min(at, len(p.text)), Problem: fmt.Sprintf(format, args...)}
}

func (p *parser) space() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
}

func (p *parser) rest() string { return p.text[p.pos:] }

// take consumes a sign if it comes next.
func (p *parser) take(sign string) bool {
	p.space()
	if !strings.HasPrefix(p.rest(), sign) {
		return false
	}
	p.pos += len(sign)
	return true
}

// expectation reads SUM OP SUM, or SUM within SUM..SUM.
func (p *parser) expectation(e *Expectation) error {
	if len(p.text) > mostLength {
		return p.fail(0, "has %d characters: want at most %d", len(p.text), mostLength)
	}
	if p.text == "" || !startsOperand(p.text[0]) {
		return p.fail(0, "want a figure, an operator and a value, as in: packets.dropped.lossless == 0")
	}
	var err error
	if e.left, err = p.sum(); err != nil {
		return err
	}
	p.space()
	at := p.pos
	if word := p.word(); word == within && strings.HasPrefix(p.rest(), " ") {
		return p.span(e)
	}
	p.pos = at
	for _, op := range operators {
		if p.take(op) {
			e.op = op
			if e.right, err = p.side(e.left, len(p.text)); err != nil {
				return err
			}
			return p.worth(e)
		}
	}
	return p.fail(at, "%q does not begin with an operator: want one of %s, or within a..b", p.rest(), strings.Join(operators, " "))
}

// startsOperand reports whether a side of an expectation can begin so.
func startsOperand(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '(' || c == '-' || c == '.'
}

// span reads the two ends of a range.
func (p *parser) span(e *Expectation) (err error) {
	e.op = within
	at := p.pos
	n := strings.Index(p.rest(), "..")
	if n < 0 {
		return p.fail(at, "want a range after within, as in: within 1..10")
	}
	dots := p.pos + n
	if e.right, err = p.side(e.left, dots); err != nil {
		return err
	}
	p.pos = dots + 2
	if e.top, err = p.side(e.left, len(p.text)); err != nil {
		return err
	}
	if a, b := e.right, e.top; isValue(a) && isValue(b) {
		low, _ := a.eval(nil)
		if top, _ := b.eval(nil); low > top {
			return p.fail(at+1, "the range is empty: %s is more than %s", a.text(), b.text())
		}
	}
	return p.worth(e)
}

// side reads one side of a comparison up to end, in the unit of the left one.
func (p *parser) side(left node, end int) (node, error) {
	p.space()
	at := p.pos
	whole := strings.TrimSpace(p.text[min(at, end):end])
	one := &parser{text: p.text[:end], pos: at}
	n, err := one.sum()
	one.space()
	if err == nil && one.pos == end && sameUnit(left.unit(), n.unit()) {
		p.pos = end
		return n, nil
	}
	if err != nil && strings.ContainsAny(whole, ".(*/+ ") && !strings.HasPrefix(whole, "0,") {
		if bad, ok := err.(*ExpectError); ok && (strings.Contains(whole, "(") || startsFigure(whole)) {
			bad.Text = p.text
			return nil, bad
		}
	}
	return nil, p.fail(at, "%q is %s", whole, notOf(left))
}

// startsFigure reports whether a text begins as a figure with a point in it.
func startsFigure(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	return word != "" && word[0] >= 'a' && word[0] <= 'z' && strings.Contains(word, ".")
}

// notOf says what the other side of a comparison must be.
func notOf(left node) string {
	name := left.text()
	switch left.unit() {
	case Seconds:
		return fmt.Sprintf("not a time: %s is in seconds, write 12ms or 0.012", name)
	case BitsPerS:
		return fmt.Sprintf("not a rate: %s is in bits per second, write 85Gbps or 85e9", name)
	case Bytes:
		return fmt.Sprintf("not a size: %s is in bytes, write 2MB or 2e6", name)
	case Ratio:
		return fmt.Sprintf("not a ratio: %s has no unit, write 0.5, 50%% or 1/2", name)
	case Count:
		return fmt.Sprintf("not a number: %s is a count without a unit", name)
	}
	return "not a value or a figure"
}

// worth refuses what does not depend on the run.
func (p *parser) worth(e *Expectation) error {
	if isValue(e.left) {
		return p.fail(0, "want a figure, an operator and a value, as in: packets.dropped.lossless == 0")
	}
	return nil
}

// sum reads products joined by + and -.
func (p *parser) sum() (node, error) {
	start := p.pos
	n, err := p.product()
	for err == nil {
		p.space()
		if p.pos >= len(p.text) || p.text[p.pos] != '+' && p.text[p.pos] != '-' {
			return n, nil
		}
		n, err = p.join(start, n, p.product)
	}
	return nil, err
}

// product reads operands joined by * and /.
func (p *parser) product() (node, error) {
	start := p.pos
	n, err := p.operand()
	for err == nil {
		p.space()
		if p.pos >= len(p.text) || p.text[p.pos] != '*' && p.text[p.pos] != '/' {
			return n, nil
		}
		n, err = p.join(start, n, p.operand)
	}
	return nil, err
}

// join reads a sign and what follows it.
func (p *parser) join(start int, left node, next func() (node, error)) (node, error) {
	at, sign := p.pos, p.text[p.pos]
	p.pos++
	if p.depth++; p.depth > mostDepth {
		return nil, p.fail(at, "more than %d signs and brackets", mostDepth)
	}
	right, err := next()
	if err != nil {
		return nil, err
	}
	unit, ok := combine(sign, left.unit(), right.unit())
	if !ok {
		return nil, p.fail(at, "%s and %s do not go together: %s is %s, %s is %s", left.text(), right.text(), left.text(), unitWord(left.unit()), right.text(), unitWord(right.unit()))
	}
	return &binary{op: sign, a: left, b: right, u: unit, s: strings.TrimSpace(p.text[start:p.pos])}, nil
}

// operand reads a value, a figure, a function or something in brackets.
func (p *parser) operand() (node, error) {
	p.space()
	at := p.pos
	switch {
	case p.pos >= len(p.text):
		return nil, p.fail(at, "something is missing at the end: want a figure, a function or a value")
	case p.take("("):
		if p.depth++; p.depth > mostDepth {
			return nil, p.fail(at, "more than %d signs and brackets", mostDepth)
		}
		n, err := p.sum()
		if err == nil && !p.take(")") {
			err = p.fail(p.pos, "a bracket is open: want )")
		}
		return n, err
	case p.text[p.pos] == '-' || p.text[p.pos] == '.' || p.text[p.pos] >= '0' && p.text[p.pos] <= '9':
		return p.value()
	}
	name := p.word()
	if name == "" {
		return nil, p.fail(at, "%q: want a figure, a function or a value", p.rest())
	}
	if p.take("(") {
		return p.function(at, name)
	}
	path, ok := find(name)
	if !ok {
		return nil, p.fail(at, "%s", unknownPath(name))
	}
	return &figureNode{path}, nil
}

// word reads a name such as packets.dropped.lossless or p99.9.
func (p *parser) word() string {
	start := p.pos
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		dot := c == '.' && p.pos+1 < len(p.text) && isWord(p.text[p.pos+1]) && p.pos > start
		if !isWord(c) && !dot {
			break
		}
		p.pos++
	}
	return p.text[start:p.pos]
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// value reads a number with or without a unit.
func (p *parser) value() (node, error) {
	start := p.pos
	if p.text[p.pos] == '-' {
		p.pos++
	}
	p.digits()
	if p.pos+1 < len(p.text) && p.text[p.pos] == '.' && p.text[p.pos+1] != '.' {
		p.pos++
		p.digits()
	}
	if r := p.rest(); len(r) > 1 && (r[0] == 'e' || r[0] == 'E') && (isDigit(r[1]) || len(r) > 2 && (r[1] == '+' || r[1] == '-') && isDigit(r[2])) {
		p.pos += 2
		p.digits()
	}
	number := p.text[start:p.pos]
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsInf(v, 0) {
		return nil, p.fail(start, "%q is not a number", number)
	}
	end := p.pos
	p.space()
	unit := p.pos
	for p.pos < len(p.text) && (p.text[p.pos] >= 'a' && p.text[p.pos] <= 'z' || p.text[p.pos] >= 'A' && p.text[p.pos] <= 'Z' || p.text[p.pos] == '%') {
		p.pos++
	}
	if word := p.text[unit:p.pos]; word == "" || word == within {
		p.pos = end
		return &valueNode{v, "", number}, nil
	}
	n, ok := quantity(strings.TrimPrefix(number, "-"), p.text[unit:p.pos])
	if !ok {
		return nil, p.fail(start, "%q has no unit that is known: want one such as us, Gbps, KB or %%", p.text[start:p.pos])
	}
	if strings.HasPrefix(number, "-") {
		n.v = -n.v
	}
	n.s = p.text[start:p.pos]
	return n, nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (p *parser) digits() {
	for p.pos < len(p.text) && isDigit(p.text[p.pos]) {
		p.pos++
	}
}

// quantity returns a number with a unit in SI units.
func quantity(number, unit string) (*valueNode, bool) {
	text := number + unit
	if d, err := sim.ParseDuration(text); err == nil {
		return &valueNode{v: d.Seconds(), u: Seconds}, true
	}
	if r, err := sim.ParseRate(text); err == nil {
		return &valueNode{v: float64(r), u: BitsPerS}, true
	}
	if b, err := sim.ParseBytes(text); err == nil {
		return &valueNode{v: float64(b), u: Bytes}, true
	}
	if r, err := sim.ParseRatio(text); err == nil {
		return &valueNode{v: float64(r), u: Ratio}, true
	}
	return nil, false
}
