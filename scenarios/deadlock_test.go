package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/library"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// ringSpec is a ring in which every host sends past its neighbour: whether it
// deadlocks depends on rates and buffers.
func ringSpec(t testing.TB, seed uint64, duration sim.Duration) *Spec {
	r := sim.NewRand(seed, "ring")
	n := 4 + r.IntN(3)
	var routes strings.Builder
	for i := range n {
		fmt.Fprintf(&routes, "  - {at: sw%d, to: h%d, via: [sw%d]}\n", i, (i+2)%n, (i+1)%n)
	}
	text := fmt.Sprintf(`
name: ring
seed: %d
duration: %dus
series: {interval: 0s}
topology: {ring: {switches: %d, hosts_per_switch: 1, rate: 100Gbps, trunk_rate: %dGbps, delay: %dns}}
switch: {buffer: {size: %dKB, alpha: 1/%d}}
nic: {congestion: {none: {rate: %dGbps}}, path_mtu: %d}
routes:
%straffic:
  - permutation: {message: %dKB, repeat: forever, depth: %d, shift: 2}
`, seed, int64(duration/sim.Microsecond), n, []int{25, 50, 100}[r.IntN(3)], 200+r.IntN(2000), 600+r.IntN(4000), 1<<r.IntN(5),
		[]int{5, 12, 30, 100}[r.IntN(4)], []int{1024, 4096}[r.IntN(2)], routes.String(), 1+r.IntN(200), 1+r.IntN(40))
	s, err := Parse("ring.yaml", []byte(text))
	require.NoError(t, err)
	return s
}

// What the detector calls a deadlock stays: the same moment is found in a run
// of twice the length, and its ports are still paused at the end. Where it finds
// none, payload arrives to the end. The number of workers changes nothing.
func TestDeadlockIsForEver(t *testing.T) {
	with, without := 0, 0
	for seed := uint64(1); seed <= 24; seed++ {
		short, long := ringSpec(t, seed, 500*sim.Microsecond), ringSpec(t, seed, 1000*sim.Microsecond)
		run, _ := runOn(t, short, 1)
		later, res := runOn(t, long, 1)
		_, again := runOn(t, long, 3)
		require.Equal(t, res.Fingerprint, again.Fingerprint)
		first, second := deadlockMoments(t, run), deadlockMoments(t, later)
		delivered := func(r *trace.Run) (sum float64) {
			list, err := r.Counters()
			require.NoError(t, err)
			for _, c := range list {
				if c.Name == trace.CountPayloadDelivered {
					sum += c.Value
				}
			}
			return sum
		}
		if len(first) > 0 {
			with++
			require.Equal(t, first, second, "seed %d", seed)
			require.Equal(t, delivered(run), delivered(later), "seed %d: every flow passes the ring", seed)
		}
		if len(second) == 0 {
			without++
			require.Greater(t, delivered(later), delivered(run), "seed %d", seed)
		}
	}
	require.Greater(t, with, 3)
	require.Greater(t, without, 3)
}

func deadlockMoments(t testing.TB, run *trace.Run) (moments []float64) {
	on := map[string]bool{}
	var ports [][]string
	for e, err := range run.Events(trace.EventDeadlock, trace.EventPauseOn, trace.EventPauseOff) {
		require.NoError(t, err)
		switch e.Kind {
		case trace.EventPauseOn:
			on[e.Object] = true
		case trace.EventPauseOff:
			delete(on, e.Object)
		default:
			moments = append(moments, e.Value)
			cycle, _, _ := strings.Cut(e.Cause, ";")
			ports = append(ports, strings.Split(cycle, " > "))
		}
	}
	for _, list := range ports {
		require.GreaterOrEqual(t, len(list), 3)
		for _, p := range list {
			require.True(t, on[p], "%s of the cycle sends again", p)
		}
	}
	return moments
}

func TestCheckDeadlock(t *testing.T) {
	for name, want := range map[string]int{"deadlock-ring": 4, "routing-loop-deadlock": 2, "incast-8to1": 0, "permutation-k8": 0} {
		text, err := library.Get(name)
		require.NoError(t, err)
		s, err := Parse(name, text)
		require.NoError(t, err)
		d, err := CheckDeadlock(s)
		require.NoError(t, err)
		require.Len(t, d.Priorities, 1)
		require.Len(t, d.Priorities[0].Cycle, want, name)
		require.Equal(t, want > 0, d.Possible())
	}
}

func TestRoutesSayWhatIsWrong(t *testing.T) {
	const base = "topology: {dumbbell: {left: 1, right: 1}}\ntraffic: [{incast: {senders: 1}}]\nroutes: [%s]\n"
	for rule, want := range map[string]string{
		"{at: sw1, to: h1}":                           "routes.0: has no way out: want via, such as [spine1] or [port:5], or drop: true",
		"{at: sw1, to: h1, via: [sw0], drop: true}":   "routes.0.drop: true: traffic that is dropped has no via",
		"{at: sw9, to: h1, via: [sw0]}":               "routes.0.at: sw9: matches no switch",
		"{at: sw1, to: h9, via: [sw0]}":               "routes.0.to: h9: matches no host",
		"{at: h1, to: h1, via: [sw0]}":                "routes.0.at: h1: matches no switch",
		"{at: sw1, to: h1, via: [sw1]}":               "routes.0.via.0: sw1: is no neighbour of sw1: did you mean sw0? want one of",
		"{at: sw1, to: h1, via: ['port:7']}":          "routes.0.via.0: port:7: sw1 has ports port:0 to port:1",
		"{at: sw1, to: h0, via: [h1]}":                "routes.0.via.0: h1: leads to host h1, which does not forward to h0: want a switch",
		"{at: '[', to: h1, via: [sw0]}":               "routes.0.at: [: want a name, or a pattern",
		"{at: sw1, to: h1, via: [sw0], through: sw0}": "unknown key",
	} {
		s, err := Parse("x.yaml", fmt.Appendf(nil, base, rule))
		if err == nil {
			_, err = build(s)
		}
		require.ErrorContains(t, err, want, rule)
		require.ErrorContains(t, err, "x.yaml:3:", rule)
	}
}

// A black hole drops, and a path of equal cost may be made of several ways.
func TestStaticRoutesAreFollowed(t *testing.T) {
	const text = `
topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}}
nic: {timeout: 5, retry_count: 0, congestion: none}
traffic: [{incast: {senders: [h2], receiver: h0, message: 10KB, repeat: 1}}]
routes: [%s]
`
	for rule, want := range map[string]string{
		"{at: leaf1, to: h0, via: [spine0]}":         "IBV_WC_SUCCESS",
		"{at: leaf1, to: h0, via: [spine0, spine1]}": "IBV_WC_SUCCESS",
		"{at: leaf1, to: h0, drop: true}":            "IBV_WC_RETRY_EXC_ERR",
		"{at: spine*, to: h0, drop: true}":           "IBV_WC_RETRY_EXC_ERR",
		"{at: leaf1, to: h3, drop: true}":            "IBV_WC_SUCCESS",
	} {
		s, err := Parse("x.yaml", fmt.Appendf(nil, text, rule))
		require.NoError(t, err)
		run, _ := runOn(t, s, 1)
		for f, err := range run.Flows() {
			require.NoError(t, err)
			require.Equal(t, want, f.Status, rule)
		}
		if strings.Contains(rule, "via: [spine0]}") {
			counters, err := run.Counters()
			require.NoError(t, err)
			for _, c := range counters {
				if c.Name == trace.CountTxPackets && strings.HasPrefix(c.Object, "spine1:0") {
					require.Zero(t, c.Value)
				}
			}
		}
	}
}
