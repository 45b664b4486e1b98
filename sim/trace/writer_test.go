package trace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// sample is a small run: two hosts and a switch, rows of three instants.
type sample struct {
	names  *Names
	points []Point
	events []Event
	flows  []Flow
}

func newSample(n int) *sample {
	s := &sample{names: NewNames()}
	q, p, h := s.names.ID("leaf0:1/q3"), s.names.ID("leaf0:1"), s.names.ID("h0")
	for i := range n {
		t := sim.Time(i) * 1_234_567
		s.points = append(s.points,
			Point{Time: t, Object: q, Metric: SeriesQueueBytes, Mean: float64(i) / 3, Min: 0, Max: float64(i)},
			Point{Time: t, Object: h, Metric: SeriesRate, Mean: 100e9, Min: 1, Max: 100e9})
		s.events = append(s.events,
			Event{Time: t, Node: 2, Seq: uint64(i), Kind: EventXoff, Object: p, Peer: h, Prio: 3, Value: 1e-6 * float64(i), Cause: "shared use, above threshold"},
			Event{Time: t, Node: 0, Seq: uint64(i), Kind: EventCNP, Object: h, Prio: -1})
		s.flows = append(s.flows, Flow{ID: uint64(i), Src: fmt.Sprintf("h%d", i%12), Dst: `rack "a", h1`, QP: 17, Workload: "incast", Verb: "WRITE",
			Bytes: 1_000_000, Start: t, End: t + 85_123_457, Ideal: 80_000_001, Delivered: 1_000_000, Status: StatusSuccess, Tag: "step 1"})
	}
	s.flows = append(s.flows, Flow{ID: 999, Src: "h0", Dst: "h1", Bytes: 5, Start: 1, End: -1, Delivered: 3, Status: StatusUnfinished})
	return s
}

func testTopology() TopologyFile {
	return TopologyFile{Name: "star", Nodes: []TopologyNode{{Name: "h0", Kind: "host"}, {Name: "h1", Kind: "host"}, {Name: "leaf0", Kind: "switch", Tier: 1}},
		Links: []TopologyLink{{A: 0, B: 2, RateAB: 1e11, RateBA: 1e11}}}
}

func testManifest() Manifest {
	return Manifest{Name: "test", Mode: ModeSimulated, Seed: 7, Warmup: 12_345, Host: ThisHost()}
}

func create(t testing.TB, dir string, names *Names) *Writer {
	t.Helper()
	w, err := Create(dir, testManifest(), names)
	require.NoError(t, err)
	t.Cleanup(w.Abort)
	return w
}

// writeSample writes the rows in batches that each cover span.
func writeSample(t testing.TB, dir string, s *sample, span sim.Time) string {
	t.Helper()
	w := create(t, dir, s.names)
	require.NoError(t, w.Topology(testTopology()))
	require.NoError(t, w.JSON(FileResolved, map[string]any{"name": "test", "warmup_s": 0.5}))
	require.NoError(t, w.File("report/index.html", []byte("<p>hello")))
	shuffle := rand.New(rand.NewPCG(1, 2))
	end := sim.Time(0)
	for _, f := range s.flows {
		end = max(end, f.End+1)
	}
	for from := sim.Time(0); from < end; from += span {
		sinks := []*Sink{nil, {Node: 0}, {Node: 1}}
		in := func(at sim.Time) bool { return at >= from && at < from+span }
		for _, p := range s.points {
			if in(p.Time) {
				sinks[1].Points = append(sinks[1].Points, p)
			}
		}
		for _, e := range s.events {
			if in(e.Time) {
				k := sinks[1+int(e.Node)%2]
				k.Events = append(k.Events, e)
			}
		}
		for _, f := range s.flows {
			if in(f.End) || f.End < 0 && in(f.Start) {
				sinks[2].Flows = append(sinks[2].Flows, f)
			}
		}
		for _, k := range sinks[1:] {
			shuffle.Shuffle(len(k.Events), func(i, j int) { k.Events[i], k.Events[j] = k.Events[j], k.Events[i] })
			shuffle.Shuffle(len(k.Flows), func(i, j int) { k.Flows[i], k.Flows[j] = k.Flows[j], k.Flows[i] })
		}
		require.NoError(t, w.Drain(sinks))
		require.Zero(t, sinks[1].Len()+sinks[2].Len())
	}
	w.Counters([]Counter{
		{"leaf0:1", 3, CountPFCXoffTx, 4}, {"leaf0:1", 3, CountPFCRefreshTx, 2}, {"leaf0:1", 3, CountPFCXonTx, 4},
		{"h0:0", 3, CountPausedSeconds, 12.5e-6}, {"h0:0", 3, CountPFCXoffRx, 6}, {"h0:0", 3, CountPFCXonRx, 4},
		{"h0", -1, CountCNPHandled, 3}, {"fabric", -1, CountPacketHops, 1 << 40}, {"leaf0:10", -1, CountDropLossless, 0}, {"leaf0:2", -1, CountDropLossless, 0}})
	print, err := w.Finish(ManifestEnd{Simulated: end})
	require.NoError(t, err)
	return print
}

func collect[T any](t testing.TB, seq func(func(T, error) bool)) []T {
	t.Helper()
	var out []T
	for v, err := range seq {
		require.NoError(t, err)
		out = append(out, v)
	}
	return out
}

func TestRunReadsBackExactly(t *testing.T) {
	s := newSample(5000) // several chunks, pages
	dir := filepath.Join(t.TempDir(), "a", "b", "run")
	print := writeSample(t, dir, s, 1e9)
	r, err := Open(dir)
	require.NoError(t, err)
	require.NoError(t, r.Verify())

	assert.Equal(t, print, r.Manifest.Fingerprint)
	assert.Equal(t, Seconds(12_345), r.Manifest.Warmup)
	assert.Equal(t, "none", r.Manifest.Compat)
	assert.Equal(t, testTopology(), r.Topology)
	assert.Equal(t, 0.5, r.Resolved["warmup_s"])

	flows := collect(t, r.Flows())
	want := append([]Flow(nil), s.flows...)
	assert.Equal(t, want, flows, "in order of completion, the unfinished one last")
	points := collect(t, r.Points(SeriesQueueBytes, func(o Object) bool { return strings.HasPrefix(o, "leaf") }))
	require.Len(t, points, 5000)
	for i, p := range points {
		require.Equal(t, PointRow{s.points[2*i].Time, "leaf0:1/q3", SeriesQueueBytes, float64(i) / 3, 0, float64(i)}, p)
	}
	require.Len(t, collect(t, r.Points("", nil)), 10000)
	events := collect(t, r.Events())
	require.Len(t, events, 10000)
	for i := 0; i < len(events); i += 2 {
		require.Equal(t, EventRow{s.events[i].Time, 0, uint64(i / 2), EventCNP, "h0", "", -1, 0, ""}, events[i])
		require.Equal(t, EventRow{s.events[i].Time, 2, uint64(i / 2), EventXoff, "leaf0:1", "h0", 3, 1e-6 * float64(i/2), "shared use, above threshold"}, events[i+1])
	}
	require.Len(t, collect(t, r.Events(EventXoff, EventDrop)), 5000)
	for range r.Points("", nil) {
		break // a reader may stop
	}
}

// The fear: results that depend on how often sinks are drained.
func TestBatchesChangeNoByte(t *testing.T) {
	s := newSample(3000)
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	require.Equal(t, writeSample(t, a, s, 1e12), writeSample(t, b, s, 3_333_333))
	for _, name := range []string{FileManifest, FileFlows, FileEvents, FileSeries, FileCounters} {
		x, err := os.ReadFile(filepath.Join(a, name))
		require.NoError(t, err)
		y, err := os.ReadFile(filepath.Join(b, name))
		require.NoError(t, err)
		require.Equal(t, x, y, name)
	}
}

func TestFingerprintSeesEveryField(t *testing.T) {
	base := func() *sample { return newSample(3) }
	write := func(s *sample) string { return writeSample(t, filepath.Join(t.TempDir(), "r"), s, 1e12) }
	want := write(base())
	for name, change := range map[string]func(*sample){
		"flow bytes":     func(s *sample) { s.flows[1].Bytes++ },
		"flow start":     func(s *sample) { s.flows[1].Start++ },
		"flow end":       func(s *sample) { s.flows[2].End++ },
		"flow ideal":     func(s *sample) { s.flows[1].Ideal++ },
		"flow status":    func(s *sample) { s.flows[1].Status = "IBV_WC_RETRY_EXC_ERR" },
		"flow tag":       func(s *sample) { s.flows[1].Tag = "" },
		"flow delivered": func(s *sample) { s.flows[3].Delivered++ },
		"flow retries":   func(s *sample) { s.flows[0].Retransmits++ },
		"event time":     func(s *sample) { s.events[5].Time++ },
		"event value":    func(s *sample) { s.events[2].Value = math.Nextafter(s.events[2].Value, 9) },
		"event cause":    func(s *sample) { s.events[2].Cause = "x" },
		"event peer":     func(s *sample) { s.events[2].Peer = 0 },
		"event missing":  func(s *sample) { s.events = s.events[:5] },
	} {
		s := base()
		change(s)
		assert.NotEqual(t, want, write(s), name)
	}
	s := base()
	s.points[0].Mean++
	assert.Equal(t, want, write(s), "series are not part of it")
	s = base()
	renumbered := NewNames()
	renumbered.ID("unused")
	for i := range s.events {
		s.events[i].Object = renumbered.ID(s.names.Name(s.events[i].Object))
		s.events[i].Peer = renumbered.ID(s.names.Name(s.events[i].Peer))
	}
	for i := range s.points {
		s.points[i].Object = renumbered.ID(s.names.Name(s.points[i].Object))
	}
	s.names = renumbered
	assert.Equal(t, want, write(s), "nor are the numbers of names")
}

func TestCountersUnderOperatorsNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	writeSample(t, dir, newSample(1), 1e12)
	p, err := os.ReadFile(filepath.Join(dir, FileCounters))
	require.NoError(t, err)
	for _, line := range []string{
		"object,prio,name,value,derived_from",
		"leaf0:1,3,pfc_xoff_tx,4,",
		"leaf0:1,3,PFC3 Tx,10,pfc_xoff_tx+pfc_refresh_tx+pfc_xon_tx",
		"leaf0:1,3,SAI_PORT_STAT_PFC_3_TX_PKTS,10,pfc_xoff_tx+pfc_refresh_tx+pfc_xon_tx",
		"h0:0,3,rx_prio3_pause,10,pfc_xoff_rx+pfc_xon_rx",
		"h0:0,3,rx_prio3_pause_duration,12.5,paused_seconds*1e+06",
		"h0,-1,rp_cnp_handled,3,cnp_handled",
		"fabric,-1,packet_hops,1099511627776,",
	} {
		assert.Contains(t, strings.Split(string(p), "\n"), line)
	}
	r, err := Open(dir)
	require.NoError(t, err)
	counters, err := r.Counters()
	require.NoError(t, err)
	require.Len(t, counters, 10)
	assert.True(t, sort.SliceIsSorted(counters, func(i, j int) bool { return compareCounters(counters[i], counters[j]) < 0 }))
	assert.Less(t, strings.Index(string(p), "leaf0:2,"), strings.Index(string(p), "leaf0:10,"), "natural order")
}

func TestFlowColumns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := newSample(0)
	s.flows = []Flow{
		{ID: 1, Src: "h0", Dst: "h1", QP: 2, Verb: "SEND", Bytes: 10, Start: 1, End: 3_000_000_000_001, Ideal: 1_500_000_000_000, Delivered: 10, Status: StatusSuccess},
		{ID: 2, Src: "h0", Dst: "h1", QP: 2, Verb: "SEND", Bytes: 10, Start: 0, End: 3_000_000_000_002, Ideal: 1_500_000_000_000, Status: "IBV_WC_RETRY_EXC_ERR", Retransmits: 7},
		{ID: 3, Src: "h0", Dst: "h1", QP: 2, Verb: "SEND", Bytes: 10, Start: 5e11, End: -1, Status: StatusUnfinished, Workload: "w", Tag: "t", Delivered: 4},
	}
	writeSample(t, dir, s, 1e13)
	p, err := os.ReadFile(filepath.Join(dir, FileFlows))
	require.NoError(t, err)
	assert.Equal(t, `id,src,dst,qp,verb,bytes,start_s,end_s,fct_s,ideal_fct_s,slowdown,retransmits,status,workload,tag,delivered_bytes
1,h0,h1,2,SEND,10,0.000000000001,3.000000000001,3,1.5,2.000000000,0,IBV_WC_SUCCESS,,,10
2,h0,h1,2,SEND,10,0,3.000000000002,,1.5,,7,IBV_WC_RETRY_EXC_ERR,,,0
3,h0,h1,2,SEND,10,0.5,,,,,0,unfinished,w,t,4
`, string(p))
}

func TestLateRowsAreAnError(t *testing.T) {
	w := create(t, filepath.Join(t.TempDir(), "run"), NewNames())
	require.NoError(t, w.Write(nil, []Event{{Time: 10}, {Time: 20}}, nil))
	require.ErrorContains(t, w.Write(nil, []Event{{Time: 15}}, nil), "events.parquet: an event at 15ps came after the batch that reached 20ps")
	_, err := w.Finish(ManifestEnd{})
	require.Error(t, err, "the error sticks")

	w = create(t, filepath.Join(t.TempDir(), "run"), NewNames())
	require.NoError(t, w.Write(nil, nil, []Flow{{ID: 1, Src: "h0", End: 10}}))
	require.ErrorContains(t, w.Write(nil, nil, []Flow{{ID: 2, Src: "h0", End: 9}}), "flows.csv: message 2 of h0, complete at 9ps")
}

// What the reader would refuse the writer refuses: no run that cannot be read.
func TestImpossibleFlowsAreErrors(t *testing.T) {
	for want, f := range map[string]Flow{
		"message 7 of h0: it ends at 4ps, before it was posted at 5ps":              {ID: 7, Src: "h0", Start: 5, End: 4},
		"message 8 of h0: 0 of -1 bytes delivered: neither may be negative":         {ID: 8, Src: "h0", Bytes: -1},
		"message 9 of h0: -2 of 10 bytes delivered: neither may be negative":        {ID: 9, Src: "h0", Bytes: 10, Delivered: -2},
		"message 10 of h0: -2 of 10 bytes delivered: neither may be negative (end)": {ID: 10, Src: "h0", Bytes: 10, Delivered: -2, End: -1},
	} {
		root := t.TempDir()
		w := create(t, filepath.Join(root, "run"), nil)
		err := w.Write(nil, nil, []Flow{f})
		if f.End < 0 {
			require.NoError(t, err)
		}
		_, err = w.Finish(ManifestEnd{})
		require.ErrorContains(t, err, strings.TrimSuffix(want, " (end)"))
		require.Empty(t, listing(t, root))
	}
	w := create(t, filepath.Join(t.TempDir(), "run"), nil)
	_, err := w.Finish(ManifestEnd{Simulated: -1})
	require.ErrorContains(t, err, "ended before it began")
}

func TestTwiceCountedIsAnError(t *testing.T) {
	w := create(t, filepath.Join(t.TempDir(), "run"), NewNames())
	w.Counters([]Counter{{"a", -1, "x", 1}})
	w.Counters([]Counter{{"a", -1, "x", 1}})
	_, err := w.Finish(ManifestEnd{})
	require.ErrorContains(t, err, "counters.csv: counter x of a, priority -1, was given twice")
}
