package figure

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// hollow is a closed polygon, as a mark that does not cover the line below it;
// corners are directions from the middle, in parts of a turn from the right. One
// without corners is a ring.
type hollow struct{ corners []float64 }

// cross is two strokes.
type cross struct{}

// markWidth is the stroke of marks: thinner ones are pale beside curves.
const markWidth vg.Length = 1.2

// hollowShape tells series of points apart without colour.
func hollowShape(i int) draw.GlyphDrawer {
	const up = 0.25
	return []draw.GlyphDrawer{
		hollow{},
		cross{},
		hollow{[]float64{0.125, 0.375, 0.625, 0.875}},
		hollow{[]float64{up, up + 1./3, up + 2./3}},
		hollow{[]float64{0, 0.25, 0.5, 0.75}},
		hollow{[]float64{-up, -up + 1./3, -up + 2./3}},
	}[i%6]
}

// DrawGlyph draws the mark.
func (h hollow) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: markWidth})
	var p vg.Path
	if len(h.corners) == 0 {
		p.Move(vg.Point{X: at.X + sty.Radius, Y: at.Y})
		p.Arc(at, sty.Radius, 0, 2*math.Pi)
	}
	for i, turn := range h.corners {
		sin, cos := math.Sincos(2 * math.Pi * turn)
		q := vg.Point{X: at.X + sty.Radius*1.25*vg.Length(cos), Y: at.Y + sty.Radius*1.25*vg.Length(sin)}
		if i == 0 {
			p.Move(q)
			continue
		}
		p.Line(q)
	}
	p.Close()
	c.Stroke(p)
}

// DrawGlyph draws the mark.
func (cross) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	s := draw.LineStyle{Color: sty.Color, Width: markWidth}
	r := sty.Radius
	c.StrokeLine2(s, at.X-r, at.Y-r, at.X+r, at.Y+r)
	c.StrokeLine2(s, at.X-r, at.Y+r, at.X+r, at.Y-r)
}
