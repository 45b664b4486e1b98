package tuning

import (
	"math"
	"slices"
)

// Point returns the point of an id; nil if there is none.
func (r *Result) Point(id int) *Point {
	for i := range r.Points {
		if r.Points[i].ID == id {
			return &r.Points[i]
		}
	}
	return nil
}

// Best returns the winner, else the best ranked point of the search; nil if
// nothing was ranked.
func (r *Result) Best() *Point {
	if r.Winner != nil {
		return r.Point(*r.Winner)
	}
	var best *Point
	for i := range r.Points {
		p := &r.Points[i]
		if p.Kind == KindSearch && p.Rank > 0 && (best == nil || p.Rank < best.Rank) {
			best = p
		}
	}
	return best
}

// Parameter returns the place of the parameter of a role; false if there is none.
func (r *Result) Parameter(role string) (int, bool) {
	i := slices.IndexFunc(r.Parameters, func(p Parameter) bool { return p.Role == role })
	return i, i >= 0
}

// Objective returns the place of the objective of a metric; false if there is none.
func (r *Result) Objective(metric string) (int, bool) {
	i := slices.IndexFunc(r.Objectives, func(o Objective) bool { return o.Metric == metric })
	return i, i >= 0
}

// ConstraintAsObjective returns a constraint as what it wants of its metric, for
// comparisons; false if no contrast is about it, or an objective is.
func (r *Result) ConstraintAsObjective(i int) (*Objective, bool) {
	c := &r.Constraints[i]
	if _, ok := r.Objective(c.Metric); ok || c.Op == "==" {
		return nil, false
	}
	if !slices.ContainsFunc(r.Contrasts, func(x Contrast) bool { return x.Metric == c.Metric }) {
		return nil, false
	}
	o := &Objective{Metric: c.Metric, Label: c.Label, Unit: c.Unit, Goal: Minimize}
	if c.Op == ">=" {
		o.Goal = Maximize
	}
	return o, true
}

// Settled returns a point as it did on fresh seeds where it was confirmed, else
// as the search saw it.
func (r *Result) Settled(id int) *Point {
	for i := range r.Confirmed {
		if r.Confirmed[i].ID == id && len(r.Confirmed[i].Cells) > 0 {
			return &r.Confirmed[i]
		}
	}
	return r.Point(id)
}

// Mean returns objective o of a point, averaged over workloads by their
// weights; false where a workload has no figure.
func (r *Result) Mean(p *Point, o int) (float64, bool) {
	sum, weight := 0.0, 0.0
	if len(p.Cells) != len(r.Workloads) {
		return 0, false
	}
	for w, c := range p.Cells {
		if o >= len(c.Objectives) || c.Objectives[o].Mean == nil {
			return 0, false
		}
		sum += *c.Objectives[o].Mean * r.Workloads[w].Weight
		weight += r.Workloads[w].Weight
	}
	return sum / weight, weight > 0
}

// Ends returns the ends of the interval; false if there is none.
func (v Value) Ends() (low, high float64, ok bool) {
	if v.Mean == nil || v.Half == nil {
		return 0, 0, false
	}
	return *v.Mean - *v.Half, *v.Mean + *v.Half, true
}

// Unit01 maps a value of the parameter to 0..1 of its range by its scale, for
// distances and models.
func (p *Parameter) Unit01(v float64) float64 {
	if p.Scale == Log {
		return math.Log(v/p.Low) / math.Log(p.High/p.Low)
	}
	return (v - p.Low) / (p.High - p.Low)
}

// From01 is the inverse of Unit01.
func (p *Parameter) From01(u float64) float64 {
	if p.Scale == Log {
		return p.Low * math.Pow(p.High/p.Low, u)
	}
	return p.Low + u*(p.High-p.Low)
}
