package scenarios

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// allocations runs a scenario and returns what the heap has given out meanwhile,
// and the packet-hops.
func allocations(t testing.TB, s *Spec) (mallocs, hops float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Run(context.Background(), s, Options{Out: filepath.Join(t.TempDir(), "run")})
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs), float64(r.PacketHops)
}

// A packet-hop allocates nothing: what a longer run allocates more than a
// shorter one, with everything on, is below one allocation in a hundred
// packet-hops. Nearly all of it is for the series, at 10 us and written to disk.
func TestPacketHopsDoNotAllocate(t *testing.T) {
	for _, c := range []struct {
		series sim.Duration
		most   float64
	}{{10 * sim.Microsecond, 0.01}, {0, 0.002}} {
		at := func(d sim.Duration) (float64, float64) {
			s := benchSpec(t, benchFatTree(t, 4), benchLoad(t, "permutation"), d)
			s.Series.Interval = c.series
			return allocations(t, s)
		}
		m1, h1 := at(1 * sim.Millisecond)
		m2, h2 := at(3 * sim.Millisecond)
		require.Greater(t, h2-h1, 500_000.0)
		per := (m2 - m1) / (h2 - h1)
		t.Logf("series every %v: %.0f allocations more in %.0f packet-hops more: %.5f each", c.series, m2-m1, h2-h1, per)
		assert.Less(t, per, c.most)
	}
}
