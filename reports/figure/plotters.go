package figure

import (
	"image/color"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// xy is a point in data coordinates.
type xy struct{ x, y float64 }

// line joins points; with step set it holds each value until the next point.
type line struct {
	pts  []xy
	sty  draw.LineStyle
	step bool
}

func (l line) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	pts := make([]vg.Point, 0, 2*len(l.pts))
	for i, q := range l.pts {
		v := vg.Point{X: tx(q.x), Y: ty(q.y)}
		if l.step && i > 0 {
			pts = append(pts, vg.Point{X: v.X, Y: pts[len(pts)-1].Y})
		}
		pts = append(pts, v)
	}
	c.StrokeLines(l.sty, c.ClipLinesXY(collinear(pts))...)
}

// collinear drops points inside horizontal and vertical stretches.
func collinear(pts []vg.Point) []vg.Point {
	const eps = 0.02
	flat := func(a, b vg.Length) bool { d := a - b; return d < eps && d > -eps }
	out := pts[:0:0]
	for _, p := range pts {
		if n := len(out); n >= 2 {
			a, b := out[n-2], out[n-1]
			if flat(a.Y, b.Y) && flat(b.Y, p.Y) && p.X >= b.X && b.X >= a.X || flat(a.X, b.X) && flat(b.X, p.X) && (p.Y >= b.Y) == (b.Y >= a.Y) {
				out[n-1] = p
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// band fills between two step functions over the same x.
type band struct {
	x      []float64 // len(lo)+1 borders
	lo, hi []float64
	fill   color.Color
}

func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	if len(b.lo) == 0 {
		return
	}
	tx, ty := p.Transforms(&c)
	var up, down []vg.Point
	for i := range b.lo {
		x0, x1 := tx(b.x[i]), tx(b.x[i+1])
		up = append(up, vg.Point{X: x0, Y: ty(b.hi[i])}, vg.Point{X: x1, Y: ty(b.hi[i])})
		down = append(down, vg.Point{X: x0, Y: ty(b.lo[i])}, vg.Point{X: x1, Y: ty(b.lo[i])})
	}
	pts := collinear(up)
	down = collinear(down)
	for i := len(down) - 1; i >= 0; i-- {
		pts = append(pts, down[i])
	}
	c.FillPolygon(b.fill, c.ClipPolygonXY(pts))
}

// grid draws faint lines at the ticks of the axes asked for.
type grid struct{ x, y bool }

func (g grid) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	sty := lineOf(toneGrid, 0.6)
	if g.x {
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			c.StrokeLine2(sty, tx(t.Value), c.Min.Y, tx(t.Value), c.Max.Y)
		}
	}
	if g.y {
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			c.StrokeLine2(sty, c.Min.X, ty(t.Value), c.Max.X, ty(t.Value))
		}
	}
}

// level is a horizontal line with a name.
type level struct {
	y    float64
	name string
	sty  draw.LineStyle
	tone Tone
}

// levels draws levels with their names in the right margin, where they cover
// no data; names that would touch are moved apart.
type levels []level

func (l levels) Plot(c draw.Canvas, p *plot.Plot) {
	_, ty := p.Transforms(&c)
	shown := l.within(p)
	at := make([]vg.Length, len(shown))
	for i, v := range shown {
		at[i] = ty(v.y)
		c.StrokeLine2(v.sty, c.Min.X, at[i], c.Max.X, at[i])
		if i > 0 {
			at[i] = max(at[i], at[i-1]+sizeTick+1)
		}
	}
	for i, v := range shown {
		c.FillText(textOf(v.tone, sizeTick, false), vg.Point{X: c.Max.X + 4, Y: at[i]}, v.name)
	}
}

// within returns the levels in the range of the axis, from below.
func (l levels) within(p *plot.Plot) []level {
	var out []level
	for _, v := range l {
		if v.y >= p.Y.Min && v.y <= p.Y.Max {
			out = append(out, v)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].y < out[j].y })
	return out
}

// GlyphBoxes asks for room for the names at the right of the plot.
func (l levels) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	var boxes []plot.GlyphBox
	for _, v := range l.within(p) {
		w := textWidth(textOf(v.tone, sizeTick, false), v.name)
		boxes = append(boxes, plot.GlyphBox{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: w + 6}}})
	}
	return boxes
}

// halo clears what is behind a text.
func halo(c draw.Canvas, sty text.Style, at vg.Point, s string) {
	r := sty.Rectangle(s)
	c.FillPolygon(tonePaper.color(), rect(at.X+r.Min.X-2, at.Y+r.Min.Y, at.X+r.Max.X+2, at.Y+r.Max.Y))
}

// moment is a time with a name.
type moment struct {
	x    float64
	name string
}

// moments are vertical lines with their names at the top, in as many rows as
// keep the names apart.
type moments struct {
	list []moment // in order of time
	row  int      // the first one: others have names above
	sty  draw.LineStyle
}

func (ms moments) Plot(c draw.Canvas, p *plot.Plot) {
	tx, _ := p.Transforms(&c)
	sty := textOf(toneWarn, sizeTick-1, false)
	sty.YAlign = text.YTop
	var ends []vg.Length // of the last name in each row
	for _, m := range ms.list {
		if m.x < p.X.Min || m.x > p.X.Max {
			continue
		}
		x := tx(m.x)
		c.StrokeLine2(ms.sty, x, c.Min.Y, x, c.Max.Y)
		if m.name == "" {
			continue
		}
		width := textWidth(sty, m.name)
		left := x + 3
		if left+width > c.Max.X {
			left = x - 3 - width
		}
		row := 0
		for row < len(ends) && ends[row] > left {
			row++
		}
		if row == len(ends) {
			ends = append(ends, 0)
		}
		ends[row] = left + width + 4
		c.FillText(sty, vg.Point{X: left, Y: c.Max.Y - 2 - vg.Length(ms.row+row)*spanRow}, m.name)
	}
}

// dots marks points, with text beside them where given.
type dots struct {
	pts   []xy
	names []string
	shape draw.GlyphDrawer
	tone  Tone
	size  vg.Length
}

func (d dots) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	g := draw.GlyphStyle{Color: d.tone.color(), Radius: d.size, Shape: d.shape}
	for i, q := range d.pts {
		at := vg.Point{X: tx(q.x), Y: ty(q.y)}
		c.DrawGlyphNoClip(g, at)
		if i >= len(d.names) || d.names[i] == "" {
			continue
		}
		sty := textOf(toneInk, sizeTick, false)
		sty.YAlign = text.YTop
		pos := vg.Point{X: at.X + 6, Y: at.Y - 3}
		if pos.X+textWidth(sty, d.names[i]) > c.Max.X {
			sty.XAlign, pos.X = text.XRight, at.X-6
			sty.YAlign, pos.Y = text.YBottom, at.Y+3
		}
		if r := sty.Rectangle(d.names[i]); pos.Y+r.Min.Y < c.Min.Y+2 { // the ticks are below
			sty.YAlign, pos.Y = text.YBottom, at.Y+3
		}
		halo(c, sty, pos, d.names[i])
		c.FillText(sty, pos, d.names[i])
	}
}

// bars draws one horizontal bar per row of a nominal axis, from 0 to v.
type bars struct {
	v      []float64
	fill   color.Color
	border bool      // outline only: what is configured, around what was used
	height float64   // share of a row
	text   []string  // beside the end of each bar
	past   []float64 // texts stand beyond this value too, if given
}

func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	sty := textOf(toneInk, sizeTick, false)
	for i, v := range b.v {
		y0, y1 := ty(float64(i)+b.height/2), ty(float64(i)-b.height/2)
		x0, x1 := tx(p.X.Min), tx(max(v, p.X.Min))
		if b.border {
			pts := rect(x0, y0, x1, y1)
			c.StrokeLines(draw.LineStyle{Color: b.fill, Width: 1}, append(pts, pts[0]))
		} else if x1 > x0 {
			c.FillPolygon(b.fill, rect(x0, y0, max(x1, x0+0.7), y1))
		}
		if i < len(b.text) && b.text[i] != "" {
			x := x1
			if i < len(b.past) {
				x = max(x, tx(b.past[i]))
			}
			c.FillText(sty, vg.Point{X: x + 5, Y: (y0 + y1) / 2}, b.text[i])
		}
	}
}
