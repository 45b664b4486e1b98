package page

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/reports/figure"
	"rdmasim/reports/metric"
	"rdmasim/reports/reporttest"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// story is a run directory with a few counters, and the sentences of one
// paragraph that it must give.
type story struct {
	name     string
	counters []trace.Counter
	kmin     string
	host     string // a host of the fabric
	flows    []trace.Flow
	change   func(*metric.Metrics)
	head     string
	want     string
}

func count(object string, prio int8, name string, v float64) trace.Counter {
	return trace.Counter{Object: object, Prio: prio, Name: name, Value: v}
}

// near is a switch port whose ingress used a share of its threshold.
func near(share float64) []trace.Counter {
	return []trace.Counter{
		count("leaf0:1", 3, trace.CountClosestToXoff, share/2), count("leaf0:2", 3, trace.CountClosestToXoff, share),
		count("leaf0:2", 3, trace.CountIngressMax, 120e3), count("leaf0:2", 3, trace.CountXoffMinimum, 350e3),
	}
}

func paused(xoff, episodes, seconds float64) []trace.Counter {
	return []trace.Counter{count("leaf0:2", 3, trace.CountPFCXoffTx, xoff), count("h1:0", 3, trace.CountPauseEpisodes, episodes),
		count("h1:0", 3, trace.CountPausedSeconds, seconds), count("h1:0", 3, trace.CountPauseLongest, seconds)}
}

func flow(id uint64, end sim.Time, status string) trace.Flow {
	return trace.Flow{ID: id, Src: "h1", Dst: "h0", QP: 1, Verb: "WRITE", Bytes: 1000, Start: 0, End: end, Ideal: 2 * sim.Microsecond, Delivered: 1000, Status: status}
}

const us = sim.Time(sim.Microsecond)

var stories = []story{
	{name: "PFC did not fire", counters: near(0.342), head: "Flow control",
		want: "PFC did not fire: the shared buffer that the ingress of leaf0:2, priority 3 used reached at most 34.2 % of its XOFF threshold (it held 120 KB at most, and the lowest threshold it met was 350 KB)."},
	{name: "PFC did not fire, shared buffer idle", counters: near(0), head: "Flow control",
		want: "PFC did not fire: no ingress used any of the shared buffer."},
	{name: "PFC did not fire, occupancy unknown", counters: []trace.Counter{count("fabric", -1, trace.CountPacketHops, 1)}, head: "Flow control",
		want: "PFC did not fire."},
	{name: "PFC fired", counters: append(near(1.6), paused(1, 1, 20e-6)...), head: "Flow control",
		want: "PFC fired: 1 XOFF frame was sent; 1 port was stopped once, altogether for 20 µs of port-priority time. " +
			"The reason: the shared buffer that the ingress of leaf0:2, priority 3 used reached its XOFF threshold and went up to 160 % of it (it held 120 KB at most, and the lowest threshold it met was 350 KB). " +
			"Most affected was h1:0/p3, stopped during 2 % of the measured time."},
	{name: "a host paused its switch", counters: paused(3, 2, 1e-3), head: "Flow control",
		want: "PFC fired: 3 XOFF frames were sent; 1 port was stopped twice, altogether for 1 ms of port-priority time. " +
			"Most affected was h1:0/p3, stopped during 100 % of the measured time."},
	{name: "a slow host paused its switch", head: "Flow control", host: "h0",
		counters: append(near(0.342), count("h0:0", 3, trace.CountPFCXoffTx, 1), count("h0", -1, trace.CountBufferMax, 1e6), count("h0", -1, trace.CountBufferSize, 1048576)),
		want: "PFC fired: 1 XOFF frame was sent. The reason: h0 took packets more slowly than its link brought them, and its receive buffer filled (at most 1 MB of 1.05 MB). " +
			"No switch had to pause its peers: the shared buffer that the ingress of leaf0:2, priority 3 used reached at most 34.2 % of its XOFF threshold (it held 120 KB at most, and the lowest threshold it met was 350 KB)."},
	{name: "not measured", head: "Flow control", want: "Whether PFC fired was not measured."},
	{name: "a storm and a deadlock", counters: paused(1, 1, 1e-3), head: "Flow control",
		change: func(m *metric.Metrics) { n := int64(1); m.PFC.Storms, m.PFC.Deadlocks = &n, &n },
		want: "PFC fired: 1 XOFF frame was sent; 1 port was stopped once, altogether for 1 ms of port-priority time. Most affected was h1:0/p3, stopped during 100 % of the measured time. " +
			"1 episode lasted longer than 10 ms: a pause storm. 1 deadlock was found: ports that wait for each other in a circle."},
	{name: "lossless drops are an alarm", counters: []trace.Counter{count("leaf0:1", 3, trace.CountDropLossless, 1)}, head: "Losses",
		want: "1 packet was dropped: 1 in a lossless class. A lossless class must not lose packets: its headroom was too small, or PFC did not reach the sender."},
	{name: "drops by cause", counters: []trace.Counter{count("leaf0:1", 0, trace.CountDropLossy, 2), count("leaf0:1", 3, trace.CountDropFault, 40), count("h1", -1, trace.CountRetransmitted, 1)}, head: "Losses",
		want: "42 packets were dropped: 2 in a lossy class for want of buffer and 40 by injected faults. 1 packet was sent again."},
	{name: "reordering", counters: append(near(0), count("h1", -1, trace.CountRetransmitted, 7), count("h0", -1, trace.CountOutOfSequence, 5)), head: "Losses",
		want: "No packet was dropped. 7 packets were sent again although none was lost: 5 packets arrived out of order, and a receiver takes packets in order alone."},
	{name: "no drops", counters: near(0), head: "Losses", want: "No packet was dropped."},
	{name: "queue stayed below Kmin", counters: []trace.Counter{count("leaf0:0/q3", -1, trace.CountQueueMax, 90e3)}, kmin: "100KB", head: "Queues and marking",
		want: "The longest queue was leaf0:0/q3: at most 90 KB; marking there begins at Kmin = 100 KB and rises until Kmax = 1 MB. ECN marked nothing, because no queue exceeded Kmin."},
	{name: "marks and CNPs", counters: []trace.Counter{count("leaf0:0/q3", -1, trace.CountQueueMax, 900e3), count("leaf0:0/q3", -1, trace.CountQueueP99, 300e3),
		count("leaf0:0/q3", -1, trace.CountECNEligible, 1000), count("leaf0:0/q3", -1, trace.CountECNMarked, 50), count("h0", -1, trace.CountCNPSent, 1), count("h1", -1, trace.CountCNPHandled, 1)}, head: "Queues and marking",
		want: "The longest queue was leaf0:0/q3: at most 900 KB, 300 KB or less for 99 % of the time. ECN marked 50 of 1000 packets that could be (5 %). Receivers sent 1 CNP, and all of them reached their senders."},
	{name: "one message", flows: []trace.Flow{flow(1, 4*us, trace.StatusSuccess)}, head: "Messages",
		want: "The one message completed. Farthest from its ideal was a message of 1 KB from h1 to h0: 4 µs, 2 times the time it would take alone. Together they delivered 2 Gbit/s of payload."},
	{name: "none completed", flows: []trace.Flow{flow(1, -1, trace.StatusUnfinished), flow(2, 5*us, "IBV_WC_RETRY_EXC_ERR")}, head: "Messages",
		want: "None of 2 messages completed, 1 was unfinished at the end; 1 message ended with an error. Together they delivered 16 Mbit/s of payload."},
	{name: "no messages", head: "Messages", want: "No message was posted."},
}

func TestSentences(t *testing.T) {
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			var texts []string
			for _, p := range summary(s.load(t)) {
				if p.Head == s.head {
					for _, x := range p.Sentences {
						texts = append(texts, x.Text)
					}
				}
			}
			got := strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(strings.Join(texts, " "))
			require.Equal(t, s.want, got)
		})
	}
}

// load writes the run directory of the story and reads it.
func (s *story) load(t *testing.T) *figure.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	w, err := trace.Create(dir, trace.Manifest{Name: "story", Mode: trace.ModeSimulated}, trace.NewNames())
	require.NoError(t, err)
	require.NoError(t, w.Topology(trace.TopologyFile{}))
	if s.kmin != "" {
		require.NoError(t, w.JSON(trace.FileResolved, map[string]any{"switch": map[string]any{"ecn": map[string]any{"3": map[string]any{"kmin": s.kmin, "kmax": "1MB"}}}}))
	}
	if s.host != "" {
		require.NoError(t, w.Topology(trace.TopologyFile{Nodes: []trace.TopologyNode{{Name: s.host, Kind: "host"}}}))
	}
	require.NoError(t, w.Write(nil, nil, s.flows))
	w.Counters(s.counters)
	_, err = w.Finish(trace.ManifestEnd{Simulated: sim.Time(sim.Millisecond)})
	require.NoError(t, err)
	r, err := figure.Load(dir)
	require.NoError(t, err)
	if s.change != nil {
		s.change(r.Metrics)
	}
	return r
}

var digit = regexp.MustCompile(`[0-9]`)

// Every sentence with a number says where the number stands.
func TestNumbersAreTraceable(t *testing.T) {
	for _, makeRun := range []func(string) error{incast(reporttest.Options{Ping: true, Fault: true, Partial: true}), big, reporttest.Empty} {
		dir := filepath.Join(t.TempDir(), "run")
		require.NoError(t, makeRun(dir))
		r, err := figure.Load(dir)
		require.NoError(t, err)
		for _, p := range summary(r) {
			for _, s := range p.Sentences {
				require.NotContains(t, s.Text, "%!")
				require.NotContains(t, s.Text, "  ")
				require.True(t, strings.HasSuffix(s.Text, "."), s.Text)
				if digit.MatchString(s.Text) {
					require.NotEmpty(t, s.From, s.Text)
				}
			}
		}
	}
}

// The paths named as sources exist.
func TestSourcesExist(t *testing.T) {
	known := map[string]bool{}
	for _, p := range metric.Paths() {
		for name := p.Name; name != ""; name = name[:max(strings.LastIndex(name, "."), 0)] {
			known[name] = true
		}
	}
	known["run.mode"], known["pfc.max_paused_where"], known["expect"] = true, true, true
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, reporttest.Incast(dir, reporttest.Options{Ping: true, Fault: true, Partial: true}))
	r, err := figure.Load(dir)
	require.NoError(t, err)
	for _, p := range summary(r) {
		for _, s := range p.Sentences {
			for _, from := range s.From {
				file := strings.Contains(from, ".csv") || strings.Contains(from, ".json")
				require.True(t, file || known[from], from)
			}
		}
	}
}
