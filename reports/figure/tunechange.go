package figure

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"rdmasim/reports/tuning"
)

var _ = registerTune("change", "change of every objective with its interval", TuneChange, 1, tuneChange)

// tuneChange draws the relative change of every objective under every workload
// against today and against the best baseline, with 95 % intervals.
func tuneChange(s *Search) Figure {
	const title = "Change of every objective, with 95 % intervals"
	const perRow vg.Length = 17
	f := Figure{Title: title, Table: Table{Head: []string{"objective", "workload", "against", "difference", "95 % interval", "relative"}}}
	names, rows, against := s.forestRows(&f.Table)
	if len(rows) == 0 {
		f.Empty = "There are no differences on the same seeds."
		return f
	}
	p := newPlot()
	nominal(&p.Y, names)
	p.Y.Tick.Label.Font.Size = 9.5
	lo, hi := 0.0, 0.0
	for _, row := range rows {
		for _, v := range row {
			lo, hi = min(lo, v.mean-v.half), max(hi, v.mean+v.half)
		}
	}
	lo, hi = max(lo, -1), min(hi, 3) // nothing falls by more than all of it
	room := (hi - lo) * 0.04
	linear(&p.X, "change", shareScale, lo-room, hi+room)
	p.Add(grid{x: true}, vertical{0, lineOf(toneMuted, 1)}, forest(rows))
	panel := Panel{Plot: p, Height: vg.Length(len(rows))*perRow + 46}
	for _, as := range []string{tuning.AgainstToday, tuning.AgainstBaseline} {
		if k, ok := against[as]; ok {
			panel.Legend = append(panel.Legend, Key{Label: "against " + s.againstName(as), Line: solid(k)})
		}
	}
	panel.Legend = append(panel.Legend, Key{Label: "hollow: the interval contains no change", Ring: toneMuted.color()})
	f.Panels = []Panel{panel}
	below := "Below each objective, over all workloads, stand the workloads alone. "
	if len(s.Workloads) == 1 {
		below = ""
	}
	f.Caption = fmt.Sprintf(below+"Of %s, run on the same seeds as what it is compared with; an interval that leaves out 0 is more than chance.", s.subject())
	return f
}

// forestRows are the rows of the plot with their names, and the numbers of the
// series; every contrast becomes a row of the table.
func (s *Search) forestRows(t *Table) (names []string, rows []forestRow, against map[string]int) {
	against = map[string]int{}
	label := "" // metric of the row above
	for _, obj := range s.compared() {
		loads := append([]string{""}, s.workloadNames()...)
		if len(s.Workloads) == 1 && s.hasWhole(obj.Metric) {
			loads = loads[:1] // the only workload is all of them
		}
		for _, w := range loads {
			var row forestRow
			for _, c := range s.Contrasts {
				if c.Metric != obj.Metric || c.Workload != w {
					continue
				}
				t.Rows = append(t.Rows, contrastRow(obj, &c, s))
				if c.Relative.Mean == nil {
					continue
				}
				k, ok := against[c.As]
				if !ok {
					k = len(against)
					against[c.As] = k
				}
				row = append(row, interval{series: k, mean: *c.Relative.Mean, half: halfOf(c.Relative), sure: c.Confident})
			}
			if len(row) > 0 && len(rows) < 40 {
				name := "– " + w
				if w == "" || len(names) == 0 || label != obj.Metric {
					name = objectiveLabel(obj)
					if w != "" {
						name += ", " + w
					}
					label = obj.Metric
				}
				names = append(names, name)
				rows = append(rows, row)
			}
		}
	}
	return names, rows, against
}

// hasWhole reports whether a metric was compared over all workloads.
func (s *Search) hasWhole(metric string) bool {
	return slices.ContainsFunc(s.Contrasts, func(c tuning.Contrast) bool { return c.Metric == metric && c.Workload == "" })
}

// compared are the objectives, and the constraints that were compared too.
func (s *Search) compared() (list []*tuning.Objective) {
	for _, o := range s.shownObjectives() {
		list = append(list, &s.Objectives[o])
	}
	for i := range s.Constraints {
		if o, ok := s.ConstraintAsObjective(i); ok && len(list) < maxCompared {
			list = append(list, o)
		}
	}
	return list
}

// maxCompared is how many objectives and constraints a figure compares.
const maxCompared = 6

// subject is what contrasts are of.
func (s *Search) subject() string {
	if s.Winner != nil {
		return "the recommended settings"
	}
	return "the best point of the search, which is not recommended"
}

func (s *Search) againstName(as string) string {
	if as == tuning.AgainstToday {
		return "today"
	}
	if s.BestOf != nil {
		return s.pointName(s.Point(*s.BestOf)) + ", the best baseline"
	}
	return "the best baseline"
}

func (s *Search) workloadNames() []string {
	var out []string
	for _, w := range s.Workloads {
		out = append(out, w.Name)
	}
	return out
}

func workloadLabel(name string) string {
	if name == "" {
		return "all workloads"
	}
	return name
}

func halfOf(v tuning.Value) float64 {
	if v.Half == nil {
		return 0
	}
	return *v.Half
}

func contrastRow(o *tuning.Objective, c *tuning.Contrast, s *Search) []string {
	row := []string{objectiveLabel(o), workloadLabel(c.Workload), s.againstName(c.As), "not measured", "not known", "not known"}
	if c.Delta.Mean != nil {
		row[3] = signed(*c.Delta.Mean, o.Unit)
	}
	if lo, hi, ok := c.Delta.Ends(); ok {
		row[4] = signed(lo, o.Unit) + " to " + signed(hi, o.Unit)
	}
	if c.Relative.Mean != nil {
		row[5] = ChangeShare(*c.Relative.Mean)
	}
	return row
}

// signed prints a difference with its sign.
func signed(v float64, unit string) string {
	if v > 0 {
		return "+" + Quantity(v, unit)
	}
	if v < 0 {
		return "−" + Quantity(-v, unit)
	}
	return Quantity(0, unit)
}

// ChangeShare prints a relative change: −83 %.
func ChangeShare(v float64) string {
	t := digits(math.Abs(v)*100) + noBreak + "%"
	switch {
	case v > 0:
		return "+" + t
	case v < 0:
		return "−" + t
	}
	return t
}

// interval is a mean with its half-width in a row of a forest plot.
type interval struct {
	series     int
	mean, half float64
	sure       bool // filled
}

type forestRow []interval

// forest draws rows of intervals.
type forest []forestRow

func (f forest) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for i, row := range f {
		for _, v := range row {
			y := ty(float64(i))
			if len(row) > 1 {
				y += vg.Length(3.6 - 7.2*float64(v.series))
			}
			sty := solid(v.series)
			x0, x1 := clampX(c, tx(v.mean-v.half)), clampX(c, tx(v.mean+v.half))
			c.StrokeLine2(sty, x0, y, x1, y)
			at := vg.Point{X: clampX(c, tx(v.mean)), Y: y}
			g := draw.GlyphStyle{Color: sty.Color, Radius: 2.8, Shape: draw.CircleGlyph{}}
			if v.series%2 == 1 {
				g.Shape = draw.BoxGlyph{}
			}
			c.DrawGlyphNoClip(g, at)
			if !v.sure {
				g.Color, g.Radius = tonePaper.color(), 1.7
				c.DrawGlyphNoClip(g, at)
			}
		}
	}
}

func clampX(c draw.Canvas, x vg.Length) vg.Length { return min(max(x, c.Min.X), c.Max.X) }

// solid is the colour of a series without its dashes.
func solid(i int) draw.LineStyle {
	sty := seriesStyle(i)
	sty.Dashes = nil
	return sty
}

// vertical is a line at one value of x.
type vertical struct {
	x   float64
	sty draw.LineStyle
}

func (v vertical) Plot(c draw.Canvas, p *plot.Plot) {
	tx, _ := p.Transforms(&c)
	if v.x >= p.X.Min && v.x <= p.X.Max {
		c.StrokeLine2(v.sty, tx(v.x), c.Min.Y, tx(v.x), c.Max.Y)
	}
}
