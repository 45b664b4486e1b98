package workload_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
)

// ringOracle plays the messages of one allreduce on real data: a segment is the
// set of ranks whose contribution it holds. A message carries what its sender
// holds when it is posted; reduce-scatter adds it, all-gather replaces. In the
// end every rank must hold every contribution to every chunk.
func ringOracle(t *testing.T, f *fabric, p workload.RingParams, n int) {
	t.Helper()
	type delivery struct {
		message
		lane, segment, chunk int
	}
	var sent []delivery
	count := map[[2]int]int{} // messages of a rank on a lane
	lanes := p.Rails * p.QPsPerPeer
	ordered := slices.Clone(f.messages)
	slices.SortStableFunc(ordered, func(a, b message) int { return int(a.start - b.start) })
	size := func(total sim.Bytes, n, i int) sim.Bytes { return (total + sim.Bytes(n-1-i)) / sim.Bytes(n) }
	for _, m := range ordered {
		lane := m.conn.Rail*p.QPsPerPeer + m.conn.Index
		k := count[[2]int{m.from, lane}]
		count[[2]int{m.from, lane}]++
		step := k / p.Chunks
		d := delivery{m, lane, (m.from - step + 2*n) % n, k % p.Chunks}
		half := "reduce-scatter"
		if step >= n-1 {
			half = "all-gather"
		}
		require.Equal(t, "ring_allreduce/1/"+half, m.tag)
		require.Equal(t, (m.from+1)%n, m.to)
		require.Equal(t, size(size(size(p.Size, lanes, lane), n, d.segment), p.Chunks, d.chunk), m.size)
		sent = append(sent, d)
	}
	require.Len(t, sent, n*2*(n-1)*p.Chunks*lanes)

	type place struct{ rank, lane, segment, chunk int }
	held := map[place]uint64{}
	for r := range n {
		for l := range lanes {
			for s := range n {
				for c := range p.Chunks {
					held[place{r, l, s, c}] = 1 << r
				}
			}
		}
	}
	type step struct {
		at     sim.Time
		arrive bool
		i      int
	}
	var steps []step
	for i, d := range sent {
		steps = append(steps, step{d.start, false, i}, step{d.end - sim.Time(latency), true, i})
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		if a.arrive == b.arrive {
			return 0
		}
		if a.arrive {
			return -1
		}
		return 1
	})
	carried := make([]uint64, len(sent))
	for _, s := range steps {
		d := sent[s.i]
		if !s.arrive {
			carried[s.i] = held[place{d.from, d.lane, d.segment, d.chunk}]
			continue
		}
		at := place{d.to, d.lane, d.segment, d.chunk}
		if strings.HasSuffix(d.tag, "reduce-scatter") {
			require.Zero(t, held[at]&carried[s.i], "a contribution was added twice")
			held[at] |= carried[s.i]
		} else {
			require.Equal(t, uint64(1)<<n-1, carried[s.i], "all-gather sends what is not reduced yet")
			held[at] = carried[s.i]
		}
	}
	for at, have := range held {
		require.Equal(t, uint64(1)<<n-1, have, "%+v", at)
	}
}

func TestRingReduces(t *testing.T) {
	for _, c := range []struct{ n, chunks, rails, qps int }{{2, 1, 1, 1}, {3, 1, 1, 1}, {5, 4, 1, 1}, {4, 3, 2, 2}, {8, 2, 1, 3}, {2, 300, 1, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			p := defaults[workload.RingParams](t, "ring_allreduce")
			p.Size, p.Chunks, p.Rails, p.QPsPerPeer = 1_000_003, c.chunks, c.rails, c.qps
			f := scene{hosts: c.n}.play(t, "ring_allreduce", p)
			f.allDone()
			ringOracle(t, f, p, c.n)
		})
	}
}

// One chunk a step takes 2(N-1) times a segment's transmission and a latency;
// with chunks enough to hide the latency the link never idles.
func TestRingTime(t *testing.T) {
	p := defaults[workload.RingParams](t, "ring_allreduce")
	p.Size = 4 * sim.MB // 1 MB a segment: 80 us
	end := func() sim.Time {
		f := scene{hosts: 4}.play(t, "ring_allreduce", p)
		return f.messages[len(f.messages)-1].end
	}
	require.Equal(t, sim.Time(6*(80*sim.Microsecond+latency)+latency), end())
	p.Chunks = 8
	require.Equal(t, sim.Time(6*80*sim.Microsecond+2*latency), end())
}

// Every iteration begins on a rank when the last has ended there.
func TestRingIterations(t *testing.T) {
	p := defaults[workload.RingParams](t, "ring_allreduce")
	p.Iterations, p.Size, p.Chunks = 3, 30*sim.KB, 2
	f := scene{hosts: 3}.play(t, "ring_allreduce", p)
	f.allDone()
	require.Len(t, f.messages, 3*3*4*2)
	end := map[[2]string]sim.Time{}
	for _, m := range f.messages {
		k := [2]string{fmt.Sprint(m.from), strings.Split(m.tag, "/")[1]}
		end[k] = max(end[k], m.end)
	}
	for _, m := range f.messages {
		n := strings.Split(m.tag, "/")[1]
		if n != "1" {
			require.GreaterOrEqual(t, m.start, end[[2]string{fmt.Sprint(m.from), string(n[0] - 1)}])
		}
	}
}

// Whatever the moment of the stop, no rank is left waiting in an iteration that
// another did not begin.
func TestRingStopsTogether(t *testing.T) {
	for stop := 30 * sim.Microsecond; stop < 120*sim.Microsecond; stop += 700 * sim.Nanosecond {
		p := defaults[workload.RingParams](t, "ring_allreduce")
		p.Iterations, p.Size, p.Stop = workload.Forever, 31, stop
		f := scene{hosts: 5, skew: 5 * sim.Microsecond}.play(t, "ring_allreduce", p)
		f.allDone()
		require.Zero(t, len(f.messages)%(5*8))
	}
}

func TestRingBreaks(t *testing.T) {
	p := defaults[workload.RingParams](t, "ring_allreduce")
	f := scene{hosts: 4, fail: func(m message) bool { return m.from == 2 && m.start > 0 }}.play(t, "ring_allreduce", p)
	require.Equal(t, 1, f.hosts[2].done, "the rank whose queue pair failed posts nothing more")
}

func TestRingErrors(t *testing.T) {
	for want, change := range map[string]func(p *workload.RingParams){
		`ring_allreduce: verb: write: a ring needs send, so that the receiver gets a completion`:           func(p *workload.RingParams) { p.Verb = "write" },
		`ring_allreduce: ranks: a ring needs at least 2 hosts, not 1`:                                      func(p *workload.RingParams) { p.Ranks = workload.HostSet{"1"} },
		`ring_allreduce: chunks: 0: want 1..4096`:                                                          func(p *workload.RingParams) { p.Chunks = 0 },
		`ring_allreduce: rails: 0: want 1..64`:                                                             func(p *workload.RingParams) { p.Rails = 0 },
		`ring_allreduce: size: 7B cannot be cut into 8 pieces (ranks x rails x qps_per_peer x chunks)`:     func(p *workload.RingParams) { p.Size, p.Chunks = 7, 2 },
		`ring_allreduce: iterations: forever needs an end: give the run a duration or the workload a stop`: func(p *workload.RingParams) { p.Iterations = workload.Forever },
		`ring_allreduce: iterations: 0: want 1 or more, or forever`:                                        func(p *workload.RingParams) { p.Iterations = 0 },
	} {
		p := defaults[workload.RingParams](t, "ring_allreduce")
		change(&p)
		_, err := scene{hosts: 4}.plan("ring_allreduce", p)
		require.EqualError(t, err, want)
	}
}
