package tune

import (
	"math"
	"slices"

	"rdmasim/reports/tuning"
	"rdmasim/sim/stat"
)

// exclusion says what a search without a winner proves: of the points that it
// ran, with intervals that hold together (Bonferroni), and of the space between
// them nothing but how far apart they are.
func (s *search) exclusion(f *final) *tuning.Exclusion {
	against := s.judge.best
	if against == nil {
		against = s.today
	}
	x := &tuning.Exclusion{Confidence: confidence, Against: against.id, Coverage: s.coverage()}
	if v := s.judge.score(against, s.seeds); !math.IsNaN(v) {
		x.Cost = tuning.Number(v)
	}
	var judged []*entry
	for _, e := range s.store.list {
		if e.kind != tuning.KindSearch {
			continue
		}
		x.Points++
		if len(s.seedsOf(e)) < 2 {
			x.Single++
			continue
		}
		judged = append(judged, e)
	}
	x.Comparisons = len(judged) * s.judge.comparisons()
	for _, e := range judged {
		at := s.seedsOf(e)
		ends, broken := s.judge.exclude(e, against, at, 1-(1-confidence)/float64(x.Comparisons))
		switch {
		case broken:
			x.Broken++
		case ends.High() <= 0:
			x.Worse++
		default:
			x.Open++
			x.Unbounded = x.Unbounded || math.IsInf(ends.Half, 1)
			if !math.IsInf(ends.Half, 1) && (x.Most == nil || ends.High() > *x.Most) {
				x.Most = tuning.Number(ends.High())
			}
		}
	}
	s.excludeFinalists(x, f, against)
	return x
}

// excludeFinalists does the same for the finalists on seeds that nobody chose
// them by.
func (s *search) excludeFinalists(x *tuning.Exclusion, f *final, against *entry) {
	for _, e := range f.reruns {
		if e.kind == tuning.KindSearch && slices.Contains(f.finalists, e) {
			x.Finalists++
		}
	}
	x.FreshComparisons = x.Finalists * s.judge.comparisons()
	for _, e := range f.finalists {
		ends, broken := s.judge.exclude(e, against, s.fresh, 1-(1-confidence)/float64(max(x.FreshComparisons, 1)))
		switch {
		case broken || ends.High() <= 0:
			x.FreshExcluded++
		case !math.IsInf(ends.Half, 1) && (x.FreshMost == nil || ends.High() > *x.FreshMost):
			x.FreshMost = tuning.Number(ends.High())
		}
	}
}

// seedsOf are those on which a point ran under all workloads, from the first.
func (s *search) seedsOf(e *entry) []uint64 {
	k := len(s.seeds)
	for k > 0 && !e.has(s.seeds[:k], s.store.workloads) {
		k--
	}
	return s.seeds[:k]
}

// comparisons is how many intervals may exclude one point: of its score, and of
// every bound in every workload.
func (j *judge) comparisons() int { return 1 + len(j.bounds)*len(j.workloads) }

// exclude compares a point with another one on the same seeds: by how much its
// score is better, and whether it breaks a constraint beyond chance.
func (j *judge) exclude(e, against *entry, seeds []uint64, level float64) (better stat.Interval, broken bool) {
	for w := range j.workloads {
		for _, seed := range seeds {
			o := e.obs[cell{w, seed}]
			if o.Failed != "" || slices.Contains(o.Held, false) {
				return better, true // it has to hold in every run
			}
		}
		for _, b := range j.bounds {
			if over := j.over(e, b, w, seeds); len(over) > 1 && stat.MeanInterval(over, level).Low() > 0 {
				return better, true
			}
		}
	}
	better = Jackknife(len(seeds), level, func(replicates []int) float64 {
		some := make([]uint64, len(replicates))
		for i, k := range replicates {
			some[i] = seeds[k]
		}
		return j.score(against, some) - j.score(e, some)
	})
	if math.IsNaN(better.Mean + better.Half) {
		better = stat.Interval{Half: math.Inf(1), N: len(seeds)}
	}
	return better, false
}

// over is by how much a point is beyond a bound, seed by seed; nil where
// something was not measured.
func (j *judge) over(e *entry, b bound, w int, seeds []uint64) (list []float64) {
	for _, seed := range seeds {
		one := []uint64{seed}
		limit, ok := b.limit(j, w, one, true)
		x, measured := e.mean(b.figure, w, one)
		if !ok || !measured {
			return nil
		}
		if b.least {
			x, limit = limit, x
		}
		list = append(list, x-limit)
	}
	return list
}

// score is the cost of a point over workloads. With regret it is the largest cost:
// regret is counted from the best of each workload, which is the same for all.
func (j *judge) score(e *entry, seeds []uint64) float64 {
	cost, regret := make([]float64, len(j.workloads)), make([]float64, len(j.workloads))
	for w := range cost {
		cost[w] = j.cost(e, w, seeds)
		regret[w] = cost[w]
		if w < len(j.floor) {
			regret[w] -= j.floor[w]
		}
	}
	return overWorkloads(j.robust, cost, regret)
}

// mostProbes bounds the places at which the distance to the nearest point is
// measured, most distances the work.
const (
	mostProbes    = 1 << 14
	mostDistances = 40_000_000
)

// coverage measures how far places of the space are from the nearest point that
// ran: the largest difference of a parameter, as a share of its range on the
// scale of the search. Places are those of the additive recurrence of Roberts
// (2018), the powers of the root of x^(d+1) = x + 1.
func (s *search) coverage() tuning.Coverage {
	c := tuning.Coverage{Dimensions: len(s.space)}
	var places [][]float64
	for _, e := range s.store.list {
		places = append(places, s.space.place(e.p))
	}
	if c.Points = len(places); c.Points == 0 || c.Dimensions == 0 {
		return c
	}
	root := 1.0
	for range 60 {
		root = math.Pow(1+root, 1/float64(c.Dimensions+1))
	}
	c.Probes = min(mostProbes, mostDistances/(c.Points*c.Dimensions)+1)
	far := make([]float64, c.Probes)
	u := make([]float64, c.Dimensions)
	for i := range far {
		for k := range u {
			_, u[k] = math.Modf(0.5 + float64(i+1)*math.Pow(root, -float64(k+1)))
		}
		far[i] = nearest(places, u)
	}
	slices.Sort(far)
	c.Median, c.Farthest = far[len(far)/2], far[len(far)-1]
	return c
}

// nearest is the distance from a place to the nearest one of a list.
func nearest(places [][]float64, u []float64) float64 {
	least := math.Inf(1)
	for _, p := range places {
		d := 0.0
		for k := range u {
			d = max(d, math.Abs(p[k]-u[k]))
		}
		least = min(least, d)
	}
	return least
}
