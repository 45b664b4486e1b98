package figure

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"rdmasim/reports/tuning"
)

var _ = registerTune("thresholds", "objectives by Kmin and Kmax, with the feasible region", TuneSpace, 1, tuneThresholds)

const (
	thresholdCells  = 12 // in each direction
	thresholdLevels = 5
	thresholdMargin = 1e-9
	seam            = 0.2 // points by which cells overlap, so that none shows between them
)

// tuneThresholds draws, for cells of Kmin by Kmax, the best that any evaluated
// point in the cell reached, and outlines the cells with a feasible point.
func tuneThresholds(s *Search) Figure {
	x, y, ok := s.plane()
	if !ok {
		return empty("Objectives by two thresholds", "Only one parameter was searched.")
	}
	px, py := &s.Parameters[x], &s.Parameters[y]
	title := fmt.Sprintf("Objectives by %s and %s", ParameterLabel(px), ParameterLabel(py))
	f := Figure{Title: title, Table: Table{Head: []string{ParameterLabel(px), ParameterLabel(py), "points", "feasible"}}}
	objectives := s.shownObjectives()
	for _, o := range objectives {
		f.Table.Head = append(f.Table.Head, "best "+objectiveLabel(&s.Objectives[o]))
	}
	maps := make([]*cellMap, len(objectives))
	for k, o := range objectives {
		maps[k] = s.cells(x, y, o)
		if maps[k].measured == 0 {
			continue
		}
		f.Panels = append(f.Panels, s.heatPanel(maps[k], x, y, o, len(f.Panels) == 0))
	}
	if len(f.Panels) == 0 {
		f.Empty = "No point was measured under all workloads."
		return f
	}
	f.Table.Rows = s.cellRows(maps, px, py, objectives)
	f.Caption = fmt.Sprintf("Each cell shows the best that %s in it reached, whatever the other parameters were; the line encloses the cells with a feasible point. Cells that are empty were not looked at.", evaluated)
	return f
}

const evaluated = "an evaluated point"

// plane returns the parameters of the axes: Kmin and Kmax, else the first two.
func (s *Search) plane() (x, y int, ok bool) {
	x, okx := s.Parameter(tuning.RoleKmin)
	y, oky := s.Parameter(tuning.RoleKmax)
	if okx && oky {
		return x, y, true
	}
	return 0, 1, len(s.Parameters) >= 2
}

// cellMap is the best of each cell.
type cellMap struct {
	xs, ys   []float64 // borders
	best     [][]float64
	points   [][]int
	feasible [][]int
	lo, hi   float64
	least    float64 // above 0
	measured int
	good     bool // more is better
}

func (s *Search) cells(x, y, o int) *cellMap {
	m := &cellMap{good: s.Objectives[o].Goal == tuning.Maximize, lo: math.Inf(1), hi: math.Inf(-1), least: math.Inf(1)}
	for i := range thresholdCells + 1 {
		u := float64(i) / thresholdCells
		m.xs, m.ys = append(m.xs, s.Parameters[x].From01(u)), append(m.ys, s.Parameters[y].From01(u))
	}
	for range thresholdCells {
		row := make([]float64, thresholdCells)
		for i := range row {
			row[i] = math.NaN()
		}
		m.best, m.points, m.feasible = append(m.best, row), append(m.points, make([]int, thresholdCells)), append(m.feasible, make([]int, thresholdCells))
	}
	for i := range s.Points {
		p := &s.Points[i]
		v, ok := s.Mean(p, o)
		a, b := s.cell(x, p.Values[x]), s.cell(y, p.Values[y])
		if !ok || a < 0 || b < 0 {
			continue
		}
		first := p.Feasible && m.feasible[b][a] == 0 // the feasible ones decide where there are any
		m.points[b][a]++
		if p.Feasible {
			m.feasible[b][a]++
		}
		old := m.best[b][a]
		if math.IsNaN(old) || first || (p.Feasible || m.feasible[b][a] == 0) && (v > old) == m.good && v != old {
			m.best[b][a] = v
		}
	}
	for _, row := range m.best {
		for _, v := range row {
			if !math.IsNaN(v) {
				m.lo, m.hi = min(m.lo, v), max(m.hi, v)
				if v > 0 {
					m.least = min(m.least, v)
				}
				m.measured++
			}
		}
	}
	if m.lo == 0 && m.hi > 5*m.least {
		m.lo = m.least // what is 0 is shaded as the least above it
	}
	return m
}

// cell returns the column of a value, -1 outside of the range.
func (s *Search) cell(k int, v float64) int {
	u := s.Parameters[k].Unit01(v)
	if !(u >= -thresholdMargin && u <= 1+thresholdMargin) {
		return -1
	}
	return min(max(int(u*thresholdCells), 0), thresholdCells-1)
}

// level returns the shade of a value, 0 = best.
func (m *cellMap) level(v float64) int {
	u := 0.0
	lo, hi := m.lo, m.hi
	switch {
	case !(hi > lo):
		return 0
	case lo > 0 && hi > 5*lo:
		u = math.Log(max(v, lo)/lo) / math.Log(hi/lo)
	default:
		u = (v - lo) / (hi - lo)
	}
	if m.good {
		u = 1 - u
	}
	return min(max(int(u*thresholdLevels), 0), thresholdLevels-1)
}

// border returns the value at the upper end of a level.
func (m *cellMap) border(level int) float64 {
	u := float64(level+1) / thresholdLevels
	if m.good {
		u = 1 - u
	}
	if m.lo > 0 && m.hi > 5*m.lo {
		return m.lo * math.Pow(m.hi/m.lo, u)
	}
	return m.lo + u*(m.hi-m.lo)
}

func levelTone(level int) Tone { return heatTones[1+2*level] }

func (s *Search) heatPanel(m *cellMap, x, y, o int, named bool) Panel {
	obj := &s.Objectives[o]
	p := newPlot()
	var vx, vy []float64
	for _, l := range s.landmarks(false) {
		vx, vy = append(vx, l.Values[x]), append(vy, l.Values[y])
	}
	parameterAxis(&p.X, &s.Parameters[x], vx...)
	parameterAxis(&p.Y, &s.Parameters[y], vy...)
	p.Add(m)
	good, bad := s.scatter(func(q *tuning.Point) (xy, bool) {
		return xy{q.Values[x], q.Values[y]}, inRange(p, q.Values[x], q.Values[y])
	})
	p.Add(marks{good, feasibleMark()}, marks{bad, infeasibleMark()})
	for _, l := range s.landmarks(false) {
		name := ""
		if named {
			name = l.name
		}
		p.Add(l.halo(xy{l.Values[x], l.Values[y]}), dots{pts: []xy{{l.Values[x], l.Values[y]}}, names: []string{name}, shape: l.shape, tone: l.tone, size: 5})
	}
	panel := Panel{Plot: p, Height: 290, Legend: []Key{{Label: objectiveLabel(obj) + ":"}}}
	for i := range thresholdLevels {
		label := ""
		sign := map[bool]string{false: "≤ ", true: "≥ "}[m.good]
		switch {
		case m.hi == m.lo && i > 0:
			continue
		case m.hi == m.lo:
			label = Quantity(m.lo, obj.Unit)
		case i == thresholdLevels-1:
			label = "worse"
		default:
			label = sign + Quantity(m.border(i), obj.Unit)
		}
		panel.Legend = append(panel.Legend, Key{Label: label, Fill: levelTone(i).color()})
	}
	if len(bad) > 0 {
		panel.Legend = append(panel.Legend, Key{Label: "not feasible", Mark: infeasibleMark()})
	}
	return panel
}

func inRange(p *plot.Plot, x, y float64) bool {
	return x >= p.X.Min && x <= p.X.Max && y >= p.Y.Min && y <= p.Y.Max
}

// scatter splits the places of all points by whether they are feasible.
func (s *Search) scatter(at func(*tuning.Point) (xy, bool)) (good, bad []xy) {
	for i := range s.Points {
		p := &s.Points[i]
		q, ok := at(p)
		if !ok || len(p.Cells) == 0 {
			continue
		}
		if p.Feasible {
			good = append(good, q)
		} else {
			bad = append(bad, q)
		}
	}
	return good, bad
}

// Plot draws the cells and the outline of the feasible ones.
func (m *cellMap) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for b, row := range m.best {
		for a, v := range row {
			if !math.IsNaN(v) {
				c.FillPolygon(levelTone(m.level(v)).color(), rect(tx(m.xs[a])-seam, ty(m.ys[b])-seam, tx(m.xs[a+1])+seam, ty(m.ys[b+1])+seam))
			}
		}
	}
	sty := lineOf(toneInk, 1.6)
	ok := func(a, b int) bool {
		return a >= 0 && b >= 0 && a < thresholdCells && b < thresholdCells && m.feasible[b][a] > 0
	}
	for b := range m.best {
		for a := range m.best[b] {
			if !ok(a, b) {
				continue
			}
			x0, x1, y0, y1 := tx(m.xs[a]), tx(m.xs[a+1]), ty(m.ys[b]), ty(m.ys[b+1])
			edge := func(open bool, x0, y0, x1, y1 vg.Length) {
				if open {
					c.StrokeLine2(sty, x0, y0, x1, y1)
				}
			}
			edge(!ok(a-1, b), x0, y0, x0, y1)
			edge(!ok(a+1, b), x1, y0, x1, y1)
			edge(!ok(a, b-1), x0, y0, x1, y0)
			edge(!ok(a, b+1), x0, y1, x1, y1)
		}
	}
}

func (s *Search) cellRows(maps []*cellMap, px, py *tuning.Parameter, objectives []int) [][]string {
	var rows [][]string
	m := maps[0]
	for b := range m.points {
		for a, n := range m.points[b] {
			if n == 0 {
				continue
			}
			row := []string{rangeText(func(v float64) string { return Quantity(v, px.Unit) }, m.xs[a], m.xs[a+1]),
				rangeText(func(v float64) string { return Quantity(v, py.Unit) }, m.ys[b], m.ys[b+1]), Whole(n), Whole(m.feasible[b][a])}
			for k, o := range objectives {
				if v := maps[k].best[b][a]; math.IsNaN(v) {
					row = append(row, "not measured")
				} else {
					row = append(row, Quantity(v, s.Objectives[o].Unit))
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}
