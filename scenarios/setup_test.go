package scenarios

import (
	"testing"

	"rdmasim/fabric/capture/analysis"
	"rdmasim/sim/trace"

	"github.com/stretchr/testify/require"
)

// What connection management says on the wire is what the queue pairs then do:
// the analysis of the capture pairs all of them, before and without guessing.
func TestConnectionsInACapture(t *testing.T) {
	s := parsed(t, `name: setup
topology: {star: {hosts: 5}}
nic: {setup: {method: cm, accept: 20us}}
traffic: [{incast: {receiver: h0, senders: 4, message: 20KB, repeat: 2, qps_per_peer: 2}}]
`)
	run, _, sum := captured(t, s, 1, "host:h0")
	require.Len(t, sum.Connections, 8)
	byQPN := map[uint32]analysis.QP{}
	for _, q := range sum.QPs {
		byQPN[q.QPN] = q
	}
	longest := 0.0
	for _, c := range sum.Connections {
		require.Contains(t, []string{"made", "closed"}, c.State)
		require.Equal(t, uint64(1), c.Requests)
		require.Equal(t, 1024, c.PathMTU)
		longest = max(longest, *c.Setup)
		q := byQPN[*c.ServerQPN]
		require.Equal(t, c.Client, q.Src)
		require.Equal(t, c.ClientQPN, *q.SrcQPN)
	}
	require.InDelta(t, 8*20e-6, longest, 10e-6, "one after the other")
	held := 0
	for d, err := range run.Delays() {
		require.NoError(t, err)
		if d.Of[trace.DelayHold] >= 0 && d.Of[trace.DelayHold].Seconds() > 15e-6 {
			held++
		}
	}
	require.GreaterOrEqual(t, held, 8, "the first message of each waits for its connection")
}
