package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// injected is a random fabric with one root of pauses, and the same without it.
type injected struct {
	kind, where string // the root that must be named
	culprit     string // host that all traffic of the root goes to
	with, less  string // scenarios
}

// randomInjection draws a fabric, traffic between random hosts at a moderate
// rate, and one root: a slow receiver, a storming NIC or an incast.
func randomInjection(seed uint64) injected {
	r := sim.NewRand(seed, "forensics")
	leaves, perLeaf := 2+r.IntN(3), 3+r.IntN(3)
	hosts := leaves * perLeaf
	rate := []string{"25Gbps", "100Gbps"}[r.IntN(2)]
	speed := map[string]int{"25Gbps": 25, "100Gbps": 100}[rate]
	base := fmt.Sprintf(`
name: injected
seed: %d
duration: 1500us
series: {interval: 0s}
topology: {leaf_spine: {leaves: %d, spines: 1, hosts_per_leaf: %d, rate: %s, uplink_rate: %dGbps, delay: %dns}}
switch: {buffer: {size: %dKB, alpha: 1/%d}}
`, seed, leaves, perLeaf, rate, speed*perLeaf*2, 200+r.IntN(1000), 3000+r.IntN(6000), 4<<r.IntN(3))
	culprit := r.IntN(hosts)
	// Background: hosts send to one other each, never to the culprit, at a rate
	// that leaves room.
	var list []string
	taken := map[int]bool{}
	for h := range hosts {
		to := (h + 1 + r.IntN(hosts-1)) % hosts
		if h != culprit && to != culprit && !taken[to] && r.IntN(4) > 0 {
			taken[to] = true // one sender each: no other port is congested
			list = append(list, fmt.Sprintf("{incast: {senders: [h%d], receiver: h%d, message: 50KB, repeat: forever, depth: 2, tag: back}}", h, to))
		}
	}
	var senders []string
	n := 2 + r.IntN(3)
	for len(senders) < n {
		h := fmt.Sprintf("h%d", r.IntN(hosts))
		if h != fmt.Sprintf("h%d", culprit) && !strings.Contains(strings.Join(senders, ",")+",", h+",") {
			senders = append(senders, h)
		}
	}
	in := injected{culprit: fmt.Sprintf("h%d", culprit)}
	root := fmt.Sprintf("{incast: {senders: [%s], receiver: %s, message: 200KB, repeat: forever, depth: 8, tag: root}}", strings.Join(senders, ", "), in.culprit)
	tail := func(nic, faults string, traffic []string) string {
		return base + "nic: {congestion: {none: {rate: " + fmt.Sprintf("%dMbps", speed*1000/(n+1)) + "}}, path_mtu: 4096}\n" + nic + faults + "traffic: [" + strings.Join(traffic, ", ") + "]\n"
	}
	all := append([]string{root}, list...)
	edge := fmt.Sprintf("leaf%d:%d", culprit/perLeaf, culprit%perLeaf)
	switch seed % 3 {
	case 0:
		in.kind, in.where = metric.RootReceiver, in.culprit+":0"
		in.with = tail(fmt.Sprintf("nics: [{match: %s, drain: %dGbps}]\n", in.culprit, max(speed/5, 1)), "", all)
		in.less = tail("", "", all)
	case 1:
		in.kind, in.where = metric.RootStorm, in.culprit+":0"
		in.with = tail("", fmt.Sprintf("faults: [{pause_storm: {host: %s, from: %dus}}]\n", in.culprit, 50+r.IntN(200)), all)
		in.less = tail("", "", all)
	default:
		in.kind, in.where = metric.RootCongestion, edge+"/q3"
		var nics []string
		for _, s := range senders {
			nics = append(nics, fmt.Sprintf("{match: %s, congestion: none}", s))
		}
		in.with = tail("nics: ["+strings.Join(nics, ", ")+"]\n", "", all)
		in.less = tail("", "", all)
	}
	return in
}

// goodputs returns the payload that each queue pair delivered, by host and number.
func goodputs(t testing.TB, run *trace.Run, tag string) map[string]float64 {
	out := map[string]float64{}
	for f, err := range run.Flows() {
		require.NoError(t, err)
		if f.Tag == tag {
			out[fmt.Sprintf("%s %d", f.Src, f.QP)] += float64(f.Delivered)
		}
	}
	return out
}

// In random fabrics with one root of pauses that root is named, with its kind;
// and the victims are those of the background that deliver much less than in the
// same fabric without the root. The senders of the root are no victims.
func TestInjectedRootsAreNamed(t *testing.T) {
	last := uint64(60)
	if testing.Short() {
		last = 15
	}
	paused, victims := 0, 0
	for seed := uint64(1); seed <= last; seed++ {
		in := randomInjection(seed)
		parse := func(text string) *Spec {
			s, err := Parse("x.yaml", []byte(text))
			require.NoError(t, err, text)
			return s
		}
		run, _ := runOn(t, parse(in.with), 1)
		p, err := metric.ComputePauses(run)
		require.NoError(t, err)
		if len(p.Roots) == 0 {
			continue
		}
		paused++
		require.Equal(t, in.where, p.Roots[0].Where, "seed %d: %+v", seed, p.Roots)
		require.Equal(t, in.kind, p.Roots[0].Kind, "seed %d", seed)
		for _, r := range p.Roots[1:] {
			require.Less(t, r.Paused, 0.2*p.Roots[0].Paused, "seed %d: %+v", seed, r)
		}
		after := goodputs(t, run, "back")
		less, _ := runOn(t, parse(in.less), 1)
		before := goodputs(t, less, "back")
		found := map[string]float64{}
		for _, v := range p.Victims {
			if v.Root != in.where {
				continue // the backlog that a root leaves may pass for one of its own
			}
			require.NotEqual(t, in.culprit, v.Dst, "seed %d: %+v crosses the root", seed, v)
			found[fmt.Sprintf("%s %d", v.Src, v.QP)] = v.Share
		}
		for qp, b := range before {
			drop := 1 - after[qp]/b
			if drop > 0.25 {
				victims++
				require.Contains(t, found, qp, "seed %d: %s delivers %.0f %% less", seed, qp, drop*100)
			}
			if drop < 0.01 {
				require.NotContains(t, found, qp, "seed %d: %s delivers as much as without (%.1f %%)", seed, qp, drop*100)
			}
		}
		for qp := range found {
			require.Contains(t, before, qp, "seed %d: a sender of the root is no victim", seed)
		}
	}
	t.Logf("%d fabrics with pauses, %d victims", paused, victims)
	require.GreaterOrEqual(t, paused, int(last)/2)
	require.Greater(t, victims, int(last)/2)
}
