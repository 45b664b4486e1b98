package tune

import (
	"context"
	"fmt"
	"slices"

	"rdmasim/sim/stat"
)

// confidence of the intervals in results.
const confidence = 0.95

// final is what the confirmation found.
type final struct {
	reruns    []*entry  // today, baselines, finalists and what regret is counted from
	verdicts  []verdict // of them, on the fresh seeds, the best first
	winner    *entry
	why       string       // there is no winner
	best      *entry       // baseline
	lead      *entry       // the winner, or the finalist that comes first
	margin    []rivalMatch // of the lead
	finalists []*entry
}

// rivalMatch is the comparison of a finalist with something that it has to beat.
type rivalMatch struct {
	rival *entry
	by    stat.Interval // score of the rival less that of the finalist
	beats bool
}

// confirmRuns is how many runs the confirmation takes at most.
func (s *search) confirmRuns() int {
	n := 1 + min(s.confirm.Baselines, len(s.named)-1) + s.confirm.Finalists
	if s.judge.robust == RobustRegret {
		n += s.store.workloads
	}
	return n * s.store.workloads * len(s.fresh)
}

// confirmation runs the finalists beside today and the best baselines on seeds
// that the search has not seen: what was best by luck is not so again.
func (s *search) confirmation(ctx context.Context) error {
	end := s.begin("confirmation on fresh seeds")
	finalists, rivals, others := s.finalists()
	f := &final{reruns: slices.Concat(rivals, finalists, others), finalists: finalists}
	if err := s.store.need(ctx, f.reruns, s.fresh); err != nil {
		return err
	}
	for _, e := range f.reruns {
		e.rung = s.fullRung() + 1
	}
	end(len(f.reruns), len(s.fresh))
	s.decide(f, finalists, rivals)
	s.final = f
	return nil
}

// finalists returns the best points of the search, what they have to beat, and
// the points that are best for one workload, which regret is counted from.
func (s *search) finalists() (finalists, rivals, others []*entry) {
	known := s.complete(s.store.list)
	list := s.judge.assess(known, s.seeds)
	s.judge.order(list)
	named := append([]*entry{s.today}, s.baselines...)
	for _, v := range s.candidates(list) {
		if len(finalists) < s.confirm.Finalists && !slices.Contains(named, v.e) {
			finalists = append(finalists, v.e)
		}
	}
	rivals = []*entry{s.today}
	for _, e := range s.better(s.baselines, s.seeds) {
		if len(rivals) <= s.confirm.Baselines && e != s.today {
			rivals = append(rivals, e)
		}
	}
	if b := s.judge.best; b != nil && !slices.Contains(rivals, b) {
		rivals = append(rivals, b)
	}
	for w := range s.store.workloads {
		if s.judge.robust != RobustRegret {
			break
		}
		i := slices.IndexFunc(list, func(v verdict) bool { return v.feasible() && v.regret[w] == 0 })
		if i >= 0 && !slices.Contains(slices.Concat(finalists, rivals, others), list[i].e) {
			others = append(others, list[i].e)
		}
	}
	return finalists, rivals, others
}

// candidates are the points from which finalists come, the best first: of a
// trade-off its knee, and then the others of the front.
func (s *search) candidates(list []verdict) []verdict {
	if !s.judge.pareto {
		return list
	}
	var front []verdict
	var aims [][]float64
	for _, v := range list {
		if v.feasible() && v.rank == 0 {
			front, aims = append(front, v), append(aims, s.judge.aims(v.e, s.seeds))
		}
	}
	if k := knee(aims); k > 0 {
		front = slices.Concat(front[k:k+1], front[:k], front[k+1:])
	}
	return append(front, list...)
}

// decide judges the fresh runs.
func (s *search) decide(f *final, finalists, rivals []*entry) {
	j := *s.judge
	j.pareto, j.chance = false, true
	var published []*entry
	for _, e := range rivals {
		if slices.Contains(s.baselines, e) {
			published = append(published, e)
		}
	}
	if f.best = j.bestBaseline(published, s.fresh); f.best != nil {
		j.best = f.best
	}
	s.judge.best = j.best
	f.verdicts = j.assess(f.reruns, s.fresh)
	j.order(f.verdicts)
	if len(f.verdicts) > 0 {
		v := &f.verdicts[0]
		s.judge.floor = make([]float64, len(v.cost))
		for w := range v.cost {
			s.judge.floor[w] = v.cost[w] - v.regret[w]
		}
	}
	for _, v := range f.verdicts {
		if !slices.Contains(finalists, v.e) {
			continue
		}
		match := s.match(f, v, rivals, len(finalists))
		if f.lead == nil {
			f.lead, f.margin = v.e, match
		}
		if f.winner == nil && v.feasible() && !slices.ContainsFunc(match, func(m rivalMatch) bool { return !m.beats }) {
			f.winner, f.lead, f.margin = v.e, v.e, match
		}
	}
	if f.winner == nil {
		f.why = s.noWinner(f)
	}
}

// match compares a finalist with its rivals, pair by pair on the same seeds.
// The confidence is shared among the finalists (Bonferroni), so that the chance
// of a winner that is no better stays at 5 % in all.
func (s *search) match(f *final, v verdict, rivals []*entry, finalists int) (list []rivalMatch) {
	for _, r := range rivals {
		i := slices.IndexFunc(f.verdicts, func(x verdict) bool { return x.e == r })
		m := rivalMatch{rival: r, by: Jackknife(len(s.fresh), 1-(1-confidence)/float64(max(finalists, 1)), func(replicates []int) float64 {
			seeds := make([]uint64, len(replicates))
			for k, n := range replicates {
				seeds[k] = s.fresh[n]
			}
			return s.judge.score(r, seeds) - s.judge.score(v.e, seeds)
		})}
		m.beats = m.by.Low() > 0 || !f.verdicts[i].feasible()
		list = append(list, m)
	}
	return list
}

// noWinner says why there is none.
func (s *search) noWinner(f *final) string {
	if f.lead == nil {
		return "the search found no setting that is not a baseline already"
	}
	v := f.verdicts[slices.IndexFunc(f.verdicts, func(v verdict) bool { return v.e == f.lead })]
	if !v.feasible() {
		return fmt.Sprintf("no setting of the search meets every constraint on fresh seeds; the nearest fails: %s", v.words[0])
	}
	for _, m := range f.margin {
		if !m.beats {
			return fmt.Sprintf("the best setting of the search beats %s by %.3g +- %.3g, which is not beyond chance", nameOf(m.rival), m.by.Mean, m.by.Half)
		}
	}
	return "no setting beats the baselines"
}

// nameOf is how a point is called in sentences.
func nameOf(e *entry) string {
	if e.name == "" {
		return "point " + e.key
	}
	return e.name
}
