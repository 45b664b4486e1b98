package scenarios

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/congestion"
	"rdmasim/reports/metric"
	"rdmasim/sim/trace"
)

// Under every algorithm of the catalogue eight senders keep moving data to one
// receiver, although responders coalesce ACKs and windows shrink: nobody waits
// for an ACK that nobody sends. In 2 ms the link carries 25 MB at most; a tenth
// of it tells moving from waiting for the local ACK timeout of 67 ms.
func TestEveryAlgorithmKeepsMoving(t *testing.T) {
	for _, name := range congestion.Algorithms.Names() {
		t.Run(name, func(t *testing.T) {
			s, err := Load("incast-8to1", []string{"nic.congestion=" + name, "duration=2ms", "nic.ack_every=16", "series.interval=0s"})
			require.NoError(t, err)
			dir := filepath.Join(t.TempDir(), "run")
			_, err = Run(context.Background(), s, Options{Out: dir})
			require.NoError(t, err)
			run, err := trace.Open(dir)
			require.NoError(t, err)
			m, err := metric.Compute(run)
			require.NoError(t, err)
			assert.Greater(t, m.Flows.Delivered, int64(2_500_000))
			assert.Zero(t, *m.Packets.Dropped.Lossless)
		})
	}
}
