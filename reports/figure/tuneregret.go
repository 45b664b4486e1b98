package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var _ = registerTune("regret", "regret of settings by workload", TuneRobust, 1, tuneRegret)

const (
	regretRows    = 14
	regretColumns = 12
)

// tuneRegret draws the regret of the settings that matter under each workload.
func tuneRegret(s *Search) Figure {
	const title = "Regret by workload"
	f := Figure{Title: title, Table: Table{Head: append([]string{"settings"}, s.workloadNames()...)}}
	f.Table.Head = append(f.Table.Head, "worst")
	var names []string
	var rows [][]float64
	top := 0.0
	for _, p := range s.notable(regretRows) {
		row := make([]float64, len(s.Workloads))
		text := []string{s.pointName(p)}
		known := false
		for w := range s.Workloads {
			row[w] = math.NaN()
			if r := p.Cells[w].Regret; r != nil {
				row[w], known = *r, true
				top = max(top, *r)
				text = append(text, Number(*r))
			} else {
				text = append(text, "–")
			}
		}
		if !known {
			continue
		}
		worst := "–"
		if p.Regret != nil {
			worst = Number(*p.Regret)
		}
		names, rows = append(names, s.pointName(p)), append(rows, row)
		f.Table.Rows = append(f.Table.Rows, append(text, worst))
	}
	if len(rows) == 0 {
		f.Empty = "Regret was not computed."
		return f
	}
	n := min(len(s.Workloads), regretColumns)
	p := newPlot()
	nominal(&p.Y, names)
	p.Y.LineStyle.Width = 0
	p.X.Min, p.X.Max = -0.5, float64(n)-0.5
	p.X.LineStyle.Width, p.X.Tick.Length = 0, 0
	p.X.Tick.Marker = plot.TickerFunc(func(float64, float64) []plot.Tick {
		var t []plot.Tick
		for w := range n {
			t = append(t, plot.Tick{Value: float64(w), Label: elide(s.Workloads[w].Name, max(8, 90/n))})
		}
		return t
	})
	p.Add(matrix{rows: rows, n: n, top: top})
	f.Panels = []Panel{{Plot: p, Height: vg.Length(len(rows))*20 + 34, Legend: []Key{
		{Label: "0: nothing that was tried does better", Fill: levelTone(0).color()}, {Label: Number(top) + ": the worst shown", Fill: levelTone(thresholdLevels - 1).color()}}}}
	f.Caption = fmt.Sprintf("How much worse each setting is than the best that was found for that workload alone; %s.", s.regretWords())
	if len(s.Workloads) > n {
		f.Caption += fmt.Sprintf(" The first %d of %d workloads.", n, len(s.Workloads))
	}
	return f
}

func (s *Search) regretWords() string {
	if p := s.Best(); p != nil && p.Regret != nil {
		name := "the recommended one never exceeds"
		if s.Winner == nil {
			name = "the best of the search never exceeds"
		}
		return fmt.Sprintf("%s %s", name, Number(*p.Regret))
	}
	return "the worst over workloads decides"
}

// matrix draws numbers as shaded cells, the darker the larger.
type matrix struct {
	rows [][]float64
	n    int // columns
	top  float64
}

func (m matrix) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	sty := textOf(toneInk, sizeTick, false)
	sty.XAlign = text.XCenter
	for i, row := range m.rows {
		for w := range m.n {
			v := row[w]
			at := vg.Point{X: tx(float64(w)), Y: ty(float64(i))}
			if math.IsNaN(v) {
				c.FillText(sty, at, "–")
				continue
			}
			level := 0
			if m.top > 0 {
				level = min(max(int(v/m.top*thresholdLevels), 0), thresholdLevels-1)
			}
			c.FillPolygon(levelTone(level).color(), rect(tx(float64(w)-0.48), ty(float64(i)+0.46), tx(float64(w)+0.48), ty(float64(i)-0.46)))
			label := sty
			if level >= 3 {
				label.Color = tonePaper.color()
			}
			c.FillText(label, at, Number(v))
		}
	}
}

func sortXY(list []xy) {
	slices.SortStableFunc(list, func(a, b xy) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(b.y, a.y)) })
}
