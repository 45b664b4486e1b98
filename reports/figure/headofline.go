package figure

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"rdmasim/reports/metric"
)

var _ = register("head_of_line", "which root of pauses cost which traffic time, although it does not cross it", Pauses, 3, headOfLine)

// Most rows and columns of the matrix.
const (
	blockRoots = 12
	blockDsts  = 16
)

// headOfLine draws the head-of-line matrix: a row per root of pauses, a column
// per destination, and in each cell what traffic to that destination lost to
// that root without crossing it.
func headOfLine(r *Run) Figure {
	const title = "Head of line: what blocks what"
	p := r.Forensics
	switch {
	case p == nil || len(p.Roots) == 0 && r.Metrics.PFC.Episodes == nil:
		return empty(title, "Not measured.")
	case len(p.Roots) == 0:
		return empty(title, "No port was paused.")
	case len(p.Blocking) == 0:
		return empty(title, "No flow lost time to pauses whose root it does not cross.")
	}
	m := newBlockMatrix(p.Blocking)
	f := Figure{Title: title, Table: victimTable(p)}
	pl := newPlot()
	nominal(&pl.Y, m.roots)
	pl.X.Min, pl.X.Max = -0.5, float64(len(m.dsts))-0.5
	letters := max(84/len(m.dsts), 4)
	ticks := make([]plot.Tick, len(m.dsts))
	for i, d := range m.dsts {
		ticks[i] = plot.Tick{Value: float64(i), Label: elide(d, letters)}
	}
	pl.X.Tick.Marker = plot.ConstantTicks(ticks)
	pl.X.Tick.Length = 0
	pl.X.Label.Text = "traffic to"
	pl.Add(m)
	f.Panels = []Panel{{Plot: pl, Height: vg.Length(len(m.roots)*26) + 46}}
	top := p.Blocking[0]
	f.Caption = fmt.Sprintf("%s to %s lost %s to pauses that come from %s, where none of its packets pass.",
		Capital(Count(top.QPs, "queue pair")), top.Dst, Seconds(top.Lost), top.Root)
	if m.left > 0 {
		f.Caption += fmt.Sprintf(" %s that lost less are left out.", Count(m.left, "cell"))
	}
	return f
}

// blockMatrix is the matrix as it is drawn: roots and destinations in order of
// what was lost.
type blockMatrix struct {
	roots, dsts []string
	lost        [][]float64 // by root, destination; seconds
	most        float64
	left        int // cells that did not fit
}

func newBlockMatrix(list []metric.Blocking) *blockMatrix {
	m := &blockMatrix{}
	place := func(names *[]string, name string, most int) int {
		if i := slices.Index(*names, name); i >= 0 || len(*names) == most {
			return i
		}
		*names = append(*names, name)
		return len(*names) - 1
	}
	type cell struct{ row, column int }
	at := make([]cell, len(list))
	for i := range list { // most lost first
		at[i] = cell{place(&m.roots, list[i].Root, blockRoots), place(&m.dsts, list[i].Dst, blockDsts)}
	}
	for range m.roots {
		m.lost = append(m.lost, make([]float64, len(m.dsts)))
	}
	for i, c := range at {
		if c.row < 0 || c.column < 0 {
			m.left++
			continue
		}
		m.lost[c.row][c.column] += list[i].Lost
		m.most = max(m.most, m.lost[c.row][c.column])
	}
	return m
}

// Plot draws cells whose shade is their share of the largest, with what was lost.
func (m *blockMatrix) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for i, row := range m.lost {
		for k, lost := range row {
			x0, x1, y0, y1 := tx(float64(k)-0.48), tx(float64(k)+0.48), ty(float64(i)+0.46), ty(float64(i)-0.46)
			c.FillPolygon(toneGrid.color(), rect(x0, y0, x1, y1))
			if !(lost > 0) {
				continue
			}
			level := heatLevel(lost / m.most)
			c.FillPolygon(heatTones[level].color(), rect(x0, y0, x1, y1))
			tone := toneInk
			if level >= len(heatTones)/2 {
				tone = tonePaper
			}
			text, sty := Seconds(lost), textOf(tone, 9, false)
			if w := textWidth(sty, text); w < x1-x0-2 {
				c.FillText(sty, vg.Point{X: (x0+x1)/2 - w/2, Y: (y0 + y1) / 2}, text)
			}
		}
	}
}

// victimTable lists the queue pairs that lost time to roots that they do not cross.
func victimTable(p *metric.Pauses) Table {
	t := Table{Head: []string{"from", "to", "queue pair", "root", "kind", "stopped at", "messages", "lost", "share of its time"}}
	for i := range p.Victims {
		if i == 2*maxLines {
			t.Note = fmt.Sprintf("The first %s of %s; pauses.json has them.", Whole(i), Whole(len(p.Victims)))
			break
		}
		v := &p.Victims[i]
		t.Rows = append(t.Rows, []string{v.Src, v.Dst, fmt.Sprint(v.QP), v.Root, v.Kind, v.At, Whole(v.Messages), Seconds(v.Lost), Share(v.Share)})
	}
	return t
}
