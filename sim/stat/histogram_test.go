package stat

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// A histogram that grows to both sides answers like an array of all buckets.
func TestHistogramAgainstAllBuckets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var h, other Histogram
		var all [Buckets]sim.Duration
		total := sim.Duration(0)
		for range r.IntN(40) {
			b, d := BucketOf(r.Int64()>>r.IntN(63)), sim.Duration(r.IntN(1000))
			if r.IntN(2) == 0 {
				h.Add(b, d)
			} else {
				other.Add(b, d)
			}
			all[b] += d
			total += d
		}
		h.Merge(&other)
		for range 20 {
			x := sim.Duration(r.Int64N(int64(total) + 2))
			want, found, sum := int64(0), false, sim.Duration(0)
			for b := 0; b < Buckets && x > 0 && !found; b++ {
				if sum += all[b]; sum >= x {
					want, found = Upper(b), true
				}
			}
			got, ok := h.Quantile(x)
			if x > 0 {
				require.Equal(t, found, ok)
				require.Equal(t, want, got)
			}
			want, sum = 0, 0
			for b := Buckets - 1; b >= 0 && want == 0; b-- {
				if sum += all[b]; sum > x {
					want = Upper(b)
				}
			}
			require.Equal(t, want, h.Exceeded(x))
		}
		h.Reset()
		require.Zero(t, h.Exceeded(0))
	}
}

// What a short queue costs: one octave.
func TestHistogramHoldsWhatWasUsed(t *testing.T) {
	var h Histogram
	h.Add(BucketOf(1<<20), 1)
	require.Len(t, h.time, octave)
	h.Add(BucketOf(1<<18), 1)
	require.Len(t, h.time, 3*octave)
}
