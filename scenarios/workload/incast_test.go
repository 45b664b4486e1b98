package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/verbs"
)

func TestIncastMovesWhatItShould(t *testing.T) {
	for _, verb := range []string{"write", "send"} {
		p := defaults[workload.IncastParams](t, "incast")
		p.Senders, p.Receiver, p.Message, p.Repeat, p.Depth, p.QPsPerPeer, p.Verb = workload.HostSet{"3"}, "h1", 10*sim.KB, 5, 2, 2, verb
		f := scene{hosts: 8}.play(t, "incast", p)
		f.allDone()
		sizes, counts := f.bytes()
		// Three senders besides h1 with two queue pairs of five messages each.
		require.Equal(t, map[[2]int]int64{{0, 1}: 100_000, {2, 1}: 100_000, {3, 1}: 100_000}, sizes)
		require.Equal(t, map[[2]int]int64{{0, 1}: 10, {2, 1}: 10, {3, 1}: 10}, counts)
		want := verbs.OpWrite
		if verb == "send" {
			want = verbs.OpSend
		}
		for _, m := range f.messages {
			require.Equal(t, want, m.op)
		}
	}
}

// At depth d, d messages and no more are outstanding on a queue pair.
func TestIncastKeepsDepth(t *testing.T) {
	for _, depth := range []int{1, 3} {
		p := defaults[workload.IncastParams](t, "incast")
		p.Senders, p.Message, p.Repeat, p.Depth = workload.HostSet{"h1"}, sim.KB, 10, depth
		f := scene{hosts: 2}.play(t, "incast", p)
		deepest := 0
		for _, m := range f.messages {
			n := 0
			for _, o := range f.messages {
				if o.start <= m.start && m.start < o.end {
					n++
				}
			}
			deepest = max(deepest, n)
		}
		require.Equal(t, depth, deepest)
		require.Len(t, f.messages, 10)
	}
}

func TestIncastForeverStops(t *testing.T) {
	p := defaults[workload.IncastParams](t, "incast")
	p.Repeat, p.Message, p.Start, p.Stop, p.Jitter = workload.Forever, sim.KB, 10*sim.Microsecond, 100*sim.Microsecond, 20*sim.Microsecond
	f := scene{hosts: 4, seed: 1, warmup: 50 * sim.Microsecond}.play(t, "incast", p)
	f.allDone()
	first, tags := map[int]sim.Time{}, map[string]int{}
	for _, m := range f.messages {
		require.GreaterOrEqual(t, m.start, sim.Time(p.Start))
		require.Less(t, m.start, sim.Time(p.Stop))
		require.Equal(t, m.start < sim.Time(50*sim.Microsecond), m.tag == "incast/warmup")
		tags[m.tag]++
		if _, ok := first[m.from]; !ok {
			first[m.from] = m.start
			require.Less(t, m.start, sim.Time(p.Start+p.Jitter))
		}
	}
	require.Len(t, first, 3)
	require.NotEqual(t, first[1], first[2], "jitter is drawn per host")
	require.Positive(t, tags["incast"])
	require.Positive(t, tags["incast/warmup"])
}

// A queue pair in error takes no more, and its sender is done all the same.
func TestIncastSurvivesErrors(t *testing.T) {
	p := defaults[workload.IncastParams](t, "incast")
	p.Message, p.Repeat, p.Depth = sim.KB, 4, 2
	f := scene{hosts: 3, fail: func(m message) bool { return m.from == 1 }}.play(t, "incast", p)
	f.allDone()
	_, counts := f.bytes()
	require.Equal(t, map[[2]int]int64{{2, 0}: 4}, counts)
}

func TestIncastErrors(t *testing.T) {
	for want, change := range map[string]func(p *workload.IncastParams){
		`incast: receiver: unknown host "h9": there are h0, h1, h2, h3`:                        func(p *workload.IncastParams) { p.Receiver = "h9" },
		`incast: senders: unknown host "x": there are h0, h1, h2, h3`:                          func(p *workload.IncastParams) { p.Senders = workload.HostSet{"x"} },
		`incast: senders: no host matches "y*": there are h0, h1, h2, h3`:                      func(p *workload.IncastParams) { p.Senders = workload.HostSet{"y*"} },
		`incast: senders: 4 hosts: want 1..3, or names`:                                        func(p *workload.IncastParams) { p.Senders = workload.HostSet{"4"} },
		`incast: senders: 0 hosts: want 1..3, or names`:                                        func(p *workload.IncastParams) { p.Senders = workload.HostSet{"0"} },
		`incast: senders: h0 cannot send to itself`:                                            func(p *workload.IncastParams) { p.Senders = workload.HostSet{"h1", "h0"} },
		`incast: senders: h1 is named twice`:                                                   func(p *workload.IncastParams) { p.Senders = workload.HostSet{"h1", "h1"} },
		`incast: message: 0B: want 1B..2GiB`:                                                   func(p *workload.IncastParams) { p.Message = 0 },
		`incast: depth: 0: want 1..65536`:                                                      func(p *workload.IncastParams) { p.Depth = 0 },
		`incast: repeat: 0: want 1 or more, or forever`:                                        func(p *workload.IncastParams) { p.Repeat = 0 },
		`incast: repeat: forever needs an end: give the run a duration or the workload a stop`: func(p *workload.IncastParams) { p.Repeat = workload.Forever },
		`incast: verb: "push": want write, send or read`:                                       func(p *workload.IncastParams) { p.Verb = "push" },
		`incast: qps_per_peer: 0: want 1..4096`:                                                func(p *workload.IncastParams) { p.QPsPerPeer = 0 },
		`incast: stop: 1us is not after start 1us`:                                             func(p *workload.IncastParams) { p.Start, p.Stop = sim.Microsecond, sim.Microsecond },
	} {
		p := defaults[workload.IncastParams](t, "incast")
		change(&p)
		_, err := scene{hosts: 4}.plan("incast", p)
		require.EqualError(t, err, want)
	}
}

func TestParameterText(t *testing.T) {
	var r workload.Repeat
	require.NoError(t, r.UnmarshalText([]byte("forever")))
	require.Equal(t, workload.Forever, r)
	require.NoError(t, r.UnmarshalText([]byte("3")))
	require.Equal(t, workload.Repeat(3), r)
	require.Error(t, r.UnmarshalText([]byte("-3")))

	var p workload.Priority
	require.Equal(t, -1, p.Value())
	for v := -1; v < 8; v++ {
		b, _ := workload.PriorityOf(v).MarshalText()
		require.NoError(t, p.UnmarshalText(b))
		require.Equal(t, v, p.Value())
	}
	require.EqualError(t, p.UnmarshalText([]byte("8")), `"8" is not a priority: want 0..7, or -1 for that of the NIC`)

	var s workload.HostSet
	require.NoError(t, s.UnmarshalText([]byte("h1, h2")))
	require.Equal(t, workload.HostSet{"h1", "h2"}, s)
}
