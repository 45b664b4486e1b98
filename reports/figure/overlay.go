package figure

import (
	"fmt"
	"math"
	"strings"

	"rdmasim/sim/trace"
)

// Digest is what an overlay of several runs needs of one of them; the run
// itself can be forgotten.
type Digest struct {
	Label         string
	Clock         Clock
	FCT, Slowdown []float64 // sorted
	Goodput       []float32 // sum over queue pairs, bit/s, by column; nil = not recorded
	Queue         []float32 // longest queue, bytes
	Paused        []float32 // how many priorities of ports were paused, averaged over a column
	CNPs          []float32 // per second
	Line          float64   // rate to which Normalise has scaled it, bit/s; 0 = not normalised
}

// NewDigest takes what overlays need out of a run.
func NewDigest(r *Run, label string) Digest {
	d := Digest{Label: label, Clock: r.Clock, FCT: r.Flows.values(r.Flows.FCT, -1), Slowdown: r.Flows.values(r.Flows.Slowdown, -1)}
	if list := r.Series[trace.SeriesGoodput]; len(list) > 0 {
		d.Goodput = r.sum(list)
	}
	if list := r.onSwitches(r.Series[trace.SeriesQueueBytes]); len(list) > 0 {
		d.Queue = make([]float32, r.Clock.Columns)
		for _, s := range list {
			for i, v := range s.Mean {
				d.Queue[i] = max(d.Queue[i], v)
			}
		}
	}
	if list := r.Series[trace.SeriesCNP]; len(list) > 0 {
		d.CNPs = r.sum(list)
	}
	if len(r.Pauses) > 0 {
		d.Paused = make([]float32, r.Clock.Columns)
		for _, p := range r.Pauses {
			for i, v := range p.Share {
				d.Paused[i] += v
			}
		}
	}
	return d
}

// Overlay draws what several runs have in common over each other. Of more runs
// than can be told apart it draws the first ones.
func Overlay(list []Digest) []Figure {
	note := ""
	if len(list) > maxNamed {
		note = fmt.Sprintf(" Only the first %d of %d runs are drawn.", maxNamed, len(list))
		list = list[:maxNamed]
	}
	u := unitsOf(list)
	figures := []Figure{
		overlayCDF("fct_cdf", "flow completion time"+u.times1, u.times, u.printTime, list, func(d *Digest) []float64 { return d.FCT }),
		overlayCDF("slowdown_cdf", "slowdown", []scale{plainScale}, Number, list, func(d *Digest) []float64 { return d.Slowdown }),
		overlayTime("goodput", "total goodput", u.rates1, u.rates, u.printRate, list, func(d *Digest) []float32 { return d.Goodput }),
		overlayTime("queue", "longest queue", "", byteScales, Size, list, func(d *Digest) []float32 { return d.Queue }),
		overlayTime("cnp", "CNPs", "", u.cnps, u.printCNPs, list, func(d *Digest) []float32 { return d.CNPs }),
		overlayTime("paused", "paused priorities of ports", "", []scale{plainScale}, Number, list, func(d *Digest) []float32 { return d.Paused }),
	}
	for i := range figures {
		if len(figures[i].Panels) > 0 {
			figures[i].Caption += note
		}
	}
	return figures
}

func overlayCDF(name, what string, scales []scale, print func(float64) string, list []Digest, get func(*Digest) []float64) Figure {
	f := Figure{Name: name, Title: Capital(what) + ", distribution", Table: Table{Head: []string{"run", "messages", "mean", "p50", "p95", "p99", "max"}}}
	p := newPlot()
	panel := Panel{Plot: p, Height: 270}
	lo, hi := 0.0, 0.0
	var missing []string
	p.Add(grid{x: true, y: true})
	for i := range list {
		s := get(&list[i])
		if len(s) == 0 {
			missing = append(missing, list[i].Label)
			continue
		}
		if hi == 0 {
			lo = s[0]
		}
		lo, hi = min(lo, s[0]), max(hi, s[len(s)-1])
		p.Add(line{pts: cdfPoints(s), sty: seriesStyle(i), step: true})
		panel.Legend = append(panel.Legend, Key{Label: list[i].Label, Line: seriesStyle(i)})
		f.Table.Rows = append(f.Table.Rows, summaryRow(list[i].Label, s, print))
	}
	if hi == 0 {
		return Figure{Name: name, Title: f.Title, Empty: "No run has completed messages of which it is known."}
	}
	cdfAxes(p, lo, hi, cdfText{axis: what, scales: scales})
	f.Panels = []Panel{panel}
	f.Caption = "Farther left is better: a larger share of the messages took less." + f.notMeasured(missing)
	return f
}

func overlayTime(name, what, measure string, scales []scale, print func(float64) string, list []Digest, get func(*Digest) []float32) Figure {
	f := Figure{Name: name, Title: Capital(what) + " over time" + measure, Table: Table{Head: []string{"run", "mean", "maximum of a bin"}}}
	p := newPlot()
	panel := Panel{Plot: p, Height: 250}
	p.Add(grid{x: true, y: true})
	top, begin, end := 0.0, math.Inf(1), 0.0
	var missing []string
	for i := range list {
		d := &list[i]
		v := get(d)
		if v == nil {
			missing = append(missing, d.Label)
			continue
		}
		begin, end = min(begin, d.x(d.Clock.Start(0))), max(end, d.x(d.Clock.End.Seconds()))
		r := Run{Clock: d.Clock}
		pts := r.points(v)
		for k := range pts {
			pts[k].x = d.x(pts[k].x)
		}
		p.Add(line{pts: pts, sty: seriesStyle(i), step: true})
		panel.Legend = append(panel.Legend, Key{Label: list[i].Label, Line: seriesStyle(i)})
		top = max(top, maxOf32(v))
		f.Table.Rows = append(f.Table.Rows, []string{list[i].Label, print(list[i].Clock.mean(v)), print(maxOf32(v))})
	}
	if top == 0 {
		return Figure{Name: name, Title: f.Title, Empty: "No run recorded any." + f.notMeasured(missing)}
	}
	u := unitsOf(list)
	linear(&p.X, u.time, pick(u.times, end), begin, end)
	linear(&p.Y, what+strings.TrimPrefix(measure, ","), pick(scales, top), 0, top*1.08)
	f.Panels = []Panel{panel}
	f.Caption = fmt.Sprintf("%s of %s over the same time.", Capital(what), Count(len(f.Table.Rows), "run")) + f.notMeasured(missing)
	return f
}

// notMeasured says in a sentence and in the table which runs have no such figure.
func (f *Figure) notMeasured(runs []string) string {
	if len(runs) == 0 {
		return ""
	}
	for _, label := range runs {
		row := []string{label}
		for range f.Table.Head[1:] {
			row = append(row, "not measured")
		}
		f.Table.Rows = append(f.Table.Rows, row)
	}
	return " Not measured by " + List(runs) + "."
}

// mean weighs columns by how long they are.
func (c Clock) mean(v []float32) float64 {
	sum := 0.0
	for i, x := range v {
		sum += float64(x) * c.span(i).Seconds()
	}
	return sum / c.length().Seconds()
}
