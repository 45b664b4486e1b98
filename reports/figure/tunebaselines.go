package figure

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"rdmasim/reports/tuning"
)

var _ = registerTune("baselines", "objectives of published settings beside today and the winner", TuneBaselines, 1, tuneBaselines)

const maxBaselineRows = 16

// tuneBaselines draws each objective of today, the recommended and the
// published settings, one mark per workload.
func tuneBaselines(s *Search) Figure {
	const title = "Published settings beside today's and the recommended ones"
	var points []*tuning.Point
	for _, p := range s.notable(200) {
		if p.Kind != tuning.KindSearch || s.Best() == p {
			points = append(points, p)
		}
	}
	total := len(points)
	points = points[:min(total, maxBaselineRows)]
	f := Figure{Title: title, Table: s.baselineTable()}
	if len(points) < 2 {
		f.Empty = "Nothing but today's settings was run."
		return f
	}
	var names []string
	for _, p := range points {
		name := s.pointName(p)
		if !p.Feasible {
			name += " ×"
		}
		names = append(names, name)
	}
	for n, o := range s.shownObjectives() {
		f.Panels = append(f.Panels, s.objectivePanel(o, points, names, n == 0))
	}
	f.Caption = fmt.Sprintf("Mean and 95 %% interval over %s; × breaks a constraint.", Count(len(s.Seeds), "seed"))
	if total > len(points) {
		f.Caption += fmt.Sprintf(" The best %d of %d settings.", len(points), total)
	}
	return f
}

func (s *Search) objectivePanel(o int, points []*tuning.Point, names []string, keys bool) Panel {
	obj := &s.Objectives[o]
	p := newPlot()
	nominal(&p.Y, names)
	p.Y.Tick.Label.Font.Size = 9.5
	shown := min(len(s.Workloads), 4)
	var rows []forestRow
	var all []float64
	for _, q := range points {
		var row forestRow
		for w := range shown {
			c := &q.Cells[w]
			if o >= len(c.Objectives) || c.Objectives[o].Mean == nil {
				continue
			}
			v := c.Objectives[o]
			row = append(row, interval{series: w, mean: *v.Mean, half: halfOf(v), sure: true})
			all = append(all, max(*v.Mean-halfOf(v), *v.Mean/2), *v.Mean, *v.Mean+halfOf(v)) // of a wide interval at most half is shown
		}
		rows = append(rows, row)
	}
	zero := spanAxis(&p.X, objectiveLabel(obj)+", "+goalWords(obj), obj.Unit, all)
	p.Add(stripes(len(rows)), grid{x: true}, dotRows{rows, shown})
	panel := Panel{Plot: p, Height: vg.Length(len(rows))*(7+5*vg.Length(shown)) + 46}
	if keys {
		for w := range shown {
			panel.Legend = append(panel.Legend, Key{Label: s.Workloads[w].Name, Line: solid(w)})
		}
	}
	if zero {
		p.X.Label.Text += "; 0 stands at the left edge"
	}
	return panel
}

// baselineTable lists every baseline with its values and objectives.
func (s *Search) baselineTable() Table {
	t := Table{Head: []string{"settings"}}
	for i := range s.Parameters {
		t.Head = append(t.Head, ParameterLabel(&s.Parameters[i]))
	}
	for i := range s.Objectives {
		t.Head = append(t.Head, objectiveLabel(&s.Objectives[i]))
	}
	t.Head = append(t.Head, "worst regret", "")
	row := func(p *tuning.Point) {
		r := []string{s.pointName(p)}
		for k := range s.Parameters {
			r = append(r, Quantity(p.Values[k], s.Parameters[k].Unit))
		}
		for o := range s.Objectives {
			if v, ok := s.Mean(p, o); ok {
				r = append(r, Quantity(v, s.Objectives[o].Unit))
			} else {
				r = append(r, "not measured")
			}
		}
		regret, note := "–", ""
		if p.Regret != nil {
			regret = Number(*p.Regret)
		}
		if !p.Feasible {
			note = "not feasible"
		}
		t.Rows = append(t.Rows, append(r, regret, note))
	}
	for _, p := range s.notable(200) {
		if p.Kind != tuning.KindSearch || s.Best() == p {
			row(p)
		}
	}
	t.Note = "Objectives are means over workloads by their weights."
	return t
}

// stripes shades every other row of a nominal axis.
type stripes int

// dotRows draws the intervals of a row below each other, one per series.
type dotRows struct {
	rows []forestRow
	n    int
}

// Plot shades rows 1, 3, 5.
func (n stripes) Plot(c draw.Canvas, p *plot.Plot) {
	_, ty := p.Transforms(&c)
	for i := 1; i < int(n); i += 2 {
		c.FillPolygon(heatTones[0].color(), rect(c.Min.X, ty(float64(i)+0.5), c.Max.X, ty(float64(i)-0.5)))
	}
}

// Plot draws the series of a row at even distances within it.
func (d dotRows) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for i, row := range d.rows {
		for _, v := range row {
			y := ty(float64(i) + (float64(v.series)+0.5)/float64(d.n)*0.8 - 0.4)
			sty := solid(v.series)
			c.StrokeLine2(sty, clampX(c, tx(v.mean-v.half)), y, clampX(c, tx(v.mean+v.half)), y)
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: sty.Color, Radius: 2.4, Shape: seriesShape(v.series)}, vg.Point{X: clampX(c, tx(v.mean)), Y: y})
		}
	}
}

// seriesShape tells series apart without colour.
func seriesShape(i int) draw.GlyphDrawer {
	return []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.SquareGlyph{}}[i%4]
}
