package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
)

// A host whose queue pairs fail posts nothing more on them, and is done all the
// same; the others go on.
func TestOpenLoopsSurviveErrors(t *testing.T) {
	fail := func(m message) bool { return m.from == 1 }
	for _, connection := range []string{"per_message", "per_peer"} {
		p := defaults[workload.PoissonParams](t, "poisson")
		p.CDF, p.Messages, p.Connection = "fbhdp", 50, connection
		f := scene{hosts: 3, fail: fail}.play(t, "poisson", p)
		f.allDone()
		require.Len(t, f.messages, 100)
	}
	p := defaults[workload.PingMeshParams](t, "ping_mesh")
	p.Count = 20
	f := scene{hosts: 3, fail: fail}.play(t, "ping_mesh", p)
	f.allDone()
	require.Len(t, f.messages, 2*2*20)

	q := defaults[workload.FlowsParams](t, "flows")
	q.List = []workload.Flow{{From: "h0", To: "h1", Size: 5}, {From: "h1", To: "h0", Size: 5}}
	f = scene{hosts: 2, fail: fail}.play(t, "flows", q)
	f.allDone()
	require.Len(t, f.messages, 1)
	require.Zero(t, f.open)
}

// A message longer than a queue pair carries is refused before the run.
func TestLargestMessage(t *testing.T) {
	p := defaults[workload.FlowsParams](t, "flows")
	p.List = []workload.Flow{{From: "h0", To: "h1", Size: 3 * sim.GiB}}
	_, err := scene{hosts: 2}.plan("flows", p)
	require.EqualError(t, err, "flows: list[0]: size: 3GiB: want 1B..2GiB")
	_, err = scene{hosts: 2, largest: 4 * sim.GiB}.plan("flows", p)
	require.NoError(t, err)

	q := defaults[workload.PoissonParams](t, "poisson")
	q.CDFFile, q.Messages = "c", 1
	_, err = scene{hosts: 2, files: map[string]string{"c": "0 0\n3e9 100"}}.plan("poisson", q)
	require.EqualError(t, err, "poisson: sizes reach 3GB, and a message is at most 2GiB")
}
