package metric

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim"
	"rdmasim/sim/simtest"
	"rdmasim/sim/trace"
)

const ms = sim.Time(sim.Millisecond)

// story is what a test puts into a run directory.
type story struct {
	mode      string
	warmup    sim.Time
	simulated sim.Time
	flows     []trace.Flow
	events    []trace.Event
	points    []trace.Point
	counters  []trace.Counter
}

func (s story) run(t testing.TB) *trace.Run {
	t.Helper()
	if s.mode == "" {
		s.mode = trace.ModeSimulated
	}
	names := trace.NewNames()
	names.ID("leaf0:1") // 1
	names.ID("leaf0:2") // 2
	names.ID("leaf0:1/q3")
	names.ID("leaf0:2/q4")
	dir := filepath.Join(t.TempDir(), "run")
	w, err := trace.Create(dir, trace.Manifest{Name: "incast-8to1", Mode: s.mode, Seed: 3, Warmup: trace.Seconds(s.warmup)}, names)
	require.NoError(t, err)
	t.Cleanup(w.Abort)
	require.NoError(t, w.Topology(trace.TopologyFile{Nodes: []trace.TopologyNode{{Name: "h0", Kind: "host"}, {Name: "h1", Kind: "host"},
		{Name: "h2", Kind: "host"}, {Name: "leaf0", Kind: "switch"}},
		Links: []trace.TopologyLink{{A: 1, B: 3, BPort: 1}, {A: 2, B: 3, BPort: 2}}}))
	require.NoError(t, w.Write(s.points, s.events, s.flows))
	w.Counters(s.counters)
	_, err = w.Finish(trace.ManifestEnd{Simulated: s.simulated})
	require.NoError(t, err)
	r, err := trace.Open(dir)
	require.NoError(t, err)
	return r
}

func (s story) metrics(t testing.TB) *Metrics {
	t.Helper()
	m, err := Compute(s.run(t))
	require.NoError(t, err)
	return m
}

// message is one of 1 MB that succeeded.
func message(id uint64, src string, start, end sim.Time) trace.Flow {
	return trace.Flow{ID: id, Src: src, Dst: "h0", QP: 1, Verb: "WRITE", Bytes: sim.MB, Start: start, End: end, Ideal: sim.Millisecond / 2,
		Delivered: sim.MB, Status: trace.StatusSuccess}
}

// two senders share 10 ms: one sends 2 messages, the other 1 and part of another.
func incast() story {
	cut := message(4, "h2", 5*ms, -1)
	cut.Delivered, cut.Status = 250_000, trace.StatusUnfinished
	lost := message(5, "h1", 8*ms, 9*ms)
	lost.Delivered, lost.Status = 0, "IBV_WC_RETRY_EXC_ERR"
	return story{simulated: 10 * ms,
		flows: []trace.Flow{message(1, "h1", 0, 2*ms), message(2, "h1", 2*ms, 4*ms), message(3, "h2", 1*ms, 5*ms), cut, lost},
		events: []trace.Event{
			{Time: 1 * ms, Seq: 0, Kind: trace.EventPauseOn, Object: 1, Prio: 3},
			{Time: 2 * ms, Seq: 1, Kind: trace.EventPauseOff, Object: 1, Prio: 3, Value: 1e-3}},
		counters: []trace.Counter{
			{Object: "fabric", Prio: -1, Name: trace.CountPacketHops, Value: 12345},
			{Object: "h1", Prio: -1, Name: trace.CountDataSent, Value: 3000}, {Object: "h2", Prio: -1, Name: trace.CountDataSent, Value: 2000},
			{Object: "h1", Prio: -1, Name: trace.CountRetransmitted, Value: 10},
			{Object: "h0", Prio: -1, Name: trace.CountDataDelivered, Value: 4900}, {Object: "h0", Prio: -1, Name: trace.CountDiscarded, Value: 20},
			{Object: "leaf0:1", Prio: -1, Name: trace.CountDropFault, Value: 7},
			{Object: "leaf0:1", Prio: 3, Name: trace.CountECNEligible, Value: 5000}, {Object: "leaf0:1", Prio: 3, Name: trace.CountECNMarked, Value: 50},
			{Object: "h0", Prio: -1, Name: trace.CountCNPSent, Value: 9}, {Object: "h1", Prio: -1, Name: trace.CountCNPHandled, Value: 8},
			{Object: "leaf0:1", Prio: 3, Name: trace.CountPFCXoffTx, Value: 5}, {Object: "leaf0:2", Prio: 3, Name: trace.CountPFCXoffTx, Value: 6},
			{Object: "leaf0:1", Prio: 3, Name: trace.CountPFCXonTx, Value: 5}, {Object: "leaf0:1", Prio: 3, Name: trace.CountPFCRefreshTx, Value: 2},
			{Object: "h1:0", Prio: 3, Name: trace.CountPauseEpisodes, Value: 5}, {Object: "h2:0", Prio: 3, Name: trace.CountPauseEpisodes, Value: 6},
			{Object: "h1:0", Prio: 3, Name: trace.CountPausedSeconds, Value: 1e-3}, {Object: "h2:0", Prio: 3, Name: trace.CountPausedSeconds, Value: 4e-3},
			{Object: "h2:0", Prio: 4, Name: trace.CountPausedSeconds, Value: 1e-3}, {Object: "leaf0:1", Prio: 3, Name: trace.CountPausedSeconds, Value: 0},
			{Object: "leaf0:1/q3", Prio: 3, Name: trace.CountQueueMax, Value: 400_000}, {Object: "leaf0:1/q3", Prio: 3, Name: trace.CountQueueP99, Value: 390_000},
			{Object: "leaf0:1/q3", Prio: 3, Name: trace.CountQueueIntegral, Value: 1000}, {Object: "leaf0:2/q3", Prio: 3, Name: trace.CountQueueMax, Value: 300_000},
			{Object: "leaf0:2/q3", Prio: 3, Name: trace.CountQueueP99, Value: 299_000}, {Object: "h1:0/q3", Prio: 3, Name: trace.CountQueueMax, Value: 9e9},
			{Object: "leaf0:1", Prio: 3, Name: trace.CountHeadroomMax, Value: 1000}, {Object: "leaf0:1", Prio: 3, Name: trace.CountHeadroomSize, Value: 60_000},
			{Object: "leaf0:2", Prio: 3, Name: trace.CountHeadroomMax, Value: 2000}, {Object: "leaf0:2", Prio: 3, Name: trace.CountHeadroomSize, Value: 70_000},
		}}
}

func TestMetricsOfAnIncast(t *testing.T) {
	m := incast().metrics(t)
	ok, err := m.Check([]string{"packets.dropped.lossless == 0", "goodput_bps.total > 85Gbps", "pfc.deadlocks == 0"})
	require.NoError(t, err)
	require.False(t, ok)
	m.Run.Fingerprint = "(of the rows)"
	p, err := trace.EncodeJSON(m)
	require.NoError(t, err)
	simtest.Golden(t, "incast.json", p)

	// Worked by hand, so that the golden is right and not only as before.
	for path, want := range map[string]float64{
		"flows.total": 5, "flows.completed": 3, "flows.failed": 1, "flows.bytes": 5e6, "flows.delivered_bytes": 3.25e6,
		"flows.fct_s.max": 4e-3, "flows.fct_s.p50": 2e-3, "flows.fct_s.mean": 8e-3 / 3, "flows.slowdown.max": 8,
		// 3.25 MB in the 10 ms to the end of the run; h1: 2 MB in 9 ms, h2: 1.25 MB in 9 ms.
		"goodput_bps.total": 2.6e9, "goodput_bps.max": 2e6 * 8 / 9e-3, "goodput_bps.min": 1.25e6 * 8 / 9e-3,
		"goodput_bps.jain": 3.25 * 3.25 / (2 * (4 + 1.25*1.25)),
		"packets.sent":     5000, "packets.delivered": 4900, "packets.discarded": 20, "packets.retransmitted": 10,
		"packets.dropped.fault": 7, "packets.dropped.lossless": 0, "packets.dropped.lossy": 0,
		"ecn.eligible": 5000, "ecn.marked": 50, "cnp.sent": 9, "cnp.handled": 8,
		"pfc.xoff": 11, "pfc.xon": 5, "pfc.refresh": 2, "pfc.episodes": 11, "pfc.paused_s": 6e-3, "pfc.paused_ports": 2,
		"pfc.max_paused_fraction": 0.4, "pfc.storms": 0, "pfc.storm_threshold_s": 0.01,
		// The host's send queue is larger but no part of the fabric.
		"queue_bytes.max": 400_000, "queue_bytes.p99": 390_000, "queue_bytes.mean": 100_000,
		"headroom_bytes.max_used": 2000, "headroom_bytes.configured": 70_000,
		"completions.success": 3, "completions.retry_exceeded": 1, "completions.flushed": 0,
		"run.packet_hops": 12345, "run.simulated_s": 0.01, "run.warmup_s": 0, "run.partial": 0,
	} {
		got, ok := m.Lookup(path)
		assert.True(t, ok, path)
		assert.InEpsilon(t, want+1, got+1, 1e-12, path)
	}
	assert.Equal(t, "leaf0:1/q3", m.Queue.Where)
	assert.Equal(t, "leaf0:2/pg3", m.Headroom.Where)
	assert.Equal(t, "h2:0/p3", m.PFC.MaxWhere)
	deadlocks, ok := m.Lookup("pfc.deadlocks")
	assert.True(t, ok, "a simulation looks for deadlocks")
	assert.Zero(t, deadlocks)
}

// The fear: what was not measured is reported as 0.
func TestNotMeasuredIsNull(t *testing.T) {
	for name, s := range map[string]story{
		"hardware":            {mode: trace.ModeHardware, simulated: ms, counters: []trace.Counter{{Object: "h0", Prio: -1, Name: trace.CountCNPSent, Value: 4}}},
		"capture":             {mode: trace.ModeCapture, simulated: ms},
		"simulated, no count": {simulated: ms},
	} {
		m := s.metrics(t)
		for _, path := range []string{"packets.sent", "packets.dropped.lossless", "ecn.marked", "pfc.xoff", "pfc.paused_s", "pfc.max_paused_fraction",
			"pfc.storms", "queue_bytes.max", "headroom_bytes.max_used", "flows.fct_s.p99", "flows.slowdown.mean", "goodput_bps.total", "icrc.valid"} {
			_, ok := m.Lookup(path)
			assert.False(t, ok, "%s: %s", name, path)
			v := Expectation{Text: "x", left: &figureNode{mustFind(path)}, op: ">=", right: &valueNode{}}.Check(m)
			assert.False(t, v.OK, "what is unknown fulfils nothing")
			assert.Equal(t, path+" was not measured", v.Why)
		}
	}
	m := story{mode: trace.ModeHardware, simulated: ms, counters: []trace.Counter{{Object: "h0", Prio: -1, Name: trace.CountCNPSent, Value: 4}}}.metrics(t)
	assert.Equal(t, int64(4), *m.CNP.Sent)
	m = story{mode: trace.ModeCapture, counters: []trace.Counter{{Object: "capture", Prio: -1, Name: trace.CountICRCInvalid, Value: 2}}}.metrics(t)
	assert.Equal(t, int64(2), *m.ICRC.Invalid)
	assert.Nil(t, m.ICRC.Valid)
}

func mustFind(name string) Path {
	p, ok := find(name)
	if !ok {
		panic(name)
	}
	return p
}

func TestGoodputLeavesTheWarmupOut(t *testing.T) {
	// A message of 1 MB from 0 to 10 ms at an even rate, warm-up of 5 ms: what
	// is left are 0.5 MB in 5 ms, the same goodput.
	s := story{simulated: 10 * ms, warmup: 5 * ms, flows: []trace.Flow{message(1, "h1", 0, 10*ms), message(2, "h2", 0, 4*ms)}}
	m := s.metrics(t)
	assert.InEpsilon(t, 0.8e9, *m.Goodput.Total, 1e-12)
	assert.InEpsilon(t, 0.8e9, *m.Goodput.Min, 1e-12, "the message that ended in the warm-up is no queue pair of its own")

	// Four messages posted at once on one queue pair, 1 MB every 4 ms: one
	// begins when the one before it has ended, so that nothing of the second
	// counts after it, three quarters of the third do, and all of the fourth.
	var queued []trace.Flow
	for i := range uint64(4) {
		f := message(i, "h1", 0, sim.Time(i+1)*4*ms)
		f.QP = 1
		queued = append(queued, f)
	}
	qps, err := GoodputByQP(story{simulated: 16 * ms, warmup: 9 * ms, flows: queued}.run(t))
	require.NoError(t, err)
	require.Len(t, qps, 1)
	assert.InEpsilon(t, 1.75e6, qps[0].Bytes, 1e-12)

	// What receivers counted after the warm-up is exact.
	s.counters = []trace.Counter{{Object: "h0", Prio: -1, Name: trace.CountPayloadDelivered, Value: 600_000}}
	assert.InEpsilon(t, 600_000*8/5e-3, *s.metrics(t).Goodput.Total, 1e-12)

	// All complete: the time after the last completion does not count.
	s = story{simulated: 100 * ms, flows: []trace.Flow{message(1, "h1", 10*ms, 20*ms)}}
	assert.InEpsilon(t, 0.8e9, *s.metrics(t).Goodput.Total, 1e-12)

	list, err := GoodputByQP(incast().run(t))
	require.NoError(t, err)
	require.Equal(t, []QPGoodput{{"h1", "h0", 1, 2e6, 0, 9 * ms}, {"h2", "h0", 1, 1.25e6, 1 * ms, 10 * ms}}, list)
}

func TestStorms(t *testing.T) {
	episode := func(object trace.ObjectID, prio int8, from, to sim.Time) []trace.Event {
		e := []trace.Event{{Time: from, Kind: trace.EventPauseOn, Object: object, Prio: prio}}
		if to >= 0 {
			e = append(e, trace.Event{Time: to, Kind: trace.EventPauseOff, Object: object, Prio: prio, Value: to.Sub(from).Seconds()})
		}
		return e
	}
	count := func(warmup sim.Time, counters []trace.Counter, episodes ...[]trace.Event) int64 {
		s := story{simulated: 100 * ms, warmup: warmup, counters: append(counters, trace.Counter{Object: "fabric", Prio: -1, Name: trace.CountPacketHops})}
		for _, e := range episodes {
			s.events = append(s.events, e...)
		}
		return *s.metrics(t).PFC.Storms
	}
	assert.EqualValues(t, 0, count(0, nil, episode(1, 3, 5*ms, 15*ms)), "exactly the threshold is none")
	assert.EqualValues(t, 1, count(0, nil, episode(1, 3, 5*ms, 15*ms+1)))
	assert.EqualValues(t, 0, count(50*ms, nil, episode(1, 3, 5*ms, 25*ms)), "over before the warm-up was")
	assert.EqualValues(t, 2, count(0, nil, episode(1, 3, 5*ms, 25*ms), episode(1, 4, 5*ms, 26*ms)), "priorities apart")
	assert.EqualValues(t, 1, count(0, nil, episode(2, 3, 80*ms, -1)), "still on at the end")
	assert.EqualValues(t, 0, count(0, nil, episode(2, 3, 95*ms, -1)))
	assert.EqualValues(t, 2, count(0, nil, episode(1, 3, 5*ms, 25*ms), episode(1, 3, 35*ms, 55*ms)))
	longest := []trace.Counter{{Object: "leaf0:1", Prio: 3, Name: trace.CountPauseLongest, Value: 0.02}, {Object: "leaf0:2", Prio: 3, Name: trace.CountPauseLongest, Value: 0.01}}
	assert.EqualValues(t, 1, count(0, longest), "without events the counters tell")
	assert.EqualValues(t, 1, count(0, longest, episode(1, 3, 5*ms, 25*ms)), "and are not added to them")
}

func TestWriteAndLoad(t *testing.T) {
	r := incast().run(t)
	m, err := Compute(r)
	require.NoError(t, err)
	_, err = m.Check([]string{"flows.failed == 0"})
	require.NoError(t, err)
	require.NoError(t, m.Write(r.Dir))
	got, err := Load(r.Dir)
	require.NoError(t, err)
	m.pauses, m.diagnosis = nil, nil // what has files of its own
	m.run = nil                      // what is read from the file alone has no run
	require.Equal(t, m, got)

	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, trace.FileMetrics), []byte(`{"run":{"mode":"simulated"},"fl`), 0o600))
	_, err = Load(r.Dir)
	require.ErrorContains(t, err, "metrics.json: unexpected end of JSON input")
	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, trace.FileMetrics), []byte(`{}`), 0o600))
	_, err = Load(r.Dir)
	require.ErrorContains(t, err, "not the metrics of a run")
}

func TestBrokenTablesAreErrors(t *testing.T) {
	for _, name := range []string{trace.FileFlows, trace.FileEvents, trace.FileCounters} {
		r := incast().run(t)
		require.NoError(t, os.Truncate(r.Path(name), 100))
		_, err := Compute(r)
		require.ErrorContains(t, err, r.Path(name))
	}
}

func TestEveryPathHasUnitAndDefinition(t *testing.T) {
	m := incast().metrics(t)
	for _, p := range Paths() {
		_, _ = m.Lookup(p.Name)
		assert.NotEmpty(t, p.Doc, p.Name)
		assert.Contains(t, []string{Seconds, BitsPerS, Bytes, Ratio, Count}, p.Unit, p.Name)
	}
	assert.Equal(t, Seconds, mustFind("flows.fct_s.p99").Unit)
	assert.Equal(t, Ratio, mustFind("flows.slowdown.p99").Unit)
	assert.Equal(t, Bytes, mustFind("queue_bytes.max").Unit)
	assert.Equal(t, BitsPerS, mustFind("goodput_bps.min").Unit)
	assert.Equal(t, Ratio, mustFind("goodput_bps.jain").Unit)
	assert.Equal(t, Count, mustFind("pfc.xoff").Unit)
}
