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
		b := worst(rates, slowed, meanOf)
		top := b.draw(r, &p)
		linear(&p.Plot.Y, "allowed rate", pick(rateScales, top), 0, top*1.08)
		r.addMoments(p.Plot)
		f.Panels = append(f.Panels, p)
		f.Table = seriesTable(b.all(), "queue pair, most slowed first", Bitrate)
		if b.named[0].since() >= float64(b.named[0].Peak)*0.9999 {
			captions = append(captions, "no queue pair was slowed down")
		} else {
			captions = append(captions, fmt.Sprintf("most slowed down is %s, to %s on average from %s", b.named[0].Object, Bitrate(b.named[0].since()), Bitrate(b.named[0].Peak)))
		}
	}
	if len(alphas) > 0 {
		p := r.timePanel(150)
		b := worst(alphas, func(s *Series) float64 { return s.Average }, meanOf)
		if len(rates) > 0 {
			b = r.sameOrder(alphas, rates)
		}
		b.draw(r, &p)
		linear(&p.Plot.Y, "alpha", plainScale, 0, 1.04)
		if len(f.Panels) > 0 {
			hideTime(f.Panels[0].Plot)
			if len(alphas) == len(rates) {
				p.Legend = nil // the same lines as above
			}
		}
		f.Panels = append(f.Panels, p)
		s := b.named[0]
		captions = append(captions, fmt.Sprintf("the average alpha of %s is %s", s.Object, Number(s.since())))
		if len(rates) == 0 {
			f.Table = seriesTable(b.all(), "queue pair, highest alpha first", Number)
		}
	}
	f.Caption = Capital(List(captions)) + "."
	return f
}

// slowed is how far congestion control kept a queue pair below the highest rate
// that it ever had; NICs of a slower link are not slow for that.
func slowed(s *Series) float64 {
	if s.Peak <= 0 {
		return 0
	}
	return 1 - s.since()/s.Peak
}

// since returns the mean of a series from its first row on: a queue pair that
// was made late had no rate before.
func (s *Series) since() float64 {
	v := s.Mean[s.known():]
	sum := 0.0
	for _, x := range v {
		sum += float64(x)
	}
	return sum / float64(len(v))
}

// sameOrder returns list in the order in which the objects of model are drawn,
// so that an object has one style in both panels.
func (r *Run) sameOrder(list, model []*Series) bundle {
	by := map[string]*Series{}
	for _, s := range list {
		by[s.Object] = s
	}
	var out []*Series
	for _, s := range worst(model, slowed, meanOf).all() {
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
	n := len(out)
	if n > maxNamed {
		n = worstNamed
	}
	return bundle{named: out[:n], rest: out[n:], value: meanOf}
}
