package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
)

func TestPingMeshPingsEveryPair(t *testing.T) {
	for _, verb := range []string{"write", "send"} {
		p := defaults[workload.PingMeshParams](t, "ping_mesh")
		p.Verb, p.Count, p.Interval, p.Start = verb, 3, 30*sim.Microsecond, 5*sim.Microsecond
		f := scene{hosts: 4, seed: 9}.play(t, "ping_mesh", p)
		f.allDone()
		_, counts := f.bytes()
		require.Len(t, counts, 12)
		last := map[[2]int]sim.Time{}
		for pair, n := range counts {
			require.Equal(t, int64(3), n, pair)
		}
		for _, m := range f.messages {
			require.Equal(t, sim.Bytes(64), m.size)
			require.GreaterOrEqual(t, m.start, sim.Time(p.Start))
			if before, ok := last[[2]int{m.from, m.to}]; ok {
				require.Equal(t, p.Interval, m.start.Sub(before), "a pair pings at its interval")
			}
			last[[2]int{m.from, m.to}] = m.start
			require.Equal(t, 2*latency+(100*sim.Gbps).TxTime(64), m.end.Sub(m.start), "an idle fabric has no queue")
		}
	}
}

func TestPingMeshRandomPeers(t *testing.T) {
	p := defaults[workload.PingMeshParams](t, "ping_mesh")
	p.Peers, p.Stop = 2, sim.Millisecond
	f := scene{hosts: 8, seed: 9}.play(t, "ping_mesh", p)
	f.allDone()
	_, counts := f.bytes()
	require.Len(t, counts, 16)
	to := map[int]int{}
	for pair, n := range counts {
		require.InDelta(t, 10, n, 1) // 1 ms at 100 us
		to[pair[1]]++
	}
	require.Greater(t, len(to), 4)
}

// Pings that the fabric does not bring back do not pile up beyond depth.
func TestPingMeshDepth(t *testing.T) {
	p := defaults[workload.PingMeshParams](t, "ping_mesh")
	p.Depth, p.Interval, p.Count = 2, 100*sim.Nanosecond, 1000
	f := scene{hosts: 2}.play(t, "ping_mesh", p)
	f.allDone()
	// Two pings per round trip of 4 us, over 100 us, from both hosts.
	require.InDelta(t, 100, len(f.messages), 4)
}

func TestPingMeshErrors(t *testing.T) {
	for want, change := range map[string]func(p *workload.PingMeshParams){
		`ping_mesh: hosts: a mesh needs at least 2 hosts, not 1`:                                     func(p *workload.PingMeshParams) { p.Hosts = workload.HostSet{"1"} },
		`ping_mesh: peers: 4: want 1..3, or 0 for all others`:                                        func(p *workload.PingMeshParams) { p.Peers = 4 },
		`ping_mesh: interval: 0ps: want a time above 0`:                                              func(p *workload.PingMeshParams) { p.Interval = 0 },
		`ping_mesh: message: 0B: want 1B..2GiB`:                                                      func(p *workload.PingMeshParams) { p.Message, p.Count = 0, 1 },
		`ping_mesh: depth: 0: want 1..65536`:                                                         func(p *workload.PingMeshParams) { p.Depth, p.Count = 0, 1 },
		`ping_mesh: pings go on for ever: give the run a duration or the workload a stop or a count`: func(p *workload.PingMeshParams) {},
	} {
		p := defaults[workload.PingMeshParams](t, "ping_mesh")
		change(&p)
		_, err := scene{hosts: 4}.plan("ping_mesh", p)
		require.EqualError(t, err, want)
	}
}
