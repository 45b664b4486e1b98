package scenarios

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/capture"
	"rdmasim/fabric/capture/analysis"
	"rdmasim/scenarios/library"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// captured runs a scenario, captures it, and returns the run and what the
// analysis of its capture says, both as run directories.
func captured(t *testing.T, s *Spec, workers int, at ...string) (ran, read *trace.Run, sum *analysis.Summary) {
	t.Helper()
	dir := t.TempDir()
	_, err := Run(context.Background(), s, Options{Out: filepath.Join(dir, "run"), Workers: workers, Capture: &CaptureOptions{At: at, SnapLen: minSnapLen}})
	require.NoError(t, err)
	f, err := os.Open(filepath.Join(dir, "run", FileCapture))
	require.NoError(t, err)
	defer f.Close()
	m, err := capture.Merge([]capture.Source{{Name: "capture", In: f}})
	require.NoError(t, err)
	sum, _, err = analysis.Run(context.Background(), m, analysis.RunConfig{Dir: filepath.Join(dir, "read"), Name: "read",
		Options: analysis.Options{PauseUntilXon: !s.Switch.PFC.Timer}})
	require.NoError(t, err)
	ran, err = trace.Open(filepath.Join(dir, "run"))
	require.NoError(t, err)
	read, err = trace.Open(filepath.Join(dir, "read"))
	require.NoError(t, err)
	return ran, read, sum
}

// sums adds the counters of hosts up by name: those of objects that begin with
// the name of a host.
func sums(t *testing.T, run *trace.Run, only func(object string) bool) map[string]float64 {
	t.Helper()
	list, err := run.Counters()
	require.NoError(t, err)
	m := map[string]float64{}
	for _, c := range list {
		if only(c.Object) {
			m[c.Name] += c.Value
		}
	}
	return m
}

// flowLine is what a capture can tell of a message.
type flowLine struct {
	verb    string
	bytes   sim.Bytes
	retx    uint64
	success bool
}

// flowLines counts messages by what a capture can tell of them.
func flowLines(t *testing.T, run *trace.Run) map[flowLine]int {
	t.Helper()
	list := map[flowLine]int{}
	for f, err := range run.Flows() {
		require.NoError(t, err)
		list[flowLine{f.Verb, f.Bytes, f.Retransmits, f.Status == trace.StatusSuccess}]++
	}
	return list
}

// The strongest test of both the writer and the analysis: what the capture of a
// run tells is what the run counted.
func TestCaptureOfARunTellsWhatTheRunCounted(t *testing.T) {
	for _, e := range library.List() {
		t.Run(e.Name, func(t *testing.T) {
			s, err := Load(e.Name, nil)
			require.NoError(t, err)
			if !s.UntilDone && s.Duration > 300*sim.Microsecond {
				if cut, err := Load(e.Name, []string{"duration=300us", "warmup=0s", "expect=[]"}); err == nil {
					s = cut // its faults, if any, begin before
				} else if testing.Short() {
					t.Skip("a long one")
				}
			}
			if s.Warmup > 0 {
				s.Warmup = 0
			}
			ran, read, sum := captured(t, s, 1, "host")
			compareWithRun(t, s, ran, read, sum)
		})
	}
}

// lossy is a scenario in which packets are lost, so that there are NAKs,
// timeouts and retransmissions.
const lossy = `name: lossy
seed: 3
duration: until_done
topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 3, rate: 100Gbps}}
switch: {pfc: {priorities: [3]}}
nic: {path_mtu: 1024, timeout: 4, retry_count: 7}
links:
  - {a: h*, b: leaf*, loss: 0.2%}
traffic:
  - permutation: {message: 400KB, repeat: 3}
  - incast: {receiver: h0, senders: 5, message: 3000B, repeat: 20, verb: send}
`

func TestCaptureTellsLosses(t *testing.T) {
	for name, sets := range map[string][]string{
		"go-back-n": nil,
		"go-back-0": {"nic.recovery=go_back_0", "traffic.0.permutation.message=200KB"},
		"vlan":      {"nic.encapsulation=vlan"},
		"ipv6":      {"nic.encapsulation=ipv6"},
		"vxlan":     {"nic.encapsulation=vxlan"},
		"vtep":      {"switch.vtep=true"},
		"one port":  {"nic.source_ports=fixed"},
		"dctcp":     {"nic.congestion=dctcp"},
		"small":     {"nic.path_mtu=256", "nic.timeout=8"},
		"cm":        {"nic.setup.method=cm", "nic.setup.timeout=200us"},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, lossy, sets)
			ran, read, sum := captured(t, s, 2, "host")
			compareWithRun(t, s, ran, read, sum)
			list := sums(t, ran, func(string) bool { return true })
			assert.Positive(t, list[trace.CountRetransmitted])
			assert.Positive(t, list[trace.CountNaks])
		})
	}
}

// parse reads a scenario and changes some of its values.
func parse(t *testing.T, text string, sets []string) *Spec {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	s, err := Load(file, sets)
	require.NoError(t, err)
	return s
}

// counted are the counters that a capture at all hosts tells exactly.
var counted = []string{trace.CountDataSent, trace.CountDataDelivered, trace.CountRetransmitted, trace.CountDiscarded, trace.CountPayloadDelivered,
	trace.CountOutOfSequence, trace.CountCEReceived, trace.CountNaks, trace.CountNaksReceived, trace.CountAcks, trace.CountCNPSent, trace.CountCNPHandled}

func compareWithRun(t *testing.T, s *Spec, ran, read *trace.Run, sum *analysis.Summary) {
	t.Helper()
	hosts := map[string]bool{}
	for _, n := range ran.Topology.Nodes {
		hosts[n.Name] = n.Kind == "host"
	}
	want := sums(t, ran, func(o string) bool { return hosts[strings.SplitN(o, ":", 2)[0]] })
	got := sums(t, read, func(o string) bool { return true })
	assert.Positive(t, want[trace.CountDataSent])
	for _, name := range counted {
		if s.NIC.Drain > 0 || len(s.NICs) > 0 && s.NICs[0].NIC.Drain > 0 {
			// What waits in the receive buffer of a slow host has been captured and
			// not been delivered.
			if name == trace.CountDataDelivered || name == trace.CountPayloadDelivered || name == trace.CountCEReceived {
				assert.GreaterOrEqual(t, got[name], want[name], name)
				continue
			}
		}
		if name == trace.CountAcks || name == trace.CountCNPSent {
			// An ACK or CNP that waits at a paused port has not been sent yet.
			assert.LessOrEqual(t, got[name], want[name], name)
			reads := slices.ContainsFunc(sum.QPs, func(q analysis.QP) bool { return q.Responses > 0 }) // behind a READ response ACKs become one
			// In a storm any number waits; else one for each of the short pauses.
			if storm := want[trace.CountPausedSeconds] > 1e-3*want[trace.CountPauseEpisodes]; !reads && !storm {
				assert.GreaterOrEqual(t, got[name], want[name]-want[trace.CountPauseEpisodes], name)
			}
			continue
		}
		assert.Equal(t, want[name], got[name], name)
	}
	assert.Zero(t, sum.ICRC.Invalid)
	assert.Zero(t, sum.Frames.Malformed)
	assert.Zero(t, sum.Unfollowed)
	for _, c := range sum.Checks {
		assert.Zero(t, c.Violations, "%s: %v", c.Name, c.Examples)
	}
	comparePauses(t, ran, read)
	a, b := flowLines(t, ran), flowLines(t, read)
	wrong := 0
	for f, n := range a {
		if f.success && n != b[f] {
			wrong++
			t.Logf("%+v: %d in the run, %d in its capture", f, n, b[f])
		}
	}
	for f, n := range b {
		if f.success && a[f] == 0 {
			wrong++
			t.Logf("%+v: none in the run, %d in its capture", f, n)
		}
		if wrong > 10 {
			break
		}
	}
	assert.Zero(t, wrong, "complete messages")
}

// comparePauses compares pauses port by port: the analysis names ports as the
// run does.
func comparePauses(t *testing.T, ran, read *trace.Run) {
	t.Helper()
	type key struct {
		object string
		prio   int8
		name   string
	}
	table := func(r *trace.Run) map[key]float64 {
		list, err := r.Counters()
		require.NoError(t, err)
		m := map[key]float64{}
		for _, c := range list {
			m[key{c.Object, c.Prio, c.Name}] = c.Value
		}
		return m
	}
	want, got := table(ran), table(read)
	response := 0.0
	for _, l := range ran.Topology.Links {
		response = max(response, ResponseTime(sim.Rate(l.RateAB)).Seconds(), ResponseTime(sim.Rate(l.RateBA)).Seconds())
	}
	seen := map[string]bool{}
	for k := range got {
		seen[k.object] = true
	}
	for k, v := range want {
		if !seen[k.object] {
			continue
		}
		switch k.name {
		case trace.CountPFCXoffTx, trace.CountPFCXonTx, trace.CountPFCRefreshTx, trace.CountPFCXoffRx, trace.CountPFCXonRx:
			assert.Equal(t, v, got[k], "%v", k)
		case trace.CountPauseEpisodes:
			// A pause that came at the very end is not in force yet.
			assert.LessOrEqual(t, got[k]-v, 1.0, "%v", k)
			assert.GreaterOrEqual(t, got[k], v, "%v", k)
		case trace.CountPausedSeconds:
			// Every stamp is cut to a nanosecond; an episode that lasts at the end
			// began later than its frame by the response of the port.
			n := want[key{k.object, k.prio, trace.CountPauseEpisodes}]
			assert.LessOrEqual(t, math.Abs(v-got[k]), n*1e-9+response+1e-9, "%v: %g and %g", k, v, got[k])
		}
	}
}
