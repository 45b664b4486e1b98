package figure

import (
	"fmt"

	"rdmasim/sim/trace"
)

var _ = register("marking", "ECN marks and CNPs over time", Congestion, 2, marking)

// marking draws how many packets were marked and how many CNPs answered them.
func marking(r *Run) Figure {
	const title = "ECN marks and CNPs over time"
	marks, cnps := r.seriesOf(trace.SeriesMarked), r.seriesOf(trace.SeriesCNP)
	if len(marks) == 0 && len(cnps) == 0 {
		if len(r.Series[trace.SeriesMarked])+len(r.Series[trace.SeriesCNP]) > 0 {
			return empty(title, "No packet was marked and no CNP was sent.")
		}
		return r.noSeries(title, trace.SeriesMarked+" or "+trace.SeriesCNP)
	}
	f := Figure{Title: title, Table: Table{Head: []string{"what", "where", "mean", "maximum", "at"}}}
	add := func(list []*Series, what, axis string, style int) {
		if len(list) == 0 {
			return
		}
		p := r.timePanel(140)
		p.Plot.Add(grid{x: true, y: true})
		total := r.sum(list)
		label := fmt.Sprintf("%s, sum of %s", what, Count(len(list), objectNoun(what)))
		if len(list) == 1 {
			label = what + ", " + list[0].Object
		}
		r.single(&p, label, total, seriesStyle(style))
		top := maxOf32(total)
		linear(&p.Plot.Y, axis, pick(ppsScales, top), 0, top*1.08)
		r.addMoments(p.Plot)
		f.Panels = append(f.Panels, p)
		b := worst(list, func(s *Series) float64 { return s.Average }, meanOf)
		for i, s := range b.all() {
			if i < 10 {
				f.Table.Rows = append(f.Table.Rows, []string{what, s.Object, PacketRate(s.Average), PacketRate(s.Peak), Seconds(s.PeakAt.Seconds())})
			}
		}
	}
	add(marks, "marked packets", "CE marks", 0)
	add(cnps, "CNPs sent", "CNPs", 0)
	for i := range f.Panels[:len(f.Panels)-1] {
		hideTime(f.Panels[i].Plot)
	}
	switch {
	case len(marks) > 0:
		s := worst(marks, func(s *Series) float64 { return s.Average }, meanOf).named[0]
		f.Caption = fmt.Sprintf("Most marks come from %s; ", s.Object)
		if len(marks) == 1 {
			f.Caption = fmt.Sprintf("All marks come from %s; ", s.Object)
		}
		if len(cnps) > 0 {
			f.Caption += fmt.Sprintf("%s answered with CNPs.", Count(len(cnps), "host"))
		} else {
			f.Caption += "no CNP was recorded."
		}
	default:
		f.Caption = fmt.Sprintf("%s sent CNPs; marks were not recorded.", Count(len(cnps), "host"))
	}
	return f
}

func objectNoun(what string) string {
	if what == "CNPs sent" {
		return "host"
	}
	return "queue"
}
