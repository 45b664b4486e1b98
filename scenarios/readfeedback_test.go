package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Eight servers answer one client: where congestion control lives on ACKs, the
// servers hear of the queue that they make, or do not.
func TestReadResponsesAreControlled(t *testing.T) {
	queue := func(congestion, feedback string) float64 {
		s := parsed(t, `topology: {star: {hosts: 9, rate: 100Gbps, delay: 500ns}}
switch: {ecn: {3: {kmin: 100KB, kmax: 400KB, pmax: 20%}}}
nic: {path_mtu: 4096, congestion: `+congestion+`, read_feedback: `+feedback+`}
series: {interval: 0s}
traffic: [{request_response: {clients: h0, servers: "h1,h2,h3,h4,h5,h6,h7,h8", reads: 100%, blocks: "256KiB", depth: 4, repeat: 12}}]
`)
		m := measure(t, s)
		require.Equal(t, 96, m.Flows.Completed)
		return *m.Queue.Mean
	}
	for _, c := range []string{"swift", "dctcp", "timely"} {
		free, held := queue(c, "none"), queue(c, "auto")
		require.Less(t, held, free/4, "%s: mean queue %.0f bytes with feedback, %.0f without", c, held, free)
	}
	require.InDelta(t, queue("dcqcn", "none"), queue("dcqcn", "auto"), 0, "CNPs need no feedback")
}
