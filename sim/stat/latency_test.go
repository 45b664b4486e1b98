package stat

import (
	"math/rand/v2"
	"slices"
	"testing"

	"rdmasim/sim"

	"github.com/stretchr/testify/require"
)

// Quantiles of a histogram are those of the sorted list, within 0.1 %.
func TestLatenciesAgainstASortedList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, largest := range []int64{3, 1000, 2048, 1e6, 1e12} {
		var l Latencies
		var list []int64
		for range 3000 {
			v := int64(r.ExpFloat64() * float64(largest))
			list = append(list, v)
			l.Add(sim.Duration(v))
		}
		slices.Sort(list)
		require.EqualValues(t, len(list), l.N())
		for _, p := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
			want := list[min(int(p*float64(len(list))), len(list)-1)]
			got := int64(l.Quantile(p))
			require.GreaterOrEqual(t, got, want)
			require.LessOrEqual(t, float64(got), float64(want)*1.001+1)
		}
	}
	require.Zero(t, new(Latencies).Quantile(0.5))
}

// Buckets cover all durations without gap or overlap.
func TestLatencyBuckets(t *testing.T) {
	for v := int64(0); v < 1<<14; v++ {
		b := latencyBucket(v)
		require.LessOrEqual(t, v, latencyUpper(b))
		if b > 0 {
			require.Greater(t, v, latencyUpper(b-1))
		}
	}
	require.Equal(t, int64(1<<63-1), latencyUpper(latencyBucket(1<<63-1)))
}
