package tune

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/tuning"
)

// noisy is a search of points with one figure, 10 plus a difference plus noise
// of which a part is common to all points of a seed.
func noisy(r *rand.Rand, differences []float64, seeds int) *search {
	s := &search{space: space{{low: 1, high: 100, over: -1, scale: scaleLog}}, store: &store{workloads: 1}}
	for i := range seeds {
		s.seeds = append(s.seeds, uint64(i+1))
	}
	common := map[uint64]float64{}
	for _, seed := range s.seeds {
		common[seed] = 3 * r.NormFloat64()
	}
	add := func(difference float64, kind string) *entry {
		e := &entry{id: len(s.store.list), kind: kind, key: fmt.Sprint(len(s.store.list)), p: point{1 + r.Float64()*99}, obs: map[cell]Observation{}}
		for _, seed := range s.seeds {
			e.obs[cell{0, seed}] = Observation{Figures: []float64{10 + difference + common[seed] + r.NormFloat64()}, Held: []bool{true}}
		}
		s.store.list = append(s.store.list, e)
		return e
	}
	s.today = add(0, tuning.KindToday)
	for _, d := range differences {
		add(d, tuning.KindSearch)
	}
	s.judge = &judge{figures: []Figure{{Name: "x"}}, workloads: []Workload{{Name: "A"}}, expect: []string{"z"}, goals: []goal{{sign: 1, weight: 1, scale: 1}}, robust: RobustRegret, today: s.today}
	return s
}

// Points that are much worse are excluded, one that is better is open, and the
// bound of what is open holds: in all but a few per cent of searches none of
// forty points is better than the report allows.
func TestExclusionHoldsForAllPointsTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const trials = 120
	wrong, excluded := 0, 0
	for range trials {
		var differences []float64
		for i := range 40 {
			differences = append(differences, -0.5+0.25*float64(i%12))
		}
		s := noisy(r, differences, 8)
		f := &final{}
		x := s.exclusion(f)
		require.Equal(t, x.Points, x.Worse+x.Open+x.Broken+x.Single)
		excluded += x.Worse
		if x.Most != nil && *x.Most < 0.5 { // the best point is better by 0.5
			wrong++
		}
		level := 1 - 0.05/float64(x.Comparisons)
		for i, d := range differences {
			if b, _ := s.judge.exclude(s.store.list[1+i], s.today, s.seeds, level); b.High() <= 0 && d < 0 {
				wrong++ // excluded, and better in truth
			}
		}
	}
	t.Logf("%d of %d searches say too much; %.1f of 40 points excluded in each", wrong, trials, float64(excluded)/trials)
	assert.Less(t, wrong, trials*5/100)
	assert.Greater(t, excluded, trials*2)
}

func TestExclusionCountsEveryPointOnce(t *testing.T) {
	s := noisy(rand.New(rand.NewPCG(1, 2)), []float64{-100, 100, 0, 0, 0}, 4)
	list := s.store.list
	delete(list[3].obs, cell{0, 2})                                                   // one seed only
	list[4].obs[cell{0, 3}] = Observation{Figures: []float64{1}, Held: []bool{false}} // an expectation fails
	list[5].obs[cell{0, 3}] = Observation{Failed: "it hung", Figures: []float64{1}}   // no figures
	s.fresh = s.seeds
	x := s.exclusion(&final{finalists: list[1:3], reruns: list[:3]})
	assert.Equal(t, 5, x.Points)
	assert.Equal(t, 1, x.Single)
	assert.Equal(t, 2, x.Broken)
	assert.Equal(t, 1, x.Worse)
	assert.Equal(t, 1, x.Open, "the one that is better by 100")
	assert.Greater(t, *x.Most, 100.0)
	assert.Equal(t, 2, x.Finalists)
	assert.Equal(t, 1, x.FreshExcluded)
	assert.Greater(t, *x.FreshMost, 100.0)
	words := strings.Join(x.Words("today", func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }, func(n int, s string) string { return fmt.Sprint(n, " ", s, "s") }), "\n")
	for _, want := range []string{"1 of 2 finalists are certainly no better than today", "Of 5 points that the search ran, 2 break a constraint and 1 are no better", "Open are 1 points, which may be better by up to", "cannot be judged", "Between the points nothing is proven"} {
		assert.Contains(t, words, want)
	}
}

// The farthest place from a grid of points is its known half distance.
func TestCoverageOfAGrid(t *testing.T) {
	s := &search{store: &store{}}
	for range 2 {
		s.space = append(s.space, dimension{low: 0, high: 1, over: -1, scale: scaleLinear})
	}
	for i := range 5 {
		for k := range 5 {
			s.store.list = append(s.store.list, &entry{p: point{0.1 + 0.2*float64(i), 0.1 + 0.2*float64(k)}})
		}
	}
	c := s.coverage()
	assert.Equal(t, 25, c.Points)
	assert.InDelta(t, 0.1, c.Farthest, 0.002)
	assert.LessOrEqual(t, c.Farthest, 0.1)
	assert.InDelta(t, 0.1/1.41421, c.Median, 0.003, "half of a cell lies in the inner square of half its area")
}
