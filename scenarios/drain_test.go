package scenarios

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// A message that is alone takes its ideal time also where the host is slower
// than its link, and the ideal time is what the host needs to take it.
func TestIdealOfASlowHost(t *testing.T) {
	for _, c := range []struct {
		drain sim.Rate
		size  sim.Bytes
	}{{40 * sim.Gbps, 300 * sim.KB}, {25 * sim.Gbps, 1}, {99 * sim.Gbps, 5000}, {200 * sim.Gbps, 100 * sim.KB}} {
		text := fmt.Sprintf("name: a\ntopology: {star: {hosts: 2, rate: 100Gbps, delay: 1us}}\nnic: {drain: %v, congestion: {none: {}}}\ntraffic:\n  - flows: {list: [{from: h0, to: h1, size: %dB}]}\n", c.drain, c.size)
		s, err := Parse("a.yaml", []byte(text))
		require.NoError(t, err)
		r, err := Run(context.Background(), s, Options{Out: filepath.Join(t.TempDir(), "run")})
		require.NoError(t, err)
		run, err := trace.Open(r.Dir)
		require.NoError(t, err)
		for f, err := range run.Flows() {
			require.NoError(t, err)
			require.Equal(t, f.Ideal, f.End.Sub(f.Start), "%v at %v", c.size, c.drain)
			require.GreaterOrEqual(t, f.Ideal, c.drain.TxTime(c.size))
		}
	}
}
