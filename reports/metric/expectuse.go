package metric

import (
	"slices"
	"strings"
)

// ReadsSeries reports whether the expectation is about time series, so that a
// run that keeps none cannot be judged by it.
func (e Expectation) ReadsSeries() bool {
	return readsSeries(e.left) || readsSeries(e.right) || readsSeries(e.top)
}

func readsSeries(n node) bool {
	return anyPart(n, func(n node) bool {
		c, ok := n.(*call)
		return ok && c.src.table == tableSeries
	})
}

// IsForensic reports whether a figure is of what pauses and delays tell: causes of
// delay, and roots and victims of pauses.
func IsForensic(path string) bool {
	return strings.HasPrefix(path, "diagnosis.") || slices.Contains([]string{"pfc.depth", "pfc.breadth", "pfc.victims", "pfc.recover_s"}, path)
}

// ReadsForensics reports whether the expectation is about such a figure.
func (e Expectation) ReadsForensics() bool {
	is := func(n node) bool {
		f, ok := n.(*figureNode)
		return ok && IsForensic(f.path.Name)
	}
	return anyPart(e.left, is) || anyPart(e.right, is) || anyPart(e.top, is)
}

// anyPart reports whether a part of an expectation is so.
func anyPart(n node, is func(node) bool) bool {
	if b, ok := n.(*binary); ok {
		return anyPart(b.a, is) || anyPart(b.b, is)
	}
	return n != nil && is(n)
}

// Unit returns the unit of the left side.
func (e Expectation) Unit() string { return e.left.unit() }
