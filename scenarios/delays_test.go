package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// checkDelays asserts that the parts of every message add up to its time, that
// none is negative, and that every message has its row.
func checkDelays(t testing.TB, run *trace.Run) {
	flows := map[uint64]trace.Flow{}
	var order []uint64
	for f, err := range run.Flows() {
		require.NoError(t, err)
		flows[f.ID] = f
		order = append(order, f.ID)
	}
	n := 0
	for d, err := range run.Delays() {
		require.NoError(t, err)
		f, ok := flows[d.ID]
		require.True(t, ok)
		require.Equal(t, order[n], d.ID)
		n++
		end := f.End
		if end < 0 {
			end = sim.Time(run.Manifest.Simulated)
		}
		require.Equal(t, end.Sub(f.Start), d.Sum(), "message %d of QP %d of %s, %s: %v", f.ID&(1<<40-1), f.QP, f.Src, f.Status, d.Of)
		for k, v := range d.Of {
			require.GreaterOrEqual(t, v, sim.Duration(0), "%v of message %d of %s, %s: %v", trace.Delay(k), f.ID&(1<<40-1), f.Src, f.Status, d.Of)
		}
	}
	require.Len(t, order, n)
}

// Where the time of a message went adds up to that time, to the picosecond, in
// fabrics of all kinds with losses, timeouts and slow receivers.
func TestDelaysAddUp(t *testing.T) {
	for seed := uint64(1); seed <= 60; seed++ {
		s := randomSpec(t, seed)
		r := sim.NewRand(seed, "losses")
		if seed%2 == 0 {
			s.Links = []LinkRule{{A: "*", B: "*", Loss: sim.Ratio(r.IntN(20)) / 1000}}
			s.NIC.Timeout = 5 + r.IntN(6)
			s.NIC.RetryCount = r.IntN(8)
			s.NIC.Window = []sim.Bytes{0, 20 * sim.KB}[r.IntN(2)]
			s.NIC.Recovery = []string{"go_back_n", "go_back_n", "go_back_0"}[r.IntN(3)]
			s.NIC.RNRTimer = 1
		}
		s.MaxDuration = 5 * sim.Millisecond
		run, _ := runOn(t, s, 1)
		checkDelays(t, run)
	}
}
