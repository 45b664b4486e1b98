package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rdmasim/reports/metric"
	"rdmasim/sim/stat"
)

// goal is an objective, ready to be computed.
type goal struct {
	figure int
	sign   float64 // -1 where the figure is to be large
	weight float64
	scale  float64 // what counts as one
}

// bound is a constraint on the mean of a figure.
type bound struct {
	figure int
	least  bool    // from below
	value  float64 // in SI units, or a share of what of names
	of     string
}

// judge compares points.
type judge struct {
	figures   []Figure
	workloads []Workload
	expect    []string
	goals     []goal
	bounds    []bound
	robust    string
	pareto    bool

	today, best *entry    // what bounds refer to; best is nil without baselines
	chance      bool      // a bound that refers to another point is broken only beyond chance
	floor       []float64 // by workload: the cost that regret is counted from, once the search is over
}

// verdict is how a point does on some seeds.
type verdict struct {
	e         *entry
	cost      []float64 // by workload; NaN = not measured
	regret    []float64 // by workload: cost above the best feasible known
	score     float64   // over workloads, the less the better; NaN = not measured
	violation float64   // 0 = feasible
	words     []string  // what is violated
	rank      int       // Pareto: number of the front, from 0
	crowd     float64   // Pareto: room around the point within its front
}

func (v *verdict) feasible() bool { return v.violation == 0 }

// number is a verdict as one number for methods that only compare numbers: the
// feasible come before the others. Source: Deb, "An efficient constraint handling
// method for genetic algorithms", 2000.
func (v *verdict) number() float64 {
	if v.feasible() && !math.IsNaN(v.score) {
		return v.score
	}
	return 1e6 * (1 + v.violation)
}

// cost is the weighted sum of the objectives of a workload, each in its own scale.
func (j *judge) cost(e *entry, w int, seeds []uint64) float64 {
	sum := 0.0
	for _, g := range j.goals {
		v, ok := e.mean(g.figure, w, seeds)
		if !ok {
			return math.NaN()
		}
		sum += g.sign * g.weight * v / g.scale
	}
	return sum
}

// assess judges points on the same seeds. Regret is over the best of them.
func (j *judge) assess(entries []*entry, seeds []uint64) []verdict {
	list := make([]verdict, len(entries))
	best := make([]float64, len(j.workloads))
	for w := range best {
		best[w] = math.Inf(1)
	}
	for i, e := range entries {
		v := &list[i]
		*v = verdict{e: e, cost: make([]float64, len(best)), regret: make([]float64, len(best))}
		j.violations(v, seeds, true)
		for w := range v.cost {
			if v.cost[w] = j.cost(e, w, seeds); math.IsNaN(v.cost[w]) {
				v.violation++
				v.words = append(v.words, j.workloads[w].Name+": an objective was not measured")
			}
		}
		for w := range v.cost {
			if v.feasible() {
				best[w] = min(best[w], v.cost[w])
			}
		}
	}
	for w := range best { // nothing is feasible: the least of all
		for i := range list {
			if math.IsInf(best[w], 1) && !slices.ContainsFunc(list, func(v verdict) bool { return v.cost[w] < list[i].cost[w] }) {
				best[w] = list[i].cost[w]
			}
		}
	}
	for i := range list {
		v := &list[i]
		for w := range best {
			v.regret[w] = v.cost[w] - best[w]
		}
		v.score = overWorkloads(j.robust, v.cost, v.regret)
	}
	if j.pareto {
		j.fronts(list, seeds)
	}
	return list
}

// overWorkloads turns costs into one number.
func overWorkloads(robust string, cost, regret []float64) float64 {
	switch robust {
	case RobustMean:
		sum := 0.0
		for _, c := range cost {
			sum += c
		}
		return sum / float64(len(cost))
	case RobustWorst:
		return largest(cost)
	}
	return largest(regret)
}

// largest returns the maximum, NaN where one is.
func largest(list []float64) float64 {
	m := math.Inf(-1)
	for _, v := range list {
		m = max(m, v) // NaN if either is
	}
	return m
}

// violations says which constraints a point violates on seeds, and by how much.
// Without relative, those that refer to the best baseline are left out.
func (j *judge) violations(v *verdict, seeds []uint64, relative bool) {
	for w, load := range j.workloads {
		j.failures(v, w, load.Name, seeds)
		for _, b := range j.bounds {
			limit, ok := b.limit(j, w, seeds, relative)
			if !ok {
				continue
			}
			x, ok := v.e.mean(b.figure, w, seeds)
			if !ok {
				v.violation++
				v.words = append(v.words, fmt.Sprintf("%s: %s was not measured", load.Name, j.figures[b.figure].Name))
				continue
			}
			over := x - limit
			if b.least {
				over = limit - x
			}
			if over > 1e-12*math.Abs(limit) && (!j.chance || b.of == "" || j.beyondChance(v.e, b, w, seeds)) {
				v.violation += over / max(math.Abs(limit), math.Abs(x)) // 0..1: of what would be right
				unit := j.figures[b.figure].expr.Unit
				v.words = append(v.words, fmt.Sprintf("%s: %s is %s, want %s %s", load.Name, j.figures[b.figure].Name, metric.Format(x, unit), map[bool]string{false: "at most", true: "at least"}[b.least], metric.Format(limit, unit)))
			}
		}
	}
}

// beyondChance reports whether a bound that refers to another point is broken by
// more than chance: the 95 % interval of the differences, seed by seed, lies
// beyond it.
func (j *judge) beyondChance(e *entry, b bound, w int, seeds []uint64) bool {
	over := j.over(e, b, w, seeds)
	return len(over) < 2 || stat.MeanInterval(over, confidence).Low() > 0
}

// failures counts runs that failed and expectations that do not hold.
func (j *judge) failures(v *verdict, w int, name string, seeds []uint64) {
	broken := make([]int, len(j.expect))
	for _, s := range seeds {
		o := v.e.obs[cell{w, s}]
		if o.Failed != "" {
			v.violation += 2 / float64(len(seeds))
			if words := name + ": " + o.Failed; !slices.Contains(v.words, words) {
				v.words = append(v.words, words)
			}
			continue
		}
		for i, held := range o.Held {
			if !held {
				broken[i]++
			}
		}
	}
	for i, n := range broken {
		if n > 0 {
			v.violation += 1 + float64(n)/float64(len(seeds))
			v.words = append(v.words, fmt.Sprintf("%s: %s fails on %d of %d seeds", name, j.expect[i], n, len(seeds)))
		}
	}
}

// limit returns the bound in a workload; false where there is none.
func (b *bound) limit(j *judge, w int, seeds []uint64, relative bool) (float64, bool) {
	of := j.today
	switch b.of {
	case "":
		return b.value, true
	case OfBestBaseline:
		if of = j.best; !relative {
			return 0, false
		}
	}
	if of == nil {
		return 0, false
	}
	v, ok := of.mean(b.figure, w, seeds)
	return b.value * v, ok
}

// order sorts verdicts, the best first; ties by the order in which points were met.
func (j *judge) order(list []verdict) {
	slices.SortStableFunc(list, func(a, b verdict) int {
		if j.pareto && a.feasible() && b.feasible() {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.crowd, a.crowd), cmp.Compare(a.e.id, b.e.id))
		}
		return cmp.Or(cmp.Compare(a.number(), b.number()), cmp.Compare(a.e.id, b.e.id))
	})
}

// takeScales sets what counts as one of each objective that the plan does not
// say: the mean over points and workloads.
func (j *judge) takeScales(entries []*entry, seeds []uint64) {
	for i := range j.goals {
		g := &j.goals[i]
		if g.scale > 0 {
			continue
		}
		sum, n := 0.0, 0
		for _, e := range entries {
			for w := range j.workloads {
				if v, ok := e.mean(g.figure, w, seeds); ok {
					sum, n = sum+math.Abs(v), n+1
				}
			}
		}
		if g.scale = 1; sum > 0 {
			g.scale = sum / float64(n)
		}
	}
}

// bestBaseline returns the baseline that is best by the plan, constraints that
// refer to it aside; nil where there is none.
func (j *judge) bestBaseline(baselines []*entry, seeds []uint64) *entry {
	if len(baselines) == 0 {
		return nil
	}
	free := *j
	free.best, free.pareto = nil, false
	list := free.assess(baselines, seeds)
	free.order(list)
	return list[0].e
}
