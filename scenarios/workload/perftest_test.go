package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// Every tool posts as many messages as it is asked for, of every size in turn;
// latency tests one at a time, answered one by one where a program answers.
func TestPerftest(t *testing.T) {
	for _, c := range []struct {
		verb, test string
		op         verbs.Opcode
		answers    bool
	}{{"send", "bw", verbs.OpSend, false}, {"write", "bw", verbs.OpWrite, false}, {"read", "bw", verbs.OpRead, false},
		{"send", "lat", verbs.OpSend, true}, {"write", "lat", verbs.OpWrite, true}, {"read", "lat", verbs.OpRead, false}} {
		t.Run(c.verb+"_"+c.test, func(t *testing.T) {
			p := defaults[workload.PerftestParams](t, "perftest")
			p.Verb, p.Test, p.Sizes, p.Iterations, p.Depth, p.QPsPerPeer = c.verb, c.test, workload.SizeSet{64, 4096}, 50, 7, 2
			p.Moderation, p.Batch = 3, 2
			f := scene{hosts: 2, seed: 1}.play(t, "perftest", p)
			f.allDone()
			var sent, answered int
			open := map[int]int{}
			for _, m := range f.messages {
				if m.tag == "answer" {
					answered++
					require.Equal(t, 0, m.from)
					continue
				}
				sent++
				require.Equal(t, 1, m.from)
				require.Equal(t, c.op, m.op)
				open[m.conn.Index]++
				if sent <= 100 {
					require.EqualValues(t, 64, m.size, "the first size first")
				}
			}
			require.Equal(t, 200, sent)
			if c.answers {
				require.Equal(t, 200, answered)
			} else {
				require.Zero(t, answered)
			}
			if c.test == "lat" {
				notOverlapping(t, f)
			}
		})
	}
}

// notOverlapping requires that messages of one queue pair follow each other.
func notOverlapping(t *testing.T, f *fabric) {
	last := map[int]sim.Time{}
	for _, m := range f.messages {
		if m.tag == "answer" {
			continue
		}
		require.GreaterOrEqual(t, m.start, last[m.conn.Index])
		last[m.conn.Index] = m.start + 1
	}
}

func TestPerftestAtomicsHave8Bytes(t *testing.T) {
	p := defaults[workload.PerftestParams](t, "perftest")
	p.Verb, p.Iterations = "fetch_add", 10
	f := scene{hosts: 2, seed: 1}.play(t, "perftest", p)
	require.Len(t, f.messages, 10)
	require.EqualValues(t, 8, f.messages[0].size)
	require.Equal(t, "atomic_fetch_add_bw/rc/8", f.messages[0].tag)
}

func TestPerftestBothWays(t *testing.T) {
	p := defaults[workload.PerftestParams](t, "perftest")
	p.Bidirectional, p.Iterations = true, 20
	f := scene{hosts: 3, seed: 1}.play(t, "perftest", p)
	f.allDone()
	_, counts := f.bytes()
	require.Equal(t, map[[2]int]int64{{0, 1}: 20, {1, 0}: 20}, counts)
}

func TestPerftestErrors(t *testing.T) {
	for want, change := range map[string]func(p *workload.PerftestParams){
		`verb: "push"`:         func(p *workload.PerftestParams) { p.Verb = "push" },
		"does not exist on ud": func(p *workload.PerftestParams) { p.Service = "ud" },
		`service: "rd"`:        func(p *workload.PerftestParams) { p.Service = "rd" },
		`test: "speed"`:        func(p *workload.PerftestParams) { p.Test = "speed" },
		"sizes: 0 of them":     func(p *workload.PerftestParams) { p.Sizes = nil },
		"iterations: 0":        func(p *workload.PerftestParams) { p.Iterations = 0 },
		"batch: 129":           func(p *workload.PerftestParams) { p.Batch = 129 },
		"cq_mod: 0":            func(p *workload.PerftestParams) { p.Moderation = 0 },
		"both h0":              func(p *workload.PerftestParams) { p.Client = "h0" },
		"bidirectional":        func(p *workload.PerftestParams) { p.Test, p.Bidirectional = "lat", true },
		"depth: 65537":         func(p *workload.PerftestParams) { p.Depth = 1<<16 + 1 },
		"client: unknown host": func(p *workload.PerftestParams) { p.Client = "h9" },
	} {
		p := defaults[workload.PerftestParams](t, "perftest")
		change(&p)
		_, err := scene{hosts: 2}.plan("perftest", p)
		require.ErrorContains(t, err, want)
	}
}

// A peer that fails ends the test instead of hanging it.
func TestPerftestEndsWithItsQueuePair(t *testing.T) {
	for _, test := range []string{"bw", "lat"} {
		p := defaults[workload.PerftestParams](t, "perftest")
		p.Test = test
		n := 0
		f := scene{hosts: 2, seed: 1, fail: func(m message) bool { n++; return n == 5 }}.play(t, "perftest", p)
		require.Equal(t, 1, f.hosts[1].done, test)
	}
}

func TestPingpongPairs(t *testing.T) {
	p := defaults[workload.PingpongParams](t, "pingpong")
	p.Count = 5
	f := scene{hosts: 4, seed: 1}.play(t, "pingpong", p)
	f.allDone()
	_, counts := f.bytes()
	require.Equal(t, map[[2]int]int64{{0, 1}: 5, {1, 0}: 5, {2, 3}: 5, {3, 2}: 5}, counts)
	_, err := scene{hosts: 3}.plan("pingpong", p)
	require.ErrorContains(t, err, "3 do not make pairs")
}

// The mix of reads and sizes is the one asked for.
func TestRequestResponseMix(t *testing.T) {
	p := defaults[workload.RequestResponseParams](t, "request_response")
	require.NoError(t, p.Blocks.UnmarshalText([]byte("4KiB:3,64KiB")))
	p.Repeat, p.Reads, p.Think = 2000, 0.25, sim.Microsecond
	p.Servers = workload.HostSet{"h0", "h1"}
	f := scene{hosts: 4, seed: 1}.play(t, "request_response", p)
	f.allDone()
	require.Len(t, f.messages, 2*2*2000)
	var reads, large int
	for _, m := range f.messages {
		require.GreaterOrEqual(t, m.from, 2)
		require.Less(t, m.to, 2)
		if m.op == verbs.OpRead {
			reads++
		}
		if m.size > 4096 {
			large++
		}
	}
	require.InDelta(t, 2000, reads, 150)
	require.InDelta(t, 2000, large, 150)
	p.Clients = workload.HostSet{"h0"}
	_, err := scene{hosts: 4}.plan("request_response", p)
	require.ErrorContains(t, err, "h0 is a server too")
}
