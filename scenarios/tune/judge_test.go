package tune

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim/stat"
)

// obsOf makes points with made-up figures of two objectives.
func obsOf(r *rand.Rand, points, workloads int, seeds []uint64) []*entry {
	var list []*entry
	for i := range points {
		e := &entry{id: i, key: string(rune('a' + i)), obs: map[cell]Observation{}}
		for w := range workloads {
			for _, s := range seeds {
				e.obs[cell{w, s}] = Observation{Figures: []float64{r.Float64() * 10, r.Float64()}, Held: []bool{r.IntN(12) > 0}}
			}
		}
		list = append(list, e)
	}
	return list
}

// Costs, regrets and their largest are what their definitions say, written out
// once more without sharing anything.
func TestRegretAgainstASlowTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seeds := []uint64{4, 5, 6}
	for range 50 {
		points := obsOf(r, 6, 3, seeds)
		j := &judge{figures: []Figure{{Name: "x"}, {Name: "y"}}, workloads: []Workload{{Name: "A"}, {Name: "B"}, {Name: "C"}}, expect: []string{"z"},
			goals:  []goal{{figure: 0, sign: 1, weight: 2, scale: 4}, {figure: 1, sign: -1, weight: 1, scale: 0.5}},
			bounds: []bound{{figure: 0, value: 1.2, of: OfToday}}, robust: RobustRegret, today: points[0]}
		cost := func(p, w int) float64 {
			sum := 0.0
			for _, s := range seeds {
				f := points[p].obs[cell{w, s}].Figures
				sum += 2*f[0]/4 - f[1]/0.5
			}
			return sum / 3
		}
		meets := func(p int) bool {
			for w := range 3 {
				mine, today := 0.0, 0.0
				for _, s := range seeds {
					if !points[p].obs[cell{w, s}].Held[0] {
						return false
					}
					mine += points[p].obs[cell{w, s}].Figures[0]
					today += points[0].obs[cell{w, s}].Figures[0]
				}
				if mine > 1.2*today {
					return false
				}
			}
			return true
		}
		any := false
		for p := range points {
			any = any || meets(p)
		}
		for p, v := range j.assess(points, seeds) {
			require.Equal(t, meets(p), v.feasible(), "%v", v.words)
			require.Equal(t, meets(p), len(v.words) == 0)
			worst := math.Inf(-1)
			for w := range 3 {
				best := math.Inf(1)
				for q := range points {
					if meets(q) || !any {
						best = min(best, cost(q, w))
					}
				}
				assert.InDelta(t, cost(p, w)-best, v.regret[w], 1e-9)
				worst = max(worst, cost(p, w)-best)
			}
			assert.InDelta(t, worst, v.score, 1e-9)
		}
		mean, most := *j, *j
		mean.robust, most.robust = RobustMean, RobustWorst
		for p := range points {
			c := []float64{cost(p, 0), cost(p, 1), cost(p, 2)}
			assert.InDelta(t, (c[0]+c[1]+c[2])/3, mean.assess(points, seeds)[p].score, 1e-9)
			assert.InDelta(t, max(c[0], c[1], c[2]), most.assess(points, seeds)[p].score, 1e-9)
		}
	}
}

// The best baseline is the one with the best score among those that meet what
// does not refer to it.
func TestBestBaseline(t *testing.T) {
	mk := func(id int, v float64, held bool) *entry {
		return &entry{id: id, obs: map[cell]Observation{{0, 1}: {Figures: []float64{v}, Held: []bool{held}}}}
	}
	j := &judge{figures: []Figure{{Name: "x"}}, workloads: []Workload{{Name: "A"}}, expect: []string{"z"}, goals: []goal{{sign: 1, weight: 1, scale: 1}}, robust: RobustRegret,
		bounds: []bound{{value: 1, of: OfBestBaseline}}}
	list := []*entry{mk(0, 3, true), mk(1, 1, false), mk(2, 2, true)}
	assert.Equal(t, 2, j.bestBaseline(list, []uint64{1}).id)
	j.best = list[2]
	v := j.assess(append(list, mk(3, 1.9, true), mk(4, 2.1, true)), []uint64{1})
	assert.Equal(t, []bool{false, false, true, true, false}, []bool{v[0].feasible(), v[1].feasible(), v[2].feasible(), v[3].feasible(), v[4].feasible()})
	assert.Contains(t, v[4].words[0], "A: x is 2.1, want at most 2")
}

// On fresh seeds a bound that refers to another point is broken where the
// differences, seed by seed, are beyond chance, and not where they scatter about it.
func TestRelativeBoundsAllowForChance(t *testing.T) {
	seeds := []uint64{1, 2, 3, 4, 5, 6}
	mk := func(id int, values ...float64) *entry {
		e := &entry{id: id, obs: map[cell]Observation{}}
		for i, v := range values {
			e.obs[cell{0, seeds[i]}] = Observation{Figures: []float64{v}}
		}
		return e
	}
	ref := mk(0, 2, 3, 4, 5, 6, 7)
	j := &judge{figures: []Figure{{Name: "x"}}, workloads: []Workload{{Name: "A"}}, goals: []goal{{sign: 1, weight: 1, scale: 1}}, robust: RobustMean,
		best: ref, bounds: []bound{{value: 1, of: OfBestBaseline}}}
	scattered := mk(1, 2.3, 2.8, 4.4, 4.7, 6.3, 7.2) // +0.12 on average, to either side
	shifted := mk(2, 2.1, 3.12, 4.11, 5.13, 6.1, 7.12)
	for _, chance := range []bool{false, true} {
		j.chance = chance
		v := j.assess([]*entry{ref, scattered, shifted}, seeds)
		assert.Equal(t, []bool{true, chance, false}, []bool{v[0].feasible(), v[1].feasible(), v[2].feasible()})
	}
}

// A run without a figure, or one that failed, is never better than one with.
func TestWhatWasNotMeasuredNeverWins(t *testing.T) {
	j := &judge{figures: []Figure{{Name: "x"}}, workloads: []Workload{{Name: "A"}}, goals: []goal{{sign: 1, weight: 1, scale: 1}}, robust: RobustRegret}
	list := []*entry{
		{id: 0, obs: map[cell]Observation{{0, 1}: {Figures: []float64{math.NaN()}}}},
		{id: 1, obs: map[cell]Observation{{0, 1}: {Failed: "kmin above kmax"}}},
		{id: 2, obs: map[cell]Observation{{0, 1}: {Figures: []float64{1e5}}}},
	}
	v := j.assess(list, []uint64{1})
	j.order(v)
	assert.Equal(t, 2, v[0].e.id)
	assert.InDelta(t, 0, v[0].score, 1e-12)
}

// Fronts, knee and order of a trade-off worked by hand.
func TestPareto(t *testing.T) {
	j := &judge{figures: []Figure{{Name: "x"}, {Name: "y"}}, workloads: []Workload{{Name: "A"}}, pareto: true, robust: RobustMean,
		goals: []goal{{figure: 0, sign: 1, weight: 1, scale: 1}, {figure: 1, sign: 1, weight: 1, scale: 1}}}
	var list []*entry
	for i, f := range [][]float64{{0, 10}, {1, 4}, {2, 2}, {10, 0}, {3, 5}, {11, 11}} {
		list = append(list, &entry{id: i, obs: map[cell]Observation{{0, 1}: {Figures: f}}})
	}
	v := j.assess(list, []uint64{1})
	var ranks []int
	var aims [][]float64
	for i := range v {
		ranks = append(ranks, v[i].rank)
		if v[i].rank == 0 {
			aims = append(aims, j.aims(list[i], []uint64{1}))
		}
	}
	assert.Equal(t, []int{0, 0, 0, 0, 1, 2}, ranks)
	assert.Equal(t, 2, knee(aims))
	assert.Equal(t, -1, knee(nil))
}

// The jackknife of a mean is the t-interval, and that of a ratio of means covers
// the truth about as often as it says.
func TestJackknife(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := []float64{1, 4, 2, 8, 5, 7}
	mean := func(of []float64) func([]int) float64 {
		return func(k []int) float64 {
			sum := 0.0
			for _, i := range k {
				sum += of[i]
			}
			return sum / float64(len(k))
		}
	}
	got, want := Jackknife(len(x), 0.95, mean(x)), stat.MeanInterval(x, 0.95)
	assert.InDelta(t, want.Mean, got.Mean, 1e-12)
	assert.InDelta(t, want.Half, got.Half, 1e-9)
	assert.True(t, math.IsNaN(Jackknife(1, 0.95, mean(x)).Half))
	covered := 0
	for range 2000 {
		a, b := make([]float64, 10), make([]float64, 10)
		for i := range a {
			common := r.NormFloat64()
			a[i], b[i] = 3+0.5*common+0.2*r.NormFloat64(), 10+common+0.5*r.NormFloat64()
		}
		i := Jackknife(10, 0.95, func(k []int) float64 { return mean(a)(k) / mean(b)(k) })
		if i.Low() <= 0.3 && 0.3 <= i.High() {
			covered++
		}
	}
	assert.InDelta(t, 0.95, float64(covered)/2000, 0.02)
}
