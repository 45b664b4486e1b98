package metric

// ReadsSeries reports whether the expectation is about time series, so that a
// run that keeps none cannot be judged by it.
func (e Expectation) ReadsSeries() bool {
	return readsSeries(e.left) || readsSeries(e.right) || readsSeries(e.top)
}

func readsSeries(n node) bool {
	switch n := n.(type) {
	case *call:
		return n.src.table == tableSeries
	case *binary:
		return readsSeries(n.a) || readsSeries(n.b)
	}
	return false
}
