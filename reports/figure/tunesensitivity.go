package figure

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"rdmasim/reports/tuning"
)

var (
	_ = registerTune("tornado", "what an objective becomes when one parameter goes through its range", TuneRobust, 2, tuneTornado)
	_ = registerTune("sobol", "share of the variance of an objective that a parameter explains", TuneRobust, 3, tuneSobol)
)

// surrogates fits the objectives that figures show.
func (s *Search) surrogates() (list []*tuning.Surrogate, objectives []int, why []string) {
	for _, o := range s.shownObjectives() {
		m := s.Surrogate(o)
		label := objectiveLabel(&s.Objectives[o])
		if !m.Valid {
			text := fmt.Sprintf("%s: not valid: %s", label, m.Why)
			if m.R2 != 0 && finite(m.R2) {
				text += fmt.Sprintf(" (R² %.2f, want %.2f)", m.R2, tuning.MinR2)
			}
			why = append(why, text)
			continue
		}
		list, objectives = append(list, m), append(objectives, o)
	}
	return list, objectives, why
}

// modelWords says what the sensitivities are read from, and how good it is.
func (s *Search) modelWords(list []*tuning.Surrogate, objectives []int, why []string) string {
	text := "Read off a polynomial of second order through the evaluated points; of the variance at points that it has not seen it foretells"
	for i, m := range list {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %s of %s", Share(m.R2), objectiveLabel(&s.Objectives[objectives[i]]))
		if m.Log {
			text += " (as logarithm)"
		}
	}
	text += "."
	for _, w := range why {
		text += " " + Capital(w) + "."
	}
	return text
}

func joinWhy(why []string) string {
	text := ""
	for _, w := range why {
		text += Capital(w) + ". "
	}
	return text
}

// tuneTornado draws how far each objective swings with each parameter.
func tuneTornado(s *Search) Figure {
	const title = "What each parameter does around the chosen point"
	f := Figure{Title: title, Table: Table{Head: []string{"objective", "parameter", "at its low end", "at its high end", "least", "most"}}}
	best := s.Best()
	list, objectives, why := s.surrogates()
	if len(list) == 0 || best == nil {
		f.Empty = joinWhy(why)
		if best == nil {
			f.Empty = "No point was ranked."
		}
		return f
	}
	for i, m := range list {
		f.Panels = append(f.Panels, s.tornadoPanel(m, objectives[i], best, i == 0, &f.Table))
	}
	f.Caption = fmt.Sprintf("One parameter goes through its whole range, the others stay at %s; a thin line goes on where the extreme lies inside of the range. %s", s.chosen(), s.modelWords(list, objectives, why))
	return f
}

func (s *Search) chosen() string {
	if s.Winner != nil {
		return "the recommended values"
	}
	return "those of the best point of the search"
}

func (s *Search) tornadoPanel(m *tuning.Surrogate, o int, best *tuning.Point, keys bool, t *Table) Panel {
	obj := &s.Objectives[o]
	swings := m.Swings(best.Values)
	order := make([]int, len(swings))
	for i := range order {
		order[i] = i
	}
	width := func(k int) float64 { return swings[k].Max - swings[k].Min }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(width(b), width(a)) })
	order = order[:min(len(order), 12)]
	at := m.Predict(best.Values)
	p := newPlot()
	values := []float64{at}
	var names []string
	tor := tornado{at: at}
	for _, k := range order {
		w := swings[k]
		par := &s.Parameters[k]
		names = append(names, ParameterLabel(par))
		tor.rows = append(tor.rows, w)
		values = append(values, w.Min, w.Max)
		show := func(v float64) string { return Quantity(v, obj.Unit) }
		t.Rows = append(t.Rows, []string{objectiveLabel(obj), ParameterLabel(par) + " from " + Quantity(par.Low, par.Unit) + " to " + Quantity(par.High, par.Unit),
			show(w.AtLow), show(w.AtHigh), show(w.Min), show(w.Max)})
	}
	nominal(&p.Y, names)
	spanAxis(&p.X, objectiveLabel(obj)+", "+goalWords(obj), obj.Unit, values)
	p.Add(grid{x: true}, tor)
	panel := Panel{Plot: p, Height: vg.Length(len(names))*19 + 46}
	if keys {
		panel.Legend = []Key{{Label: "towards the low end of the parameter", Fill: seriesTones[7].color()}, {Label: "towards its high end", Fill: seriesTones[0].color()}, {Label: "at the chosen point", Line: lineOf(toneInk, 1.2)}}
	}
	return panel
}

// indexText prints an index: more than two digits would pretend to be exact.
func indexText(v float64) string {
	if v < 0.01 {
		return "below 1" + noBreak + "%"
	}
	return fmt.Sprintf("%.0f%s%%", v*100, noBreak)
}

// tuneSobol draws first-order and total indices.
func tuneSobol(s *Search) Figure {
	const title = "Which parameters the result depends on (Sobol indices)"
	f := Figure{Title: title, Table: Table{Head: []string{"objective", "parameter", "alone", "with the others"}}}
	list, objectives, why := s.surrogates()
	if len(list) == 0 {
		f.Empty = joinWhy(why)
		return f
	}
	for i, m := range list {
		obj := &s.Objectives[objectives[i]]
		index := m.Indices()
		order := make([]int, len(index))
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(index[b].Total, index[a].Total) })
		order = order[:min(len(order), 12)]
		var names []string
		var first, total []float64
		var texts []string
		for _, k := range order {
			x := index[k]
			names, first, total = append(names, ParameterLabel(&s.Parameters[k])), append(first, x.First), append(total, x.Total)
			texts = append(texts, indexText(x.Total))
			f.Table.Rows = append(f.Table.Rows, []string{objectiveLabel(obj), ParameterLabel(&s.Parameters[k]), indexText(x.First), indexText(x.Total)})
		}
		p := newPlot()
		nominal(&p.Y, names)
		linear(&p.X, "share of the variance of "+objectiveLabel(obj), shareScale, 0, 1.08)
		p.Add(grid{x: true}, bars{v: total, fill: seriesTones[7].color(), height: 0.62, text: texts}, bars{v: first, fill: seriesTones[0].color(), height: 0.62})
		panel := Panel{Plot: p, Height: vg.Length(len(names))*19 + 46}
		if i == 0 {
			panel.Legend = []Key{{Label: "alone (first order)", Fill: seriesTones[0].color()}, {Label: "only together with others", Fill: seriesTones[7].color()}}
		}
		f.Panels = append(f.Panels, panel)
	}
	pairs := ""
	if slices.ContainsFunc(list, func(m *tuning.Surrogate) bool { return !m.Pairs }) {
		pairs = " There were too few points to tell products of parameters: what they do together is left out."
	}
	f.Caption = "If all parameters were anywhere in their ranges: the share of the variance that each explains. " + s.modelWords(list, objectives, why) + pairs
	return f
}

// tornado draws, per row, what lies between the least and the most of a swing.
type tornado struct {
	at   float64
	rows []tuning.Swing
}

func (t tornado) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	mid := tx(t.at)
	for i, w := range t.rows {
		bar := func(v float64, tone Tone) {
			x := clampX(c, tx(v))
			c.FillPolygon(tone.color(), rect(min(x, mid), ty(float64(i)+0.31), max(x, mid), ty(float64(i)-0.31)))
		}
		// The longer bar first: ends may lie on the same side.
		low, high := w.AtLow, w.AtHigh
		ends := []struct {
			v    float64
			tone Tone
		}{{low, seriesTones[7]}, {high, seriesTones[0]}}
		if abs(high-t.at) > abs(low-t.at) {
			ends[0], ends[1] = ends[1], ends[0]
		}
		for _, e := range ends {
			bar(e.v, e.tone)
		}
		sty := lineOf(toneMuted, 1)
		y := ty(float64(i))
		c.StrokeLine2(sty, clampX(c, tx(w.Min)), y, clampX(c, tx(min(low, high, t.at))), y)
		c.StrokeLine2(sty, clampX(c, tx(max(low, high, t.at))), y, clampX(c, tx(w.Max)), y)
	}
	c.StrokeLine2(lineOf(toneInk, 1.2), mid, c.Min.Y, mid, c.Max.Y)
}

func abs(v float64) float64 { return max(v, -v) }
