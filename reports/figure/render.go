package figure

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Measures of a figure in points.
const (
	Width       vg.Length = 720
	margin      vg.Length = 10
	titleHeight vg.Length = 26
	legendRow   vg.Length = 16
	legendThumb vg.Length = 22
	legendRing  vg.Length = 8
	panelGap    vg.Length = 10

	// axisLabelWidth is the room for the name of a vertical axis.
	axisLabelWidth vg.Length = 19

	// pngDPI gives 1500 pixels of width: sharp in a paper's column.
	pngDPI = 150
)

// legendRows lays keys out in rows that fit into width.
func legendRows(keys []Key, width vg.Length) [][]Key {
	sty := textOf(toneInk, sizeTick, false)
	var rows [][]Key
	var x vg.Length
	for _, k := range keys {
		k.Label = elide(k.Label, maxName)
		w := k.thumb() + 5 + textWidth(sty, k.Label) + 14
		if len(rows) == 0 || x+w > width {
			rows, x = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], k)
		x += w
	}
	return rows
}

// thumb is the room for what stands before the label.
func (k *Key) thumb() vg.Length {
	switch {
	case k.Ring != nil || k.Mark.Shape != nil:
		return legendRing
	case k.Fill == nil && k.Line.Width == 0:
		return 0 // words alone
	}
	return legendThumb
}

func (p *Panel) legendHeight() vg.Length {
	n := len(legendRows(p.Legend, Width-2*margin))
	if n == 0 {
		return 0
	}
	return vg.Length(n)*legendRow + 4
}

// height is that of the whole figure.
func (f *Figure) height(title bool) vg.Length {
	h := 2 * margin
	if title {
		h += titleHeight
	}
	for i := range f.Panels {
		if i > 0 {
			h += panelGap
		}
		h += f.Panels[i].Height + f.Panels[i].legendHeight()
	}
	return h
}

// draw draws the figure on a canvas of its size.
func (f *Figure) draw(c draw.Canvas, title bool) {
	area := draw.Crop(c, margin, -margin, margin, -margin)
	if title {
		sty := textOf(toneInk, sizeTitle, true)
		c.FillText(sty, vg.Point{X: area.Min.X, Y: area.Max.Y - titleHeight/2 + 3}, f.Title)
		area.Max.Y -= titleHeight
	}
	type placed struct {
		plot  plot.Plot
		tile  draw.Canvas
		label string
	}
	list := make([]placed, len(f.Panels))
	var left, right vg.Length
	for i := range f.Panels {
		p := &f.Panels[i]
		if i > 0 {
			area.Max.Y -= panelGap
		}
		drawLegend(area, p.Legend)
		area.Max.Y -= p.legendHeight()
		l := &list[i]
		l.plot, l.tile, l.label = *p.Plot, area, p.Plot.Y.Label.Text
		l.plot.Y.Label.Text = "" // drawn here, so that labels of stacked panels align
		l.tile.Min.Y = area.Max.Y - p.Height
		area.Max.Y = l.tile.Min.Y
		if l.label != "" {
			l.tile.Min.X += axisLabelWidth
		}
		data := l.plot.DataCanvas(l.tile)
		left, right = max(left, data.Min.X-area.Min.X), max(right, l.tile.Max.X-data.Max.X)
	}
	for i := range list {
		l := &list[i]
		data := l.plot.DataCanvas(l.tile)
		tile := draw.Crop(l.tile, left-(data.Min.X-area.Min.X), l.tile.Max.X-data.Max.X-right, 0, 0)
		l.plot.Draw(tile)
		drawAxisLabel(area, (data.Min.Y+data.Max.Y)/2, l.label)
	}
}

// drawAxisLabel writes the name of a vertical axis at the left edge.
func drawAxisLabel(area draw.Canvas, y vg.Length, label string) {
	if label == "" {
		return
	}
	sty := textOf(toneInk, sizeLabel, false)
	sty.Rotation, sty.XAlign, sty.YAlign = math.Pi/2, text.XCenter, text.YTop
	area.FillText(sty, vg.Point{X: area.Min.X, Y: y}, label)
}

func drawLegend(area draw.Canvas, keys []Key) {
	sty := textOf(toneInk, sizeTick, false)
	y := area.Max.Y - legendRow/2
	for _, row := range legendRows(keys, area.Max.X-area.Min.X) {
		x := area.Min.X
		for _, k := range row {
			if k.Fill != nil {
				area.FillPolygon(k.Fill, rect(x, y-4, x+legendThumb, y+4))
			}
			if k.Line.Width > 0 {
				area.StrokeLine2(k.Line, x, y, x+legendThumb, y)
			}
			if k.Ring != nil {
				area.DrawGlyph(ring(k.Ring), vg.Point{X: x + k.thumb()/2, Y: y})
			}
			if k.Mark.Shape != nil {
				area.DrawGlyph(k.Mark, vg.Point{X: x + k.thumb()/2, Y: y})
			}
			area.FillText(sty, vg.Point{X: x + k.thumb() + 5, Y: y}, k.Label)
			x += k.thumb() + 5 + textWidth(sty, k.Label) + 14
		}
		y -= legendRow
	}
}

func rect(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}

// SVG returns the figure as a file: title included, on white.
func (f *Figure) SVG() []byte {
	h := f.height(true)
	c := vgsvg.NewWith(vgsvg.UseWH(Width, h))
	d := draw.New(c)
	d.FillPolygon(color.White, rect(d.Min.X, d.Min.Y, d.Max.X, d.Max.Y))
	f.draw(d, true)
	return []byte(cleanSVG(svgText(c), f.Title))
}

// InlineSVG returns the figure as an element of a page: no title, no
// background, and CSS variables in place of colours (see AllTones).
func (f *Figure) InlineSVG() string {
	c := vgsvg.NewWith(vgsvg.UseWH(Width, f.height(false)))
	f.draw(draw.New(c), false)
	s := toneVariables.Replace(cleanSVG(svgText(c), f.Title))
	return s[strings.Index(s, "<svg"):]
}

// PNG returns the figure as an image of 150 dots per inch, title included, on white.
func (f *Figure) PNG() ([]byte, error) {
	c := vgimg.NewWith(vgimg.UseWH(Width, f.height(true)), vgimg.UseDPI(pngDPI), vgimg.UseBackgroundColor(color.White))
	f.draw(draw.New(c), true)
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&b, c.Image()); err != nil {
		return nil, fmt.Errorf("figure %s: %w", f.Name, err)
	}
	return b.Bytes(), nil
}

func svgText(c *vgsvg.Canvas) string {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		panic(err) // a bytes.Buffer does not fail
	}
	return b.String()
}

var (
	svgHead  = regexp.MustCompile(`(?s)<\?xml.*?<svg width="[^"]*" height="[^"]*" viewBox="([^"]*)"[^>]*>`)
	svgFont  = regexp.MustCompile(`font-family:[^;]*;font-variant:[^;]*;`)
	svgPlain = strings.NewReplacer("font-weight:normal;", "", "font-style:normal;", "", "\n\t", " ")
)

// cleanSVG gives the drawing a size that follows its container, fonts with
// fallbacks of the same metrics, and a title for screen readers.
func cleanSVG(s, title string) string {
	s = svgHead.ReplaceAllString(s, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="$1" width="$1" role="img" font-family="'Liberation Sans',Arial,Helvetica,sans-serif">`+
		"\n<title>"+escape(title)+"</title>")
	s = strings.Replace(s, sizeAttr(s), svgSize(s), 1)
	return svgPlain.Replace(svgFont.ReplaceAllString(s, ""))
}

func sizeAttr(s string) string {
	i := strings.Index(s, ` width="`)
	j := strings.Index(s[i+8:], `"`)
	return s[i : i+8+j+1]
}

// svgSize turns the viewBox into width and height.
func svgSize(s string) string {
	var x, y, w, h float64
	a := sizeAttr(s)
	if _, err := fmt.Sscanf(a, ` width="%g %g %g %g"`, &x, &y, &w, &h); err != nil {
		return ""
	}
	return fmt.Sprintf(` width="%g" height="%g"`, w, h)
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
