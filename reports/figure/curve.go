package figure

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"

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

// CurveLine is one series of a curve. Smooth ones are joined in the order of X,
// the others are points with intervals of Y - Half .. Y + Half where Half is given.
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
	if room := (xhi - xlo) / 40; !c.XLog { // no point stands on the frame
		xlo, xhi = xlo-room, xhi+room
	}
	curveAxis(&p.X, c.XLabel, c.XLog, xlo, xhi)
	if !c.YLog {
		ylo = min(ylo, 0)
	}
	curveAxis(&p.Y, c.YLabel, c.YLog, ylo, yhi*1.05)
	p.Add(grid{x: true, y: true})
	panel := Panel{Plot: p, Height: 220}
	table := Table{Head: []string{"series", c.XLabel, c.YLabel}}
	series := 0 // of points
	for i := range c.Lines {
		l := &c.Lines[i]
		pts, half := l.points()
		if len(pts) == 0 {
			continue
		}
		sty := seriesStyle(i)
		if l.Smooth {
			p.Add(line{pts: pts, sty: sty})
			panel.Legend = append(panel.Legend, Key{Label: l.Name, Line: sty})
			continue
		}
		sty.Dashes = nil
		mark := draw.GlyphStyle{Color: sty.Color, Radius: vg.Points(3), Shape: hollowShape(series)}
		series++
		p.Add(measured{pts: pts, half: half, sty: sty, mark: mark})
		panel.Legend = append(panel.Legend, Key{Label: l.Name, Mark: mark})
		for _, q := range pts {
			table.Rows = append(table.Rows, []string{l.Name, tickNumber(q.x), tickNumber(q.y)})
		}
	}
	return Figure{Name: c.Name, Title: c.Title, Panels: []Panel{panel}, Table: table}
}

// points are the points of a line that are numbers: those of a smooth one from
// left to right, of another as they come, with their intervals.
func (l *CurveLine) points() (pts []xy, half []float64) {
	for i := range min(len(l.X), len(l.Y)) {
		if finite(l.X[i]) && finite(l.Y[i]) {
			pts = append(pts, xy{l.X[i], l.Y[i]})
			if i < len(l.Half) {
				half = append(half, l.Half[i])
			} else {
				half = append(half, 0)
			}
		}
	}
	if l.Smooth {
		slices.SortStableFunc(pts, func(a, b xy) int { return cmp.Compare(a.x, b.x) })
		return pts, nil
	}
	return pts, half
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
	s := plainScale
	if what, ok := strings.CutSuffix(label, " (bytes)"); ok && hi >= 100e3 {
		label, s = what, pick(byteScales, hi)
	}
	if log && lo > 0 {
		logarithmic(a, label, s, lo/1.1, hi*1.1)
		return
	}
	linear(a, label, s, lo, hi)
}

// ring is the mark of a measured point.
func ring(c color.Color) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: vg.Points(3), Shape: draw.RingGlyph{}}
}

// measured are points with their intervals.
type measured struct {
	pts  []xy
	half []float64
	sty  draw.LineStyle
	mark draw.GlyphStyle
}

func (d measured) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	glyph := d.mark
	if len(d.pts) > 60 {
		glyph.Radius = vg.Points(1)
	}
	for i, q := range d.pts {
		at := vg.Point{X: tx(q.x), Y: ty(q.y)}
		if d.half[i] > 0 && finite(d.half[i]) {
			c.StrokeLine2(d.sty, at.X, max(ty(q.y-d.half[i]), c.Min.Y), at.X, min(ty(q.y+d.half[i]), c.Max.Y))
		}
		c.DrawGlyph(glyph, at)
	}
}
