package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func plan(t *testing.T, text string) *Plan {
	p, err := ParsePlan("plan.yaml", []byte(text))
	require.NoError(t, err)
	return p
}

// values returns the points as lines of text.
func values(p *Plan) (lines []string) {
	for _, pt := range p.Points() {
		lines = append(lines, strings.Join(pt.Values, " "))
	}
	return lines
}

func TestGrid(t *testing.T) {
	for _, c := range []struct {
		name, vary string
		want       []string
	}{
		{"lists, the last fastest", `{a: [1, 2], b: [x, y, z]}`, []string{"1 x", "1 y", "1 z", "2 x", "2 y", "2 z"}},
		{"linear range", `{a: {from: 100KB, to: 400KB, steps: 4}}`, []string{"100KB", "200KB", "300KB", "400KB"}},
		{"logarithmic range", `{a: {from: 10Gbps, to: 160Gbps, scale: log, steps: 5}}`, []string{"10Gbps", "20Gbps", "40Gbps", "80Gbps", "160Gbps"}},
		{"rounding stays in the range", `{a: {from: 10us, to: 100us, steps: 4, round: 7us}}`, []string{"14us", "42us", "70us", "98us"}},
		{"ratios", `{a: {from: 0.0, to: 1.0, steps: 5}}`, []string{"0", "0.25", "0.5", "0.75", "1"}},
		{"percent", `{a: {from: 5%, to: 20%, steps: 4, round: 1%}}`, []string{"0.05", "0.1", "0.15", "0.2"}},
		{"whole numbers", `{a: {from: 1, to: 9, steps: 3}}`, []string{"1", "5", "9"}},
		{"one step is the middle", `{a: {from: 1, to: 9, steps: 1}}`, []string{"5"}},
		{"together", `{"a, b": [[1, 2], [3, 4]]}`, []string{"1 2", "3 4"}},
		{"a factor", `{a: [100KB, 1MB], b: {of: a, times: 4}}`, []string{"100KB 400KB", "1MB 4MB"}},
		{"factors", `{a: [100KB, 1MB], b: {of: a, times: [1.5, 2]}}`, []string{"100KB 150KB", "100KB 200KB", "1MB 1.5MB", "1MB 2MB"}},
		{"a range of factors", `{a: [100KB], b: {of: a, times: {from: 2, to: 4, steps: 3}, round: 16KB}}`, []string{"100KB 208KB", "100KB 304KB", "100KB 400KB"}},
		{"a factor of a factor", `{a: [10], b: {of: a, times: 2}, c: {of: b, times: 0.25}}`, []string{"10 20 5"}},
		{"whole values", `{topology: [{star: {hosts: 5}}, dumbbell]}`, []string{"{star: {hosts: 5}}", "dumbbell"}},
		{"text that YAML would read as something else", `{a: ["8", '#x']}`, []string{`"8"`, `'#x'`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, values(plan(t, "scenario: s\nvary: "+c.vary+"\n")))
		})
	}
}

// Every value that a range gives lies in it and is a multiple of the step.
func TestRange(t *testing.T) {
	for _, c := range []struct{ low, high, step string }{
		{"100KB", "1600KB", "10KB"}, {"1B", "3B", "0"}, {"55us", "1ms", "300ns"}, {"0.001", "1", "0"}, {"1%", "100%", "0.5%"},
		{"1", "1000", "0"}, {"1", "2.5", "0.5"}, {"10Gbps", "400Gbps", "0"}, {"1m", "2km", "0"},
	} {
		parse := func(s string) Quantity {
			if s == "0" {
				return Quantity{}
			}
			q, err := ParseQuantity(s)
			require.NoError(t, err)
			return q
		}
		low, high, step := parse(c.low), parse(c.high), parse(c.step)
		for _, log := range []bool{false, true} {
			r, err := NewRange(low, high, step, log)
			require.NoError(t, err)
			before := low.Value
			for i := range 1001 {
				v := r.At(float64(i) / 1000)
				assert.GreaterOrEqual(t, v.Value, max(low.Value, before), c)
				assert.LessOrEqual(t, v.Value, high.Value, c)
				if step.Value > 0 {
					n := v.Value / step.Value
					assert.InDelta(t, n, float64(int64(n+0.5)), 1e-9, "%v of %v", v, c)
				}
				back, err := ParseQuantity(v.String())
				require.NoError(t, err)
				assert.Equal(t, v.Value, back.Value, v.String())
				before = v.Value
			}
			assert.InDelta(t, 0.3, r.Where(r.Low+(r.High-r.Low)*0.3), map[bool]float64{false: 1e-9, true: 1}[log])
		}
	}
}

// Of every parameter each n-th part of a Latin hypercube has one point.
func TestLatinHypercube(t *testing.T) {
	for _, n := range []int{1, 2, 7, 64} {
		points := LatinHypercube(n, 5, 3)
		for d := range 5 {
			cells := map[int]bool{}
			for _, u := range points {
				cells[int(u[d]*float64(n))] = true
			}
			assert.Len(t, cells, n)
		}
	}
	assert.Equal(t, LatinHypercube(9, 3, 1), LatinHypercube(9, 3, 1))
	assert.NotEqual(t, LatinHypercube(9, 3, 1), LatinHypercube(9, 3, 2))
}

// The first 2^k points of a Sobol sequence have one in each of 2^k equal parts
// of every dimension, shifted or not, and so has every block of 2^k after them.
func TestSobolDimensions(t *testing.T) {
	const n = 256
	points := SobolPoints(2*n, MostSobol, 5)
	for d := range MostSobol {
		for block := range 2 {
			cells := map[int]bool{}
			for _, u := range points[block*n : (block+1)*n] {
				cells[int(u[d]*n)] = true
			}
			assert.Len(t, cells, n, "dimension %d", d)
		}
	}
	assert.NotEqual(t, points, SobolPoints(2*n, MostSobol, 6))
}

// Two dimensions: the first two are a (0, m, 2)-net, one point in every box of
// every shape of volume 2^-m; the rest fill a coarse grid evenly.
func TestSobolPairs(t *testing.T) {
	const m = 8
	points := SobolPoints(1<<m, 2, 1)
	for a := 0; a <= m; a++ {
		boxes := map[[2]int]int{}
		for _, u := range points {
			boxes[[2]int{int(u[0] * float64(int(1)<<a)), int(u[1] * float64(int(1)<<(m-a)))}]++
		}
		assert.Len(t, boxes, 1<<m, "boxes of 2^-%d by 2^-%d", a, m-a)
	}
	many := SobolPoints(1<<12, MostSobol, 1)
	for d := range MostSobol {
		for e := range d {
			var quarter [4]int
			for _, u := range many {
				quarter[int(u[d]*2)*2+int(u[e]*2)]++
			}
			assert.Equal(t, [4]int{1 << 10, 1 << 10, 1 << 10, 1 << 10}, quarter, "dimensions %d and %d", d, e)
		}
	}
}

// Published: the first points of the unshifted sequence in three dimensions
// (S. Joe and F. Kuo, "Notes on generating Sobol sequences", 2008).
func TestSobolPublished(t *testing.T) {
	want := [][]float64{{0, 0, 0}, {.5, .5, .5}, {.75, .25, .25}, {.25, .75, .75}, {.375, .375, .625}, {.875, .875, .125}, {.625, .125, .875}, {.125, .625, .375}}
	for d := range 3 {
		x, v := uint32(0), directions(d)
		for i := range want {
			assert.Equal(t, want[i][d], float64(x)/(1<<32), "point %d, dimension %d", i, d)
			x ^= v[trailingOnes(uint32(i))]
		}
	}
}

func TestSampledPlans(t *testing.T) {
	for _, method := range []string{"latin_hypercube", "sobol"} {
		p := plan(t, "scenario: s\ndesign: {"+method+": {points: 64, seed: 7}}\nvary: {a: {from: 10KB, to: 1MB, scale: log, round: 1KB}, b: [x, y, z, u], c: {of: a, times: {from: 2, to: 4}}, d: [1]}\n")
		points := p.Points()
		assert.Len(t, points, 64)
		shares := map[string]int{}
		for _, pt := range points {
			shares[pt.Values[1]]++
			a, err := ParseQuantity(pt.Values[0])
			require.NoError(t, err)
			c, err := ParseQuantity(pt.Values[2])
			require.NoError(t, err)
			assert.True(t, c.Value >= 2*a.Value-1 && c.Value <= 4*a.Value+1, "%v", pt.Values)
			assert.Equal(t, "1", pt.Values[3])
			assert.Equal(t, []Set{{"a", pt.Values[0]}, {"b", pt.Values[1]}, {"c", pt.Values[2]}, {"d", "1"}}, pt.Sets)
		}
		assert.Equal(t, map[string]int{"x": 16, "y": 16, "z": 16, "u": 16}, shares, "every value of a list has its share")
	}
}

func TestSeeds(t *testing.T) {
	seeds := func(text string) (list [][]uint64) {
		p := plan(t, "scenario: s\nvary: {a: [1, 2]}\nseeds: "+text+"\n")
		list = make([][]uint64, 2)
		for i, u := range p.Units() {
			assert.Equal(t, i, u.Index)
			list[u.Point] = append(list[u.Point], u.Seed)
		}
		return list
	}
	assert.Equal(t, [][]uint64{{1, 2, 3}, {1, 2, 3}}, seeds("3"))
	assert.Equal(t, [][]uint64{{7, 9}, {7, 9}}, seeds("[7, 9]"))
	assert.Equal(t, [][]uint64{{10, 11}, {10, 11}}, seeds("{count: 2, first: 10}"))
	own := seeds("{count: 2, common: false}")
	all := slices.Concat(own...)
	slices.Sort(all)
	assert.Len(t, slices.Compact(all), 4, "no two are alike")
}

// Shards are a partition of the units.
func TestShards(t *testing.T) {
	units := plan(t, "scenario: s\nvary: {a: [1, 2, 3, 4, 5, 6, 7]}\nseeds: 3\n").Units()
	for n := 1; n <= 25; n++ {
		var all []Unit
		for i := 1; i <= n; i++ {
			all = append(all, Shard(units, i, n)...)
		}
		slices.SortFunc(all, func(a, b Unit) int { return a.Index - b.Index })
		assert.Equal(t, units, all)
	}
}

// What a sweep computes decides its ID, and nothing else.
func TestID(t *testing.T) {
	base := "scenario: s\nvary: {a: [1, 2]}\nseeds: 2\nmetrics: [flows.slowdown]\n"
	src := NewSource("s", []byte("x"))
	id := plan(t, base).ID(src)
	for _, same := range []string{
		"# a remark\n" + base,
		"scenario: elsewhere\nvary: {a: {from: 1, to: 2, steps: 2}}\nseeds: [1, 2]\nmetrics: [flows.slowdown.mean, flows.slowdown.p50, flows.slowdown.p95, flows.slowdown.p99, flows.slowdown.max]\n",
	} {
		assert.Equal(t, id, plan(t, same).ID(src), same)
	}
	for _, other := range []string{
		strings.Replace(base, "2]", "3]", 1), strings.Replace(base, "seeds: 2", "seeds: [2, 1]", 1), strings.Replace(base, "a:", "b:", 1),
		base + "set: {c: 1}\n", strings.Replace(base, "slowdown", "fct_s", 1),
	} {
		assert.NotEqual(t, id, plan(t, other).ID(src), other)
	}
	assert.NotEqual(t, id, plan(t, base).ID(NewSource("s", []byte("y"))))
}

func TestPlanErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "plan.yaml: the file is empty"},
		{"vary: {a: [1]}\n", "plan.yaml:1:1: scenario is missing"},
		{"scenario: s\n", "vary is missing"},
		{"scenario: s\nvarry: {a: [1]}\n", "plan.yaml:2:1: varry: unknown key: did you mean vary? keys here are scenario, set, vary, design, seeds, metrics"},
		{"scenario: s\nvary: {a: 1}\n", "plan.yaml:2:11: vary.a: 1: want a list of values"},
		{"scenario: s\nvary: {a: []}\n", "vary.a: the list is empty"},
		{"scenario: s\nvary: {a: [1, 1]}\n", "plan.yaml:2:15: vary.a.1: 1: the value is there twice"},
		{"scenario: s\nvary: {a: [1], 'a, b': [[1, 2]]}\n", "a is varied twice"},
		{"scenario: s\nvary: {'a, b': [[1, 2], [3]]}\n", "vary.a, b.1: want a list of 2 values, one for each of a, b"},
		{"scenario: s\nvary: {seed: [1]}\n", "seeds are given by the key seeds"},
		{"scenario: s\nvary: {a..b: [1]}\n", "is no path"},
		{"scenario: s\nvary: {a: {from: 1KB}}\n", "to is missing"},
		{"scenario: s\nvary: {a: {from: 1KB, to: 1us, steps: 2}}\n", "1KB is a size and 1us a duration"},
		{"scenario: s\nvary: {a: {from: 2KB, to: 1KB, steps: 2}}\n", "the range from 2KB to 1KB is empty"},
		{"scenario: s\nvary: {a: {from: 0B, to: 1KB, steps: 2, scale: log}}\n", "begins above 0"},
		{"scenario: s\nvary: {a: {from: 1KB, to: 2KB, steps: 2, scale: lin}}\n", "want one of linear, log"},
		{"scenario: s\nvary: {a: {from: 1KB, to: 2KB, steps: 2, round: 5KB}}\n", "no multiple of 5KB lies from 1KB to 2KB"},
		{"scenario: s\nvary: {a: {from: 1KB, to: 2KB}}\n", "steps is missing"},
		{"scenario: s\nvary: {a: {from: x, to: 2KB}}\n", "plan.yaml:2:18: vary.a.from: x: want a number such as 400KB"},
		{"scenario: s\nvary: {a: {from: 1KB, to: 2KB, steps: 2}}\ndesign: {sobol: {points: 4}}\n", "steps is for a grid"},
		{"scenario: s\nvary: {a: {of: b, times: 2}}\n", "no parameter above has this path"},
		{"scenario: s\nvary: {a: [1, x], b: {of: a, times: 2}}\n", "x: want a number"},
		{"scenario: s\nvary: {a: [1], b: {of: a, times: 2KB}}\n", "2KB is no factor"},
		{"scenario: s\nvary: {a: [1], b: {of: a, times: -2}}\n", "-2 is no factor"},
		{"scenario: s\nvary: {a: [1], b: {of: a, times: 2, round: 1KB}}\n", "cannot be rounded to 1KB"},
		{"scenario: s\nvary: {a: [1], b: {of: a, times: 1e300}}\n", "too large"},
		{"scenario: s\nvary: {a: [1KB, 1us], b: {of: a, times: 2}}\n", "want values of one kind"},
		{"scenario: s\nvary: {a: [1], b: {of: a}}\n", "times is missing"},
		{"scenario: s\nvary: {a: [1]}\ndesign: latin_hypercube\n", "points is missing"},
		{"scenario: s\nvary: {a: [1]}\ndesign: {latin_hypercube: {points: 4}}\n", "nothing to choose from"},
		{"scenario: s\nvary: {a: [1]}\ndesign: random\n", "want one of grid, latin_hypercube, sobol"},
		{"scenario: s\nvary: {a: [1]}\nseeds: 0\n", "plan.yaml:3:8: seeds: 0: want a whole number from 1"},
		{"scenario: s\nvary: {a: [1]}\nseeds: [1, 1]\n", "the seed is there twice"},
		{"scenario: s\nvary: {a: {from: 1, to: 2000, steps: 2000}, b: {from: 1, to: 2000, steps: 2000}}\n", "more than 1048576 runs"},
		{"scenario: s\nvary: {a: [1]}\nmetrics: [flows.slowdwn.p99]\n", "did you mean"},
		{"scenario: s\nvary: {a: [1]}\nmetrics: ['max(queue_byte)']\n", "did you mean queue_bytes?"},
		{"scenario: s\nvary: {a: [1]}\nmetrics: [p99(flows.slowdown, tag=small)]\n", "put a function with a comma in quotes"},
		{"scenario: s\nvary: {a: [1]}\nmetrics: []\n", "leave the key out"},
	} {
		_, err := ParsePlan("plan.yaml", []byte(c.text))
		if assert.Error(t, err, c.text) {
			assert.Contains(t, err.Error(), c.want, c.text)
			assert.NotContains(t, err.Error(), "\n")
		}
	}
	wide := "scenario: s\ndesign: {sobol: {points: 4}}\nvary: {"
	for i := range MostSobol + 1 {
		wide += fmt.Sprintf("a%d: [1, 2], ", i)
	}
	_, err := ParsePlan("plan.yaml", []byte(wide+"}\n"))
	assert.ErrorContains(t, err, "sobol takes at most 31")
}
