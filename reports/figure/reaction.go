package figure

import (
	"fmt"

	"rdmasim/sim/trace"
)

var _ = register("reaction", "rate and alpha of the reaction points", Congestion, 3, reaction)

// reaction draws what congestion control did: the rate that it allowed and,
// for DCQCN, alpha of the same queue pairs.
func reaction(r *Run) Figure {
	const title = "Reaction points"
	rates, alphas := r.Flows.senders(r.Series[trace.SeriesRate]), r.Flows.senders(r.Series[trace.SeriesAlpha])
	if len(rates) == 0 && len(alphas) == 0 {
		return r.noSeries(title, trace.SeriesRate+" or "+trace.SeriesAlpha)
	}
	f := Figure{Title: title}
	var captions []string
	if len(rates) > 0 {
		p := r.timePanel(200)
		b := worst(rates, func(s *Series) float64 { return -s.Average }, meanOf)
		top := b.draw(r, &p)
		linear(&p.Plot.Y, "allowed rate", pick(rateScales, top), 0, top*1.08)
		r.addMoments(p.Plot)
		f.Panels = append(f.Panels, p)
		f.Table = seriesTable(b.all(), "queue pair, lowest rate first", Bitrate)
		captions = append(captions, fmt.Sprintf("the lowest average rate is %s, of %s", Bitrate(b.named[0].Average), b.named[0].Object))
	}
	if len(alphas) > 0 {
		p := r.timePanel(150)
		b := worst(alphas, func(s *Series) float64 { return s.Average }, meanOf)
		if len(rates) > 0 && len(alphas) <= maxNamed {
			b = bundle{named: r.sameOrder(alphas, rates), value: meanOf}
		}
		b.draw(r, &p)
		linear(&p.Plot.Y, "alpha", plainScale, 0, 1.04)
		if len(f.Panels) > 0 {
			hideTime(f.Panels[0].Plot)
			if len(alphas) <= maxNamed {
				p.Legend = nil // the same lines as above
			}
		}
		f.Panels = append(f.Panels, p)
		s := worst(alphas, func(s *Series) float64 { return s.Average }, meanOf).named[0]
		captions = append(captions, fmt.Sprintf("the highest average alpha is %s, of %s", Number(s.Average), s.Object))
		if len(rates) == 0 {
			f.Table = seriesTable(b.all(), "queue pair, highest alpha first", Number)
		}
	}
	f.Caption = Capital(List(captions)) + "."
	return f
}

// sameOrder returns list in the order in which the objects of model are drawn,
// so that an object has one style in both panels.
func (r *Run) sameOrder(list, model []*Series) []*Series {
	by := map[string]*Series{}
	for _, s := range list {
		by[s.Object] = s
	}
	var out []*Series
	for _, s := range worst(model, func(s *Series) float64 { return -s.Average }, meanOf).all() {
		if x := by[s.Object]; x != nil {
			out = append(out, x)
			delete(by, s.Object)
		}
	}
	for _, s := range list {
		if by[s.Object] != nil {
			out = append(out, s)
		}
	}
	return out
}
