package figure

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curve is what was measured beside what a formula says, for Draw.
type Curve struct {
	Name, Title    string
	XLabel, YLabel string // with their units
	XLog, YLog     bool
	Lines          []CurveLine
}

// CurveLine is one series of a curve. Smooth ones are joined, the others are
// points with intervals of Y - Half .. Y + Half where Half is given.
type CurveLine struct {
	Name       string
	Smooth     bool
	X, Y, Half []float64
}

// Figure draws the curve.
func (c Curve) Figure() Figure {
	p := newPlot()
	xlo, xhi := c.span(func(l *CurveLine, i int) (float64, float64) { return l.X[i], l.X[i] })
	ylo, yhi := c.span(func(l *CurveLine, i int) (float64, float64) {
		h := 0.0
		if i < len(l.Half) && l.Half[i] > 0 && !math.IsInf(l.Half[i], 0) {
			h = l.Half[i]
		}
		return l.Y[i] - h, l.Y[i] + h
	})
	if math.IsInf(xlo, 1) {
		return empty(c.Title, "There is nothing to draw.")
	}
	curveAxis(&p.X, c.XLabel, c.XLog, xlo, xhi)
	if !c.YLog {
		ylo = min(ylo, 0)
	}
	curveAxis(&p.Y, c.YLabel, c.YLog, ylo, yhi*1.05)
	p.Add(grid{x: true, y: true})
	panel := Panel{Plot: p, Height: 220}
	table := Table{Head: []string{"series", c.XLabel, c.YLabel}}
	for i := range c.Lines {
		l := &c.Lines[i]
		pts := l.points()
		if len(pts) == 0 {
			continue
		}
		sty := seriesStyle(i)
		if l.Smooth {
			p.Add(line{pts: pts, sty: sty})
		} else {
			sty.Dashes = nil
			p.Add(measured{pts: pts, half: l.Half, sty: sty})
			for _, q := range pts {
				table.Rows = append(table.Rows, []string{l.Name, tickNumber(q.x), tickNumber(q.y)})
			}
		}
		panel.Legend = append(panel.Legend, Key{Label: l.Name, Line: sty})
	}
	return Figure{Name: c.Name, Title: c.Title, Panels: []Panel{panel}, Table: table}
}

// points are the points of a line that are numbers.
func (l *CurveLine) points() []xy {
	var pts []xy
	for i := range min(len(l.X), len(l.Y)) {
		if finite(l.X[i]) && finite(l.Y[i]) {
			pts = append(pts, xy{l.X[i], l.Y[i]})
		}
	}
	return pts
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// span returns the extent of all points.
func (c *Curve) span(of func(*CurveLine, int) (lo, hi float64)) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for k := range c.Lines {
		l := &c.Lines[k]
		for i := range min(len(l.X), len(l.Y)) {
			if a, b := of(l, i); finite(a) && finite(b) {
				lo, hi = min(lo, a), max(hi, b)
			}
		}
	}
	return lo, hi
}

func curveAxis(a *plot.Axis, label string, log bool, lo, hi float64) {
	one := scale{div: 1}
	if log && lo > 0 {
		logarithmic(a, label, one, lo/1.1, hi*1.1)
		return
	}
	linear(a, label, one, lo, hi)
}

// measured are points with their intervals.
type measured struct {
	pts  []xy
	half []float64
	sty  draw.LineStyle
}

func (d measured) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	glyph := draw.GlyphStyle{Color: d.sty.Color, Radius: vg.Points(3), Shape: draw.RingGlyph{}}
	if len(d.pts) > 60 {
		glyph.Radius = vg.Points(1)
	}
	for i, q := range d.pts {
		at := vg.Point{X: tx(q.x), Y: ty(q.y)}
		if i < len(d.half) && d.half[i] > 0 && finite(d.half[i]) {
			c.StrokeLine2(d.sty, at.X, max(ty(q.y-d.half[i]), c.Min.Y), at.X, min(ty(q.y+d.half[i]), c.Max.Y))
		}
		c.DrawGlyph(glyph, at)
	}
}
