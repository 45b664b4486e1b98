package validation

// Curve is a figure as data: what was measured, and what the oracle says.
type Curve struct {
	Name  string `json:"name"` // of the file, such as Q1-waiting
	Title string `json:"title"`
	X     Axis   `json:"x"`
	Y     Axis   `json:"y"`
	Lines []Line `json:"lines"`
}

// Axis of a curve.
type Axis struct {
	Label string `json:"label"` // with its unit
	Log   bool   `json:"log,omitempty"`
}

// Line is one series of a curve.
type Line struct {
	Name   string    `json:"name"`
	Oracle bool      `json:"oracle,omitempty"` // joined by a line; what is measured is drawn as points
	X      []float64 `json:"x"`
	Y      []float64 `json:"y"`
	Half   []float64 `json:"half,omitempty"` // half of the confidence interval of each Y
}

// Draw adds a curve to the row.
func (b *Bench) Draw(c Curve) {
	c.Name = b.id + "-" + c.Name
	for _, l := range c.Lines {
		if len(l.X) > 0 {
			b.result.Curves = append(b.result.Curves, c)
			return
		}
	}
}

// at appends a point.
func (l *Line) at(x, y float64) { l.X, l.Y = append(l.X, x), append(l.Y, y) }

// oracle returns the line of a function between two points.
func oracle(name string, from, to float64, f func(float64) float64) Line {
	const n = 120
	l := Line{Name: name, Oracle: true}
	for i := range n + 1 {
		x := from + (to-from)*float64(i)/n
		l.at(x, f(x))
	}
	return l
}
