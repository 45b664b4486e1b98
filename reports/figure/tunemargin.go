package figure

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"rdmasim/reports/tuning"
)

var _ = registerTune("margin", "stability of congestion control against the number of flows", TuneRobust, 4, tuneMargin)

// marginCurve is what one setting has to show.
type marginCurve struct {
	pts  []xy
	none []tuning.Margin // flows without an answer, in order
}

// tuneMargin draws the phase margin of the linear model against the number of
// flows that share the bottleneck. Where there is none it says why.
func tuneMargin(s *Search) Figure {
	const title = "Stability against the number of flows"
	f := Figure{Title: title, Table: Table{Head: []string{"settings", "flows", "phase margin"}}}
	if s.Estimates == nil || len(s.Estimates.Margins) == 0 {
		f.Empty = "The phase margin was not computed: it needs an estimate of today's and the recommended settings, and a port at which flows meet."
		return f
	}
	settings, curves, lo, hi, most := marginCurves(s.Estimates.Margins, &f.Table)
	reasons := marginReasons(settings, curves)
	if !slices.ContainsFunc(settings, func(n string) bool { return len(curves[n].pts) > 0 }) {
		f.Empty = "No linear model has an answer here. " + reasons
		return f
	}
	p := newPlot()
	logarithmic(&p.X, "flows that share the bottleneck", plainScale, 0.9, most*1.1)
	p.X.Tick.Marker = powersOfTwo(most)
	lo -= (hi - lo) / 8
	linear(&p.Y, "phase margin (degrees)", plainScale, lo, hi+8)
	p.Add(grid{x: true, y: true})
	panel := Panel{Plot: p, Height: 250}
	foot := lo + (hi+8-lo)/60
	var nowhere []xy
	for i, name := range settings {
		c := curves[name]
		if i >= maxNamed {
			continue
		}
		for _, m := range c.none {
			nowhere = append(nowhere, xy{float64(m.Flows), foot + float64(i)*(hi-lo)/25})
		}
		if len(c.pts) == 0 {
			continue
		}
		sortXY(c.pts)
		p.Add(line{pts: c.pts, sty: seriesStyle(i)}, marks{c.pts, draw.GlyphStyle{Color: seriesStyle(i).Color, Radius: 2, Shape: draw.CircleGlyph{}}})
		panel.Legend = append(panel.Legend, Key{Label: name, Line: seriesStyle(i)})
	}
	if len(nowhere) > 0 {
		p.Add(marks{nowhere, infeasibleMark()})
		panel.Legend = append(panel.Legend, Key{Label: "no rest state", Mark: infeasibleMark()})
	}
	p.Add(levels{{y: 0, name: "oscillates below", sty: lineOf(toneWarn, 0.9, 4, 2), tone: toneWarn}})
	f.Panels = []Panel{panel}
	f.Caption = strings.TrimSpace(fmt.Sprintf("Phase margin of the linear model of DCQCN at its fixed point, %s, for the bottleneck %s: below 0 the queue swings of itself, within a few degrees above it chance keeps it swinging; a usual design keeps 30° or more. %s",
		marginModel(s.Estimates.Margins), s.Estimates.Where, reasons))
	return f
}

// marginCurves sorts margins by setting and lists them in a table; lo and hi are
// the range of degrees, most the largest number of flows.
func marginCurves(list []tuning.Margin, t *Table) (settings []string, curves map[string]*marginCurve, lo, hi, most float64) {
	curves = map[string]*marginCurve{}
	hi, most = 60, 2
	for _, m := range list {
		if curves[m.Setting] == nil {
			settings = append(settings, m.Setting)
			curves[m.Setting] = &marginCurve{}
		}
		c := curves[m.Setting]
		most = max(most, float64(m.Flows))
		if m.Degrees == nil {
			t.Rows = append(t.Rows, []string{m.Setting, Whole(m.Flows), "none: " + marginWhy(m)})
			c.none = append(c.none, m)
			continue
		}
		t.Rows = append(t.Rows, []string{m.Setting, Whole(m.Flows), Quantity(*m.Degrees, tuning.UnitDegrees)})
		c.pts = append(c.pts, xy{float64(m.Flows), *m.Degrees})
		lo, hi = min(lo, *m.Degrees), max(hi, *m.Degrees)
	}
	return settings, curves, lo, hi, most
}

// marginModel names the models that the curves are of.
func marginModel(list []tuning.Margin) string {
	words := map[string]string{
		"dcqcn_phase_margin": "by the published fluid model of the paper's reaction point",
		"dcqcn_cycle_margin": "by the mean over cycles from cut to cut under the rules of this NIC",
	}
	var said []string
	for _, m := range list {
		if w := words[m.Model]; w != "" && !slices.Contains(said, w) {
			said = append(said, w)
		}
	}
	if len(said) == 0 {
		return "all flows alike"
	}
	return strings.Join(said, ", or ")
}

func marginWhy(m tuning.Margin) string {
	if m.Why == "" {
		return "the linear model has no answer"
	}
	return m.Why
}

// marginReasons says for each setting from where to where there is no answer,
// and why: with the first reason of each range of flows.
func marginReasons(settings []string, curves map[string]*marginCurve) string {
	var list []string
	for i, name := range settings {
		c := curves[name]
		if i >= maxNamed || len(c.none) == 0 {
			continue
		}
		least, most := 0, 0 // of flows with an answer
		for _, q := range c.pts {
			if n := int(q.x); least == 0 || n < least {
				least = n
			}
			most = max(most, int(q.x))
		}
		say := func(where string, m tuning.Margin) {
			list = append(list, fmt.Sprintf("None for %s%s: %s.", name, where, strings.TrimRight(marginWhy(m), ".")))
		}
		if len(c.pts) == 0 {
			say("", c.none[0])
			continue
		}
		below, above := false, false
		for _, m := range c.none {
			switch {
			case m.Flows > least && m.Flows < most:
				say(" at "+Count(m.Flows, "flow"), m)
			case m.Flows < least && !below:
				say(" below "+Count(least, "flow"), m)
				below = true
			case m.Flows > most && !above:
				say(" from "+Count(m.Flows, "flow")+" on", m)
				above = true
			}
		}
	}
	return strings.Join(list, " ")
}

// powersOfTwo labels 1, 2, 4, 8.
func powersOfTwo(most float64) plot.Ticker {
	var t []plot.Tick
	for n := 1.0; n <= most*1.1; n *= 2 {
		t = append(t, plot.Tick{Value: n, Label: digits(n)})
	}
	return plot.ConstantTicks(t)
}
