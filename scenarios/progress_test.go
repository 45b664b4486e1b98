package scenarios

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// Asking how far a run is changes none of its results, whenever it is asked.
func TestProgressChangesNoResult(t *testing.T) {
	s := benchSpec(t, benchFatTree(t, 4), benchLoad(t, "permutation"), 200*sim.Microsecond)
	run := func(ask bool) string {
		w, err := s.prepare()
		require.NoError(t, err)
		o := Options{Out: filepath.Join(t.TempDir(), "run")}
		out, err := w.create(o)
		require.NoError(t, err)
		last := uint64(0)
		if ask {
			w.check = func(sim.Time) {
				hops := w.countHops()
				require.GreaterOrEqual(t, hops, last)
				last = hops
			}
		}
		r, err := w.simulate(context.Background(), out, o)
		require.NoError(t, err)
		if ask {
			require.Equal(t, r.PacketHops, last)
		}
		return r.Fingerprint
	}
	require.Equal(t, run(false), run(true))
}
