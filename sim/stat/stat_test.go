package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

func TestQuantileIsASample(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i)
	}
	// sorted[floor(p n)]: with 100 samples the index is the percentage.
	for _, c := range []struct{ p, want float64 }{
		{0, 0}, {0.01, 1}, {0.29, 29}, {0.5, 50}, {0.57, 57}, {0.95, 95}, {0.99, 99}, {0.999, 99}, {1, 99}, {-1, 0}, {2, 99}} {
		assert.Equal(t, c.want, Quantile(hundred, c.p), "p = %v", c.p)
	}
	assert.Equal(t, 7.0, Quantile([]float64{7}, 0.99))
	assert.Equal(t, 2.0, Quantile([]float64{1, 2}, 0.5))
	assert.True(t, math.IsNaN(Quantile(nil, 0.5)))
	assert.True(t, math.IsNaN(Quantile(hundred, math.NaN())))
}

func TestSummarize(t *testing.T) {
	s, ok := Summarize([]float64{3, 1, 2, 10})
	require.True(t, ok)
	assert.Equal(t, Summary{N: 4, Mean: 4, Min: 1, P50: 3, P95: 10, P99: 10, Max: 10}, s)
	_, ok = Summarize(nil)
	assert.False(t, ok)
}

func TestMeanLosesNothing(t *testing.T) {
	assert.Equal(t, 0.5, Mean([]float64{1e100, 1, -1e100, 1}), "2 / 4; plain summation gives 0.25")
	assert.True(t, math.IsNaN(Mean(nil)))
}

func TestJain(t *testing.T) {
	assert.Equal(t, 1.0, Jain([]float64{5, 5, 5}))
	assert.InDelta(t, 0.25, Jain([]float64{0, 0, 7, 0}), 1e-15, "one of n has it all: 1/n")
	// Shares 1..n: (n(n+1)/2)^2 / (n n(n+1)(2n+1)/6) = 3(n+1) / (2(2n+1)).
	assert.InDelta(t, 3*11.0/(2*21), Jain([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 1e-15)
	assert.InDelta(t, Jain([]float64{1, 2}), Jain([]float64{1e300, 2e300}), 1e-15, "no unit")
	assert.True(t, math.IsNaN(Jain(nil)))
	assert.True(t, math.IsNaN(Jain([]float64{0, 0})))
}

func TestBuckets(t *testing.T) {
	last := -1
	for v := int64(0); v < 5000; v++ {
		b := BucketOf(v)
		require.True(t, b == last || b == last+1, "value %d: bucket %d after %d", v, b, last)
		if b != last {
			require.True(t, b == 0 || Upper(b-1) == v-1, "bucket %d ends at %d", b-1, Upper(b-1))
		}
		last = b
	}
	for v := int64(1); v > 0; v *= 3 {
		u := Upper(BucketOf(v))
		require.GreaterOrEqual(t, u, v)
		require.LessOrEqual(t, float64(u), 1.125*float64(v))
	}
	require.Equal(t, int64(math.MaxInt64), Upper(BucketOf(math.MaxInt64)))
	require.Less(t, BucketOf(math.MaxInt64), 512, "4 KiB")
	require.Equal(t, 8, BucketOf(1<<20)-BucketOf(1<<19), "8 buckets per octave")
}

// A ramp that spends 1 us at each of 0..999: mean 499.5, quantiles known.
func TestResidenceOfARamp(t *testing.T) {
	var l Level
	for i := range int64(1000) {
		l.Set(sim.Time(i)*sim.Time(sim.Microsecond), i)
	}
	l.Set(sim.Time(sim.Millisecond), 0)
	assert.Equal(t, sim.Millisecond, l.Total())
	assert.InDelta(t, 499.5, l.Mean(), 1e-9)
	assert.InDelta(t, 0.4995, l.Integral(), 1e-12, "value seconds")
	assert.Equal(t, int64(999), l.Max())
	assert.Equal(t, int64(0), l.Min())
	for _, p := range []float64{0.01, 0.1, 0.5, 0.9, 0.99} {
		exact := p*1000 - 1
		got := float64(l.Quantile(p))
		assert.GreaterOrEqual(t, got, math.Floor(exact), "p = %v", p)
		assert.LessOrEqual(t, got, exact*1.125+1, "p = %v", p)
	}
	assert.Equal(t, int64(999), l.Quantile(1))
	assert.Equal(t, int64(0), l.Quantile(0))
}

// The twin: sort all (value, time) pairs and walk.
func TestResidenceAgainstSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		type stay struct {
			v int64
			d sim.Duration
		}
		var all []stay
		var h, left, right Residence
		var total sim.Duration
		for range r.IntN(200) + 1 {
			s := stay{r.Int64N(1 << r.IntN(40)), sim.Duration(r.Int64N(1e9) + 1)}
			all = append(all, s)
			h.Add(s.v, s.d)
			total += s.d
			if s.v%2 == 0 {
				left.Add(s.v, s.d)
			} else {
				right.Add(s.v, s.d)
			}
		}
		left.Merge(&right)
		require.Equal(t, h.Integral(), left.Integral())
		require.Equal(t, h.Max(), left.Max())
		slices.SortFunc(all, func(a, b stay) int { return int(a.v - b.v) })
		for _, p := range []float64{0.1, 0.5, 0.99, 1} {
			var sum sim.Duration
			exact := int64(0)
			for _, s := range all {
				if sum += s.d; float64(sum) >= p*float64(total) {
					exact = s.v
					break
				}
			}
			got := h.Quantile(p)
			require.Equal(t, got, left.Quantile(p))
			require.GreaterOrEqual(t, got, exact)
			require.LessOrEqual(t, float64(got), 1.125*float64(exact)+1)
		}
	}
}

func TestResidenceIntegralIsExactBeyond64Bits(t *testing.T) {
	var h Residence
	for range 100 {
		h.Add(64<<20, sim.Second) // 64 MiB for 100 s: 6.7e21 byte-ps
	}
	assert.Equal(t, float64(64<<20), h.Mean())
	assert.Equal(t, float64(100*(64<<20)), h.Integral())
}

func TestLevelRestartsAfterWarmup(t *testing.T) {
	var l Level
	l.Set(0, 1_000_000)
	l.Set(10, 5)
	l.Restart(20)
	l.Set(30, 7)
	assert.Equal(t, sim.Duration(10), l.Total())
	assert.Equal(t, 5.0, l.Mean())
	assert.Equal(t, int64(7), l.Max())
	assert.Equal(t, int64(5), l.Quantile(0.99))
	var empty Residence
	assert.Zero(t, empty.Mean())
	assert.Zero(t, empty.Quantile(0.5))
}

func TestMoments(t *testing.T) {
	var all, a, b Moments
	for i := range 1000 {
		v := 1e9 + float64(i%10) // a large offset, where sums of squares fail
		all.Add(v)
		if i%3 == 0 {
			a.Add(v)
		} else {
			b.Add(v)
		}
	}
	// Digits 0..9 a hundred times: sum of squares of deviations is 100 x 82.5.
	assert.InDelta(t, 1e9+4.5, all.Mean(), 1e-6)
	assert.InDelta(t, 8250.0/999, all.Variance(), 1e-6)
	a.Merge(b)
	assert.Equal(t, int64(1000), a.N())
	assert.InDelta(t, all.Mean(), a.Mean(), 1e-6)
	assert.InDelta(t, all.Variance(), a.Variance(), 1e-6)
	assert.Equal(t, []float64{1e9, 1e9 + 9}, []float64{a.Min(), a.Max()})
	var none Moments
	assert.True(t, math.IsNaN(none.Mean()) && math.IsNaN(none.Variance()))
	none.Merge(a)
	assert.Equal(t, a, none)
}

// Critical values of any table of Student's distribution, two-sided.
func TestStudentTable(t *testing.T) {
	for _, c := range []struct{ p, df, want float64 }{
		{0.975, 1, 12.7062}, {0.975, 2, 4.30265}, {0.975, 4, 2.77645}, {0.975, 9, 2.26216}, {0.975, 30, 2.04227},
		{0.975, 1e6, 1.95997}, {0.995, 1, 63.6567}, {0.995, 9, 3.24984}, {0.95, 5, 2.01505}, {0.9995, 3, 12.9240}} {
		assert.InDelta(t, c.want, StudentQuantile(c.p, c.df), 1e-4*c.want/1.9, "p %v, %v degrees", c.p, c.df)
		assert.InDelta(t, -c.want, StudentQuantile(1-c.p, c.df), 1e-4*c.want/1.9)
	}
	// One degree of freedom is Cauchy's distribution, two have a closed form.
	for _, x := range []float64{-30, -1, -0.1, 0, 0.5, 2, 1000} {
		assert.InDelta(t, 0.5+math.Atan(x)/math.Pi, StudentCDF(x, 1), 1e-13)
		assert.InDelta(t, 0.5+x/(2*math.Sqrt(2+x*x)), StudentCDF(x, 2), 1e-13)
	}
	assert.Equal(t, 0.0, StudentQuantile(0.5, 3))
	assert.True(t, math.IsInf(StudentQuantile(1, 3), 1))
	assert.True(t, math.IsNaN(StudentQuantile(1.1, 3)) && math.IsNaN(StudentQuantile(0.9, 0)) && math.IsNaN(StudentQuantile(math.NaN(), 1)))
}

func TestMeanInterval(t *testing.T) {
	// Deviation of 1..5 is sqrt(2.5): half-width 2.77645 x sqrt(2.5 / 5).
	i := MeanInterval([]float64{1, 2, 3, 4, 5}, 0.95)
	assert.InDelta(t, 3, i.Mean, 1e-15)
	assert.InDelta(t, 2.77645*math.Sqrt(0.5), i.Half, 1e-4)
	assert.True(t, i.Overlaps(Interval{Mean: 5.5, Half: 1}))
	assert.False(t, i.Overlaps(Interval{Mean: 7, Half: 1}))
	assert.True(t, math.IsNaN(MeanInterval([]float64{1}, 0.95).Half))

	// 95 % of intervals hold the true mean.
	r, hit := rand.New(rand.NewPCG(5, 6)), 0
	for range 2000 {
		xs := make([]float64, 4)
		for k := range xs {
			xs[k] = r.NormFloat64()
		}
		if c := MeanInterval(xs, 0.95); c.Low() <= 0 && 0 <= c.High() {
			hit++
		}
	}
	assert.InDelta(t, 0.95, float64(hit)/2000, 0.02)
}

func BenchmarkResidenceAdd(b *testing.B) {
	var r Residence
	b.ReportAllocs()
	for i := range b.N {
		r.Add(int64(i&0xfffff), 1000)
	}
}
