package congestion

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// forEach runs f for every algorithm of the catalogue under every preset.
func forEach(t *testing.T, f func(t *testing.T, a Algorithm)) {
	for _, name := range Algorithms.Names() {
		e, err := Algorithms.Lookup(name)
		require.NoError(t, err)
		sets := map[string]any{"defaults": e.Defaults}
		for _, p := range e.PresetNames() {
			sets[p] = e.Presets[p]
		}
		for set, params := range sets {
			t.Run(name+"/"+set, func(t *testing.T) {
				a, err := e.Build(params)
				require.NoError(t, err)
				f(t, a)
			})
		}
	}
}

// randomEvent returns one event of a train, to be done to any reaction point.
func randomEvent(r *rand.Rand, now sim.Time) func(ReactionPoint) {
	switch r.IntN(8) {
	case 0:
		return func(rp ReactionPoint) { rp.OnCNP(now) }
	case 1:
		return func(rp ReactionPoint) { rp.OnLoss(now) }
	case 2, 3:
		return func(rp ReactionPoint) { rp.OnSend(now, 1086) }
	default:
		a := Ack{RTT: sim.Duration(1+r.IntN(900)) * sim.Microsecond, Bytes: sim.Bytes(r.IntN(5000)), Marked: r.IntN(3) == 0, Hops: r.IntN(7)}
		return func(rp ReactionPoint) { rp.OnAck(now, a) }
	}
}

// TestRateWithinBounds: whatever happens, a queue pair sends, and never faster
// than its port.
func TestRateWithinBounds(t *testing.T) {
	forEach(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(10) {
			r := rand.New(rand.NewPCG(seed, 3))
			line := pick(r, sim.Mbps, 10*sim.Gbps, 100*sim.Gbps, 1600*sim.Gbps)
			rp := a.NewReactionPoint(line, pick(r, 0, 8*sim.Microsecond, 40*sim.Millisecond))
			require.LessOrEqual(t, rp.Rate(0), line)
			now := sim.Time(0)
			for range 1000 {
				now = now.Add(sim.Duration(r.Int64N(int64(20 * sim.Microsecond))))
				randomEvent(r, now)(rp)
				if rate := rp.Rate(now); rate <= 0 || rate > line {
					t.Fatalf("rate %v at %v on a line of %v", rate, now, line)
				}
				require.GreaterOrEqual(t, rp.Window(now), sim.Bytes(0))
			}
		}
	})
}

// TestLookingAtAnyAlgorithm: readers called at other times change nothing.
func TestLookingAtAnyAlgorithm(t *testing.T) {
	forEach(t, func(t *testing.T, a Algorithm) {
		r := rand.New(rand.NewPCG(1, 4))
		rp := func() ReactionPoint { return a.NewReactionPoint(100*sim.Gbps, 8*sim.Microsecond) }
		checkLooking(t, r, rp(), rp(), func(now sim.Time) func(ReactionPoint) { return randomEvent(r, now) })
	})
}

// TestNothingAllocates: no call on the path of a packet allocates.
func TestNothingAllocates(t *testing.T) {
	forEach(t, func(t *testing.T, a Algorithm) {
		rp := a.NewReactionPoint(100*sim.Gbps, 8*sim.Microsecond)
		now := sim.Time(0)
		require.Zero(t, testing.AllocsPerRun(1000, func() {
			now = now.Add(3 * sim.Microsecond)
			rp.OnSend(now, 4174)
			rp.OnAck(now, Ack{RTT: 30 * sim.Microsecond, Bytes: 4096, Marked: true})
			rp.OnCNP(now)
			rp.Rate(now)
			rp.Window(now)
		}))
	})
}

// TestFeedbackMatchesReaction: an algorithm reacts to the feedback that it asks for.
func TestFeedbackMatchesReaction(t *testing.T) {
	forEach(t, func(t *testing.T, a Algorithm) {
		feedback, interval := a.Feedback()
		require.GreaterOrEqual(t, interval, sim.Duration(0))
		rp := a.NewReactionPoint(100*sim.Gbps, 8*sim.Microsecond)
		calm := a.NewReactionPoint(100*sim.Gbps, 8*sim.Microsecond)
		now := sim.Time(0)
		for range 200 {
			now = now.Add(sim.Microsecond)
			for _, p := range []ReactionPoint{rp, calm} {
				ack := Ack{RTT: 8 * sim.Microsecond, Bytes: 1000, Marked: feedback == EchoOnAck && p == rp}
				if feedback == RoundTrips && p == rp {
					ack.RTT = 2 * sim.Millisecond
				}
				p.OnAck(now, ack)
			}
			if feedback == CNPPackets {
				rp.OnCNP(now)
			}
		}
		reacted := rp.Rate(now) < calm.Rate(now) || rp.Window(now) < calm.Window(now)
		require.Equal(t, feedback != NoFeedback, reacted)
		if reacted && feedback != RoundTrips {
			require.True(t, a.ECT(), "marks need ECN-capable packets")
		}
	})
}

// TestEveryParameterIsDocumented: keys and sentences are what `show` prints.
func TestEveryParameterIsDocumented(t *testing.T) {
	for _, name := range Algorithms.Names() {
		e, err := Algorithms.Lookup(name)
		require.NoError(t, err)
		require.NotEmpty(t, e.Doc)
		keys := map[string]bool{}
		typ := reflect.TypeOf(e.Defaults)
		for i := range typ.NumField() {
			tag := typ.Field(i).Tag
			require.NotEmpty(t, tag.Get("key"), "%s.%s", name, typ.Field(i).Name)
			require.NotEmpty(t, tag.Get("doc"), "%s.%s", name, typ.Field(i).Name)
			require.False(t, keys[tag.Get("key")], "%s has two keys %s", name, tag.Get("key"))
			keys[tag.Get("key")] = true
		}
	}
}

// TestImpossibleParameters: one error, which names algorithm and key.
func TestImpossibleParameters(t *testing.T) {
	cases := []struct{ algorithm, key, value string }{
		{"dcqcn", "feedback", "pigeon"}, {"dcqcn", "cut", "never"}, {"dcqcn", "alpha_update", ""},
		{"dcqcn", "stage_test", "x"}, {"dcqcn", "hyper_stage", "x"}, {"dcqcn", "hyper_step", "x"},
		{"dcqcn", "g", "1.01"}, {"dcqcn", "initial_alpha", "2"}, {"dcqcn", "cut_gain", "2"}, {"dcqcn", "min_decrease_factor", "200%"},
		{"dcqcn", "alpha_timer", "0ns"}, {"dcqcn", "rate_timer", "1ns"}, {"dcqcn", "cut_interval", "2s"}, {"dcqcn", "cnp_interval", "2s"},
		{"dcqcn", "byte_counter", "1B"}, {"dcqcn", "f", "-1"}, {"dcqcn", "min_rate", "0bps"}, {"dcqcn", "max_rate", "500Kbps"},
		{"dcqcn", "first_cnp_rate", "10Kbps"}, {"dcqcn", "r_ai", "2000Tbps"}, {"dcqcn", "r_hai", "2000Tbps"}, {"dcqcn", "variable_window", "2000TB"},
		{"none", "rate", "2000Tbps"},
		{"swift", "base_target", "0ns"}, {"swift", "fs_min_cwnd", "200"}, {"swift", "max_mdf", "1"}, {"swift", "segment", "0B"}, {"swift", "min_cwnd", "0"},
		{"timely", "t_high", "10us"}, {"timely", "min_rtt", "0ns"}, {"timely", "segment", "0B"}, {"timely", "hyper_after", "0"}, {"timely", "min_rate", "0bps"},
		{"dctcp", "g", "2"}, {"dctcp", "segment", "0B"}, {"dctcp", "initial_window", "17MB"}, {"dctcp", "max_window", "1KB"},
	}
	for _, c := range cases {
		e, err := Algorithms.Lookup(c.algorithm)
		require.NoError(t, err)
		p := reflect.New(reflect.TypeOf(e.Defaults)).Elem()
		p.Set(reflect.ValueOf(e.Defaults))
		require.NoError(t, setKey(p, c.key, c.value))
		_, err = e.Build(p.Interface())
		require.ErrorContains(t, err, "congestion "+c.algorithm+": "+c.key)
		require.ErrorContains(t, err, "want")
	}
	_, err := NewDCQCN(DCQCNParams{})
	require.Error(t, err)
}

// BenchmarkIdle is the price of the two calls that every data packet makes.
func BenchmarkIdle(b *testing.B) {
	a, _ := NewDCQCN(sigcomm15())
	rp := a.NewReactionPoint(100*sim.Gbps, 0)
	rp.OnCNP(0)
	b.ReportAllocs()
	for b.Loop() {
		rp.OnSend(1, 1086)
		rp.Rate(1)
	}
}

// BenchmarkHPCCMarked is the price of one marked ACK per packet at 100 Gb/s.
func BenchmarkHPCCMarked(b *testing.B) {
	a, _ := NewDCQCN(hpcc())
	rp := a.NewReactionPoint(100*sim.Gbps, 0)
	now := sim.Time(0)
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(84 * sim.Nanosecond)
		rp.OnSend(now, 1048)
		rp.OnAck(now, Ack{RTT: 8 * sim.Microsecond, Bytes: 1000, Marked: true})
		rp.Rate(now)
	}
}
