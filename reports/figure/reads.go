package figure

import (
	"sort"

	"rdmasim/sim/trace"
)

// addReads adds what the READs of a queue pair bring to what it sends: both are
// its goodput, measured at either end.
func (r *Run) addReads() {
	list := r.Series[trace.SeriesGoodput]
	of := make(map[trace.Object]*Series, len(list))
	for _, s := range list {
		of[s.Object] = s
	}
	for _, s := range r.Series[trace.SeriesReadGoodput] {
		if g := of[s.Object]; g != nil {
			g.addTo(s, r.Clock)
			continue
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		return
	}
	sort.SliceStable(list, func(i, j int) bool { return natural(list[i].Object, list[j].Object) })
	r.Series[trace.SeriesGoodput] = list
}

// addTo makes s the sum of two series. The extremes of a column are bounds then.
func (s *Series) addTo(o *Series, c Clock) {
	s.Peak, s.PeakAt = 0, 0
	for i := range s.Mean {
		s.Mean[i] += o.Mean[i]
		s.Min[i] += o.Min[i]
		s.Max[i] += o.Max[i]
		if v := float64(s.Max[i]); v > s.Peak {
			s.Peak, s.PeakAt = v, c.border(i)
		}
	}
	s.Average += o.Average
	s.First = min(s.First, o.First)
}
