package metric

import "fmt"

// node is a part of an expectation that has a value.
type node interface {
	// eval returns the value in SI units; why says what was not measured.
	eval(m *Metrics) (v float64, why string)
	unit() string // "" fits every unit
	text() string
}

// valueNode is a number.
type valueNode struct {
	v float64
	u string
	s string
}

func (n *valueNode) eval(*Metrics) (float64, string) { return n.v, "" }
func (n *valueNode) unit() string                    { return n.u }
func (n *valueNode) text() string                    { return n.s }

// figureNode is a figure of metrics.json.
type figureNode struct{ path Path }

func (n *figureNode) eval(m *Metrics) (float64, string) {
	v, ok := m.Lookup(n.path.Name)
	if !ok {
		return 0, n.path.Name + " was not measured"
	}
	return v, ""
}
func (n *figureNode) unit() string { return n.path.Unit }
func (n *figureNode) text() string { return n.path.Name }

// binary is two parts and a sign between them.
type binary struct {
	op   byte
	a, b node
	u, s string
}

func (n *binary) eval(m *Metrics) (float64, string) {
	x, why := n.a.eval(m)
	if why != "" {
		return 0, why
	}
	y, why := n.b.eval(m)
	if why != "" {
		return 0, why
	}
	switch n.op {
	case '+':
		x += y
	case '-':
		x -= y
	case '*':
		x *= y
	case '/':
		if y == 0 {
			return 0, fmt.Sprintf("%s is 0, so that %s has no value", n.b.text(), n.s)
		}
		x /= y
	}
	if !finite(x) {
		return 0, n.s + " is too large"
	}
	return x, ""
}
func (n *binary) unit() string { return n.u }
func (n *binary) text() string { return n.s }

// isValue reports whether a node is the same for every run.
func isValue(n node) bool {
	switch n := n.(type) {
	case *valueNode:
		return true
	case *binary:
		return isValue(n.a) && isValue(n.b)
	}
	return false
}

// plain reports whether a unit is that of a pure number.
func plain(u string) bool { return u == Ratio || u == Count }

// sameUnit reports whether two units can be compared. Counts and ratios are
// both numbers, but a count is never written with a per cent sign.
func sameUnit(a, b string) bool { return a == b || a == "" || b == "" || plain(a) && plain(b) }

// combine returns the unit of a sum or product.
func combine(sign byte, a, b string) (unit string, ok bool) {
	switch {
	case sign == '+' || sign == '-':
		if a == "" {
			a = b
		}
		return a, sameUnit(a, b)
	case a == "" && b == "":
		return "", true
	case sign == '/' && (a == b || plain(a) && plain(b)):
		return Ratio, true
	case b == "" || plain(b):
		if plain(a) || a == "" {
			a = Ratio
		}
		return a, true
	case sign == '*' && (a == "" || plain(a)):
		return b, true
	}
	return "", false
}

// unitWord names a unit in errors.
func unitWord(u string) string {
	switch u {
	case Seconds:
		return "a time"
	case BitsPerS:
		return "a rate"
	case Bytes:
		return "a size"
	case "":
		return "a number"
	}
	return "a pure number"
}
