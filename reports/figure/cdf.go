package figure

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	_ = register("fct_cdf", "distribution of flow completion times", Flows, 1, func(r *Run) Figure {
		f := cdfFigure(r, r.Flows.FCT, cdfText{
			title: "Flow completion time", axis: "flow completion time", what: "messages",
			scales: timeScales, print: Seconds})
		return f
	})
	_ = register("slowdown_cdf", "distribution of slowdowns", Flows, 2, func(r *Run) Figure {
		return cdfFigure(r, r.Flows.Slowdown, cdfText{
			title: "Slowdown", axis: "slowdown (FCT / ideal FCT)", what: "messages",
			scales: []scale{plainScale}, print: Number})
	})
)

// cdfText says what a distribution is of.
type cdfText struct {
	title, axis, what string
	scales            []scale
	print             func(float64) string
}

// maxClasses bounds how many workloads get a curve of their own.
const maxClasses = 6

// cdfFigure draws the distribution of v over all completed messages and, if
// there are several workloads, over each.
func cdfFigure(r *Run, v []float64, t cdfText) Figure {
	all := r.Flows.values(v, -1)
	if len(all) == 0 {
		switch {
		case r.Flows.Total == 0:
			return empty(t.title, "The run has no messages.")
		case len(r.Flows.FCT) == 0:
			return empty(t.title, "No message completed.")
		}
		return empty(t.title, "The ideal completion time of the messages is not known.")
	}
	p := newPlot()
	cdfAxes(p, all[0], all[len(all)-1], t)
	p.Add(grid{x: true, y: true})
	f := Figure{Title: t.title + ": distribution", Table: Table{Head: []string{"workload", t.what, "mean", "p50", "p95", "p99", "max"}}}
	panel := Panel{Plot: p, Height: 270}
	add := func(name string, s []float64, i int) {
		p.Add(line{pts: cdfPoints(s), sty: seriesStyle(i), step: true})
		panel.Legend = append(panel.Legend, Key{Label: fmt.Sprintf("%s (%s)", name, Whole(len(s))), Line: seriesStyle(i)})
		f.Table.Rows = append(f.Table.Rows, summaryRow(name, s, t.print))
	}
	add("all messages", all, 0)
	if n := len(r.Flows.Workloads); n > 1 && n <= maxClasses {
		for w, name := range r.Flows.Workloads {
			if s := r.Flows.values(v, w); len(s) > 0 {
				add(orUnnamed(name), s, w+1)
			}
		}
	}
	marks := dots{shape: draw.CircleGlyph{}, tone: toneInk, size: vg.Points(3)}
	for _, q := range []float64{0.5, 0.99} {
		x := quantile(all, q)
		marks.pts = append(marks.pts, xy{x, q})
		marks.names = append(marks.names, fmt.Sprintf("p%d %s", int(q*100+0.5), t.print(x)))
	}
	if all[0] < all[len(all)-1] {
		p.Add(marks)
	}
	f.Panels = []Panel{panel}
	p50, p99 := quantile(all, 0.5), quantile(all, 0.99)
	f.Caption = fmt.Sprintf("Half of the %s that completed took at most %s and 99 %% at most %s; the slowest took %s.",
		t.what, t.print(p50), t.print(p99), t.print(all[len(all)-1]))
	if t.scales[0] == plainScale {
		f.Caption = fmt.Sprintf("Half of the %s took at most %s times their ideal time and 99 %% at most %s times; the worst took %s times.",
			t.what, t.print(p50), t.print(p99), t.print(all[len(all)-1]))
	}
	return f
}

func cdfAxes(p *plot.Plot, lo, hi float64, t cdfText) {
	s := pick(t.scales, hi)
	if hi > 10*lo {
		s = pick(t.scales, lo*3)
		logarithmic(&p.X, t.axis, s, lo, hi)
	} else {
		pad := (hi - lo) * 0.04
		linear(&p.X, t.axis, s, max(0, lo-pad), hi+pad)
	}
	linear(&p.Y, "share of messages", shareScale, 0, 1)
}

// cdfPoints returns at most a few hundred points of the distribution of sorted
// values, dense in the tail.
func cdfPoints(s []float64) []xy {
	n := len(s)
	pts := []xy{{s[0], 0}}
	const steps = 400
	if n <= steps {
		for i, v := range s {
			pts = append(pts, xy{v, float64(i+1) / float64(n)})
		}
		return pts
	}
	for i := range steps {
		k := (n - 1) * i / (steps - 1)
		pts = append(pts, xy{s[k], float64(k+1) / float64(n)})
	}
	return pts
}

func summaryRow(name string, s []float64, print func(float64) string) []string {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return []string{name, Whole(len(s)), print(sum / float64(len(s))), print(quantile(s, 0.5)), print(quantile(s, 0.95)),
		print(quantile(s, 0.99)), print(s[len(s)-1])}
}

func orUnnamed(s string) string {
	if s == "" {
		return "(no name)"
	}
	return s
}
