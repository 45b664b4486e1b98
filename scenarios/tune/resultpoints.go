package tune

import (
	"math"

	"rdmasim/reports/tuning"
)

// points writes every point with what the search measured.
func (t *Tuning) points(r *tuning.Result, s *search) {
	full := map[*entry]*verdict{}
	list := s.judge.assess(s.complete(s.store.list), s.seeds)
	s.judge.order(list)
	rank := map[*entry]int{}
	var aims [][]float64
	for i := range list {
		full[list[i].e], rank[list[i].e] = &list[i], i+1
		if t.Pareto && list[i].feasible() && list[i].rank == 0 {
			r.Pareto, aims = append(r.Pareto, list[i].e.id), append(aims, s.judge.aims(list[i].e, s.seeds))
		}
	}
	if k := knee(aims); k >= 0 {
		r.Knee = &r.Pareto[k]
	}
	for _, e := range s.store.list {
		v := full[e]
		seeds := s.seeds
		if v == nil {
			seeds = s.common(e)
			one := s.judge.assess([]*entry{e}, seeds)[0]
			one.regret, one.score = nil, math.NaN() // there is nothing to compare it with
			v = &one
		}
		p := t.point(s, v, seeds)
		p.Rank = rank[e]
		p.Rung = min(p.Rung, s.fullRung())
		r.Points = append(r.Points, p)
	}
}

// common returns the seeds on which all workloads of a point were run.
func (s *search) common(e *entry) []uint64 {
	n := 0
	for n < len(s.seeds) && e.has(s.seeds[n:n+1], s.store.workloads) {
		n++
	}
	return s.seeds[:n]
}

// point writes one point with its verdict on seeds.
func (t *Tuning) point(s *search, v *verdict, seeds []uint64) tuning.Point {
	e := v.e
	p := tuning.Point{ID: e.id, Kind: e.kind, Name: e.name, Rung: e.rung, Values: make([]float64, len(e.p)), Cells: []tuning.Cell{}}
	for i, x := range e.p {
		p.Values[i] = si(t.space[i].kind, x)
	}
	if len(seeds) == 0 {
		return p
	}
	p.Feasible, p.Violations = v.feasible(), v.words
	if v.regret != nil {
		p.Regret = tuning.Number(max(largest(v.regret), 0))
		p.Score = tuning.Number(overWorkloads(map[bool]string{true: RobustWorst, false: RobustMean}[t.Robust == RobustWorst], v.cost, nil))
	}
	for w := range t.Workloads {
		c := tuning.Cell{Seeds: len(seeds)}
		if v.regret != nil {
			c.Regret = tuning.Number(max(v.regret[w], 0)) // what is not feasible may cost less than the best that is
		}
		for _, g := range s.judge.goals {
			c.Objectives = append(c.Objectives, tuning.ValueOf(replicates(e, g.figure, w, seeds)))
		}
		for i := range s.judge.expect {
			c.Constraints = append(c.Constraints, tuning.ValueOf(held(e, i, w, seeds)))
		}
		for _, b := range s.judge.bounds {
			c.Constraints = append(c.Constraints, tuning.ValueOf(replicates(e, b.figure, w, seeds)))
		}
		for _, seed := range seeds {
			if f := e.obs[cell{w, seed}].Failed; f != "" {
				c.Failed = f
			}
		}
		p.Cells = append(p.Cells, c)
	}
	return p
}

// replicates are the values of a figure, seed by seed; nil if a run has none.
func replicates(e *entry, figure, w int, seeds []uint64) []float64 {
	var list []float64
	for _, s := range seeds {
		o, ok := e.obs[cell{w, s}]
		if !ok || o.Failed != "" || math.IsNaN(o.Figures[figure]) {
			return nil
		}
		list = append(list, o.Figures[figure])
	}
	return list
}

// held is 1 for every seed on which an expectation holds, else 0.
func held(e *entry, expect, w int, seeds []uint64) []float64 {
	list := make([]float64, 0, len(seeds))
	for _, s := range seeds {
		v := 0.0
		if o := e.obs[cell{w, s}]; o.Failed == "" && expect < len(o.Held) && o.Held[expect] {
			v = 1
		}
		list = append(list, v)
	}
	return list
}
