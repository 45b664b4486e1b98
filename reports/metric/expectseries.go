package metric

import (
	"fmt"
	"math"
	"slices"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// step is a bin of a series that lasts until the next one.
type step struct {
	from, to       sim.Time
	mean, low, top float64
}

// series computes the function of a series: over all bins of all objects that
// the filter leaves. A sum is that of the objects' means.
func (c *call) series(m *Metrics, at places) (float64, string) {
	objects, any, err := c.steps(m, at)
	if err != nil {
		return 0, err.Error()
	}
	if !any {
		return 0, c.src.name + " was not measured: the run has no series"
	}
	var s samples
	var sum, long float64
	found := false
	for _, o := range objects {
		var integral, span float64
		for _, b := range o {
			from, to := max(b.from, c.filter.from), min(b.to, c.filter.to)
			if to <= from {
				continue
			}
			d := to.Sub(from).Seconds()
			integral += b.mean * d
			span += d
			if c.chosen(b) {
				if !found || from < s.first {
					s.first = from
				}
				if !found || to > s.last {
					s.last = to
				}
				found = true
				long += d
			}
			s.add(b.mean, d)
			s.v[len(s.v)-1] = c.which(b)
		}
		if span > 0 {
			sum += integral / span
		}
	}
	switch c.name {
	case "time":
		return long, ""
	case "sum":
		return sum, ""
	case "first", "last":
		if !found {
			return 0, fmt.Sprintf("%s never was so: %s has no value", c.src.name, c.s)
		}
	}
	if len(s.v) == 0 {
		s.add(0, 1) // rows are written on change, and the value before the first is 0
	}
	return c.over(&s)
}

// which returns the value of a bin that a function looks at.
func (c *call) which(b step) float64 {
	switch c.name {
	case "min":
		return b.low
	case "max":
		return b.top
	}
	return b.mean
}

// chosen reports whether a bin is above and below what the filter says; without
// either, whether it is above 0.
func (c *call) chosen(b step) bool {
	above, below := math.Inf(-1), math.Inf(1)
	if c.filter.above == nil && c.filter.below == nil {
		above = 0
	}
	if c.filter.above != nil {
		above = *c.filter.above
	}
	if c.filter.below != nil {
		below = *c.filter.below
	}
	v := b.mean
	if c.name == "first" && c.filter.below == nil {
		v = b.top
	}
	return v > above && v < below
}

// steps reads the series of the objects that the filter leaves, in the order of
// their first rows; any says whether the run has series at all.
func (c *call) steps(m *Metrics, at places) (objects [][]step, any bool, err error) {
	index := map[trace.Object]int{}
	end := sim.Time(m.run.Manifest.Simulated)
	any = m.run.Manifest.Rows.Points > 0
	for p, err := range m.run.Points(c.src.name, func(o trace.Object) bool { return c.filter.at(at, o, -1) }) {
		if err != nil {
			return nil, any, err
		}
		i, ok := index[p.Object]
		if !ok {
			i = len(objects)
			index[p.Object] = i
			objects = append(objects, nil)
			if p.Time > 0 {
				objects[i] = append(objects[i], step{to: p.Time})
			}
		}
		objects[i] = append(objects[i], step{from: p.Time, to: sim.Never, mean: p.Mean, low: p.Min, top: p.Max})
	}
	for _, o := range objects {
		slices.SortStableFunc(o, func(a, b step) int { return int(min(max(a.from-b.from, -1), 1)) })
		for i := range o {
			o[i].to = end
			if i+1 < len(o) {
				o[i].to = o[i+1].from
			}
		}
	}
	return objects, any, nil
}
