package figure

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heat draws rows of shares in 0..1 as cells whose shade is their level. A
// level is painted under all higher ones, so that no seam shows between cells.
type heat struct {
	x    []float64   // borders of columns
	rows [][]float64 // nil = a row without cells
	head []string    // of rows without cells
}

func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for i, s := range h.head {
		if s != "" {
			c.FillText(textOf(toneInk, 9, true), vg.Point{X: c.Min.X, Y: ty(float64(i)) - 1}, s)
		}
	}
	for level := range heatTones {
		var path vg.Path
		for i, row := range h.rows {
			y0, y1 := ty(float64(i)+0.44), ty(float64(i)-0.44)
			for a := 0; a < len(row); {
				if heatLevel(row[a]) < level {
					a++
					continue
				}
				b := a
				for b < len(row) && heatLevel(row[b]) >= level {
					b++
				}
				path = appendRect(path, tx(h.x[a]), y0, tx(h.x[b]), y1)
				a = b
			}
		}
		if len(path) > 0 {
			c.SetColor(heatTones[level].color())
			c.Fill(path)
		}
	}
}

func appendRect(p vg.Path, x0, y0, x1, y1 vg.Length) vg.Path {
	p.Move(vg.Point{X: x0, Y: y0})
	p.Line(vg.Point{X: x1, Y: y0})
	p.Line(vg.Point{X: x1, Y: y1})
	p.Line(vg.Point{X: x0, Y: y1})
	p.Close()
	return p
}

// heatKeys is the legend of a heat map.
func heatKeys() []Key {
	keys := []Key{}
	labels := []string{"below 10 %", "", "20 – 30 %", "", "40 – 50 %", "", "60 – 70 %", "", "80 – 90 %", "above 90 %"}
	for i, t := range heatTones {
		if labels[i] != "" {
			keys = append(keys, Key{Label: labels[i], Fill: t.color()})
		}
	}
	return keys
}

// timelines draws one row per object: how high the bar stands is the share of
// each column of time.
type timelines struct {
	x    []float64
	rows [][]float32
	tone func(row int) Tone
}

func (g timelines) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for i, row := range g.rows {
		base, full := ty(float64(i)+0.36), ty(float64(i)-0.36)
		c.StrokeLine2(lineOf(toneGrid, 0.6), c.Min.X, base, c.Max.X, base)
		var path vg.Path
		for a := 0; a < len(row); {
			b := a + 1
			for b < len(row) && row[b] == row[a] {
				b++
			}
			if row[a] > 0 {
				x0, x1 := tx(g.x[a]), tx(g.x[b])
				path = appendRect(path, x0, base, max(x1, x0+0.4), base+(full-base)*vg.Length(min(row[a], 1)))
			}
			a = b
		}
		if len(path) > 0 {
			c.SetColor(g.tone(i).color())
			c.Fill(path)
		}
	}
}
