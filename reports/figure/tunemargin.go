package figure

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"

	"rdmasim/reports/tuning"
)

var _ = registerTune("margin", "stability of congestion control against the number of flows", TuneRobust, 4, tuneMargin)

// tuneMargin draws the phase margin of the linear model against the number of
// flows that share the bottleneck.
func tuneMargin(s *Search) Figure {
	const title = "Stability against the number of flows"
	f := Figure{Title: title, Table: Table{Head: []string{"settings", "flows", "phase margin"}}}
	if s.Estimates == nil || len(s.Estimates.Margins) == 0 {
		f.Empty = "The phase margin was not computed: it is one of DCQCN, and needs an estimate of today's and the recommended settings."
		return f
	}
	var settings []string
	curves := map[string][]xy{}
	lo, hi, most := 0.0, 60.0, 2.0
	for _, m := range s.Estimates.Margins {
		if !slices.Contains(settings, m.Setting) {
			settings = append(settings, m.Setting)
		}
		if m.Degrees == nil {
			f.Table.Rows = append(f.Table.Rows, []string{m.Setting, Whole(m.Flows), "not valid"})
			continue
		}
		f.Table.Rows = append(f.Table.Rows, []string{m.Setting, Whole(m.Flows), Quantity(*m.Degrees, tuning.UnitDegrees)})
		curves[m.Setting] = append(curves[m.Setting], xy{float64(m.Flows), *m.Degrees})
		lo, hi, most = min(lo, *m.Degrees), max(hi, *m.Degrees), max(most, float64(m.Flows))
	}
	if len(curves) == 0 {
		f.Empty = "The linear model has no answer for any number of flows: its fixed point lies outside of the marking curve."
		return f
	}
	p := newPlot()
	logarithmic(&p.X, "flows that share the bottleneck", plainScale, 0.9, most*1.1)
	p.X.Tick.Marker = powersOfTwo(most)
	linear(&p.Y, "phase margin (degrees)", plainScale, lo-5, hi+8)
	p.Add(grid{x: true, y: true})
	panel := Panel{Plot: p, Height: 230}
	for i, name := range settings {
		pts := curves[name]
		if len(pts) == 0 || i >= maxNamed {
			continue
		}
		sortXY(pts)
		p.Add(line{pts: pts, sty: seriesStyle(i)})
		panel.Legend = append(panel.Legend, Key{Label: name, Line: seriesStyle(i)})
	}
	p.Add(levels{{y: 0, name: "oscillates below", sty: lineOf(toneWarn, 0.9, 4, 2), tone: toneWarn}})
	f.Panels = []Panel{panel}
	f.Caption = fmt.Sprintf("Phase margin of the linear model of DCQCN at its fixed point, for the bottleneck %s: below 0 the queue swings of itself; a usual design keeps 30° or more.", s.Estimates.Where)
	return f
}

// powersOfTwo labels 1, 2, 4, 8.
func powersOfTwo(most float64) plot.Ticker {
	var t []plot.Tick
	for n := 1.0; n <= most*1.1; n *= 2 {
		t = append(t, plot.Tick{Value: n, Label: digits(n)})
	}
	return plot.ConstantTicks(t)
}
