package closedform

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/congestion/fluid"
	"rdmasim/reports/metric"
	"rdmasim/reports/tuning"
	"rdmasim/scenarios"
	"rdmasim/scenarios/library"
	"rdmasim/sim/trace"
)

func load(t *testing.T, name string, sets ...string) *scenarios.Spec {
	t.Helper()
	s, err := scenarios.Load(name, sets)
	require.NoError(t, err)
	return s
}

func estimate(t *testing.T, s *scenarios.Spec) *tuning.Estimates {
	t.Helper()
	e, err := Estimate(s)
	require.NoError(t, err)
	require.NoError(t, e.Check())
	return e
}

func value(t *testing.T, e *tuning.Estimates, key string) float64 {
	t.Helper()
	x := e.Item(key)
	require.NotNil(t, x, key)
	require.True(t, x.Valid, "%s: %s", key, x.Why)
	return *x.Value
}

// run simulates and returns the figures.
func run(t *testing.T, s *scenarios.Spec) *metric.Metrics {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	_, err := scenarios.Run(context.Background(), s, scenarios.Options{Out: dir, Workers: 1})
	require.NoError(t, err)
	r, err := trace.Open(dir)
	require.NoError(t, err)
	m, err := metric.Compute(r)
	require.NoError(t, err)
	return m
}

const validation = "../validation/"

// Every scenario of the library gets its answers in far less time than a run,
// each with a formula, a source and a limit, and none that is not a number.
func TestEstimateOfTheLibrary(t *testing.T) {
	for _, l := range library.List() {
		s := load(t, l.Name)
		began := time.Now()
		e := estimate(t, s)
		assert.Less(t, time.Since(began), 5*time.Second, l.Name)
		for _, x := range e.Items {
			assert.NotEmpty(t, x.Formula, "%s: %s", l.Name, x.Key)
			assert.NotEmpty(t, x.Source, "%s: %s", l.Name, x.Key)
			assert.NotEmpty(t, x.Limit, "%s: %s", l.Name, x.Key)
			assert.False(t, strings.Contains(x.Text+x.Why, "%!"), "%s: %s %s", l.Name, x.Text, x.Why)
		}
	}
}

func TestQuestionsNameOracles(t *testing.T) {
	for _, q := range questions() {
		if q.own == nil {
			_, err := fluid.Explain(q.oracle)
			require.NoError(t, err, q.key)
		}
		if q.metric != "" {
			found := false
			for _, p := range metric.Paths() {
				found = found || p.Name == q.metric
			}
			assert.True(t, found, "%s: no metric %s", q.key, q.metric)
		}
	}
}

// The answers about DCQCN are those of the fluid model itself, with the numbers
// of the paper's switch and NIC: 40 Gb/s, two flows, packets of 1000 bytes.
func TestFixedPointIsThatOfTheOracle(t *testing.T) {
	s := load(t, validation+"dcqcn-long.yaml", "topology.star.hosts=3", "topology.star.rate=40Gbps", "nic.frame={payload: 940B, header: 60B, overhead: 0B}")
	e := estimate(t, s)
	m := fluid.SIGCOMM15(40e9, 2)
	b, err := scenarios.FindBottleneck(s)
	require.NoError(t, err)
	mine, err := Model(s, b)
	require.NoError(t, err)
	m.Delay = mine.Delay
	m.F = mine.F
	assert.Equal(t, m, mine)
	f, err := m.FixedPoint()
	require.NoError(t, err)
	assert.InEpsilon(t, f.Queue, value(t, e, tuning.KeyQueue), 1e-9)
	assert.InEpsilon(t, f.CNPRate*2, value(t, e, "cnp"), 1e-9)
	margin, err := m.PhaseMargin()
	require.NoError(t, err)
	assert.InEpsilon(t, margin.Degrees, value(t, e, tuning.KeyMargin), 1e-9)
	c, err := m.Convergence()
	require.NoError(t, err)
	assert.InEpsilon(t, c.Time, value(t, e, "converge"), 1e-9)
	assert.Equal(t, 2, e.Flows)
	assert.Equal(t, "sw0:0 to h0", e.Where)
	assert.Len(t, e.Margins, len(flowCounts))
}

// Simulated long flows: the mean queue lies from 10 % below to 35 % above the
// fixed point, the rates of validation row D1; CNPs within 18 %.
func TestFixedPointBesideASimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 200 ms")
	}
	s := load(t, validation+"dcqcn-long.yaml", "topology.star.hosts=3", "topology.star.rate=40Gbps", "nic.frame={payload: 940B, header: 60B, overhead: 0B}", "warmup=100ms", "duration=200ms")
	e := estimate(t, s)
	m := run(t, s)
	queue := value(t, e, tuning.KeyQueue)
	require.NotNil(t, m.Queue.Mean)
	assert.Greater(t, *m.Queue.Mean, 0.9*queue)
	assert.Less(t, *m.Queue.Mean, 1.35*queue)
	require.NotNil(t, m.CNP.Sent)
	assert.InEpsilon(t, value(t, e, "cnp"), float64(*m.CNP.Sent)/0.1, 0.25)
	require.NotNil(t, m.Goodput.Total)
	assert.LessOrEqual(t, *m.Goodput.Total, value(t, e, "goodput")*1.0001)
}

// The reaction points of cards and of other simulators: long flows that begin at
// line rate, with a gentle slope of the marking curve. The queue is at most 40 %
// above the model's where the margin is a few degrees, and never far below.
func TestCycleBesideASimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 200 ms of each preset")
	}
	for preset, most := range map[string]float64{"connectx": 1.4, "hpcc_paper": 1.15} {
		s := load(t, validation+"dcqcn-long.yaml", "topology.star.hosts=9", "topology.star.rate=100Gbps", "warmup=100ms", "duration=200ms",
			"nic.congestion={dcqcn: {preset: "+preset+"}}", "switch.ecn={3: {kmin: 5KB, kmax: 8MB, pmax: 10%, mark_at: dequeue}}")
		e := estimate(t, s)
		assert.Contains(t, e.Item(tuning.KeyQueue).Formula, "time from cut to cut")
		assert.Contains(t, e.Item(tuning.KeyMargin).Source, "linearisation of dcqcn_cycle")
		assert.Positive(t, value(t, e, tuning.KeyMargin), preset)
		assert.Positive(t, value(t, e, "converge"), preset)
		m := run(t, s)
		require.NotNil(t, m.Queue.Mean)
		queue, marks := *m.Queue.Mean/value(t, e, tuning.KeyQueue), float64(*m.ECN.Marked)/float64(*m.ECN.Eligible)/value(t, e, "marked")
		t.Logf("%s: queue %.3f, marks %.3f of the model's", preset, queue, marks)
		for _, x := range []float64{queue, marks} {
			assert.True(t, x > 0.95 && x < most, "%s: %.3f of the model's", preset, x)
		}
	}
}

// The stability curve of a card has an answer for every number of flows, or a
// reason, and names its model; what has no loop has one reason.
func TestMarginsSayWhy(t *testing.T) {
	for sets, want := range map[string]string{"nic.congestion={dcqcn: {preset: connectx}}": cycleMargin, "nic.congestion={dcqcn: {preset: sigcomm15}}": paperMargin} {
		e := estimate(t, load(t, "incast-8to1", sets))
		require.Len(t, e.Margins, len(flowCounts))
		some := 0
		for _, m := range e.Margins {
			assert.Equal(t, want, m.Model)
			assert.NotEqual(t, m.Degrees == nil, m.Why == "", "%d flows", m.Flows)
			if m.Degrees != nil {
				some++
			}
		}
		assert.Greater(t, some, 3)
	}
	e := estimate(t, load(t, "incast-8to1", "nic.congestion={swift: {}}"))
	require.Len(t, e.Margins, 1)
	assert.Equal(t, "congestion is swift, not dcqcn", e.Margins[0].Why)
}

// A synchronous incast without congestion control: the port never rests, so
// that the end is exact; the first burst is what has come after one round trip.
func TestIncastBesideASimulation(t *testing.T) {
	for _, c := range []struct {
		senders int
		rate    string
		message string
	}{{8, "100Gbps", "64KB"}, {16, "25Gbps", "32KB"}, {3, "400Gbps", "256KB"}} {
		s := load(t, validation+"incast-once.yaml", fmt.Sprintf("topology.star.hosts=%d", c.senders+1), "topology.star.rate="+c.rate, "traffic.0.incast.message="+c.message)
		e := estimate(t, s)
		m := run(t, s)
		assert.Equal(t, c.senders, e.Flows)
		require.NotNil(t, m.Flows.FCT.Max)
		assert.InEpsilon(t, value(t, e, "finish"), *m.Flows.FCT.Max, 0.01, "finish of %+v", c)
		require.NotNil(t, m.Queue.Max)
		assert.GreaterOrEqual(t, *m.Queue.Max*1.02, value(t, e, tuning.KeyFirstBurst), "the queue of %+v grows at least by the first burst", c)
	}
}

// The largest burst that no pause answers, met from both sides: 8 % less and
// there is no pause, 8 % more and there are.
func TestBurstAtPFCBesideASimulation(t *testing.T) {
	base := []string{"topology.star.hosts=9", "topology.star.rate=100Gbps", "switch.buffer.alpha=1/8", "switch.buffer.size=2MB", "switch.buffer.headroom=60KB", "nic.congestion={none: {}}"}
	s := load(t, validation+"incast-once.yaml", base...)
	e := estimate(t, s)
	burst := value(t, e, tuning.KeyCanPrevent)
	b, err := scenarios.FindBottleneck(s)
	require.NoError(t, err)
	assert.Equal(t, 8, b.Inputs)
	for _, share := range []float64{0.92, 1.08} {
		// The peak of N senders is (N-1) S frame/payload, spread over 8 groups.
		message := share * burst / 7 * float64(b.Payload) / float64(b.Frame)
		sets := append(append([]string(nil), base...), fmt.Sprintf("traffic.0.incast.message=%dB", int(message)))
		m := run(t, load(t, validation+"incast-once.yaml", sets...))
		require.NotNil(t, m.PFC.Xoff)
		assert.Equal(t, share > 1, *m.PFC.Xoff > 0, "%.2f of the burst of %.0f B: %d pauses", share, burst, *m.PFC.Xoff)
	}
}

// Headroom: what is configured as auto is what the form says, and no run of the
// library uses more.
func TestHeadroomBesideASimulation(t *testing.T) {
	s := load(t, "incast-pfc-only")
	e := estimate(t, s)
	m := run(t, s)
	need := value(t, e, "headroom")
	require.NotNil(t, m.Headroom.MaxUsed)
	assert.Positive(t, *m.Headroom.MaxUsed, "there were pauses")
	assert.LessOrEqual(t, *m.Headroom.MaxUsed, need)
}

// What does not hold gets no number but a reason.
func TestNotValid(t *testing.T) {
	for _, c := range []struct {
		key, want string
		name      string
		sets      []string
	}{
		{tuning.KeyQueue, "congestion is swift, not dcqcn", "incast-8to1", []string{"nic.congestion={swift: {}}"}},
		{tuning.KeyQueue, "alpha_timer", "incast-8to1", []string{"nic.congestion={dcqcn: {preset: connectx, alpha_update: per_cnp}}"}},
		{tuning.KeyQueue, "variable_window", "incast-8to1", []string{"nic.congestion={dcqcn: {preset: connectx, variable_window: 1MB}}"}},
		{tuning.KeyMargin, "not above the least rate", "incast-8to1", []string{"nic.congestion={dcqcn: {preset: connectx, min_rate: 20Gbps}}"}},
		{"converge", "congestion is timely", "incast-8to1", []string{"nic.congestion={timely: {}}"}},
		{tuning.KeyQueue, "is not marked", validation + "dcqcn-long.yaml", []string{"switch.ecn={}"}},
		{tuning.KeyQueue, "above Pmax", validation + "dcqcn-long.yaml", []string{"topology.star.hosts=33"}},
		{tuning.KeyMargin, "above Pmax", validation + "dcqcn-long.yaml", []string{"topology.star.hosts=33"}},
		{tuning.KeyFirstBurst, "no two hosts begin", "pingpong", nil},
		{tuning.KeyCanPrevent, "not lossless", "lossy-2to1-25g", nil},
		{"finish", "not one incast", "incast-8to1", nil},
		{"goodput", "other hosts receive too", "permutation-k8", nil},
	} {
		e := estimate(t, load(t, c.name, c.sets...))
		x := e.Item(c.key)
		require.NotNil(t, x, c.key)
		assert.False(t, x.Valid, "%s %v: %s", c.name, c.sets, c.key)
		assert.Nil(t, x.Value)
		assert.Contains(t, x.Why, c.want, "%s %v: %s", c.name, c.sets, c.key)
	}
}

// The bound of SIGCOMM'15, section 4, is a special case: 32 ports, 8 lossless
// priorities, beta 8.
func TestECNBoundIsThatOfThePaper(t *testing.T) {
	s := load(t, validation+"fan-out.yaml", "switch.buffer.alpha=1", "switch.buffer.size=12179200B")
	e := estimate(t, s)
	x := e.Item("ecn_before_pfc")
	require.NotNil(t, x)
	require.True(t, x.Valid, x.Why)
	assert.InEpsilon(t, fluid.SwitchBuffer{Buffer: 12e6, Ports: 32, Priorities: 8, Flight: 22400}.DynamicECN(8), *x.Value, 0.02)
	assert.False(t, math.IsNaN(*x.Value))
}

// Whatever a scenario says, an estimate is a value that can be written and read,
// or an error.
func FuzzEstimate(f *testing.F) {
	for _, l := range library.List() {
		text, err := library.Get(l.Name)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add("topology: {star: {hosts: 3, rate: 1Gbps}}\nswitch: {buffer: {size: 1MB, groups: [{groups: [3], threshold: {static: {limit: 1KB}}}]}}\ntraffic:\n  - incast: {message: 0B}\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scenarios.Parse("fuzz.yaml", []byte(text))
		if err != nil {
			return
		}
		if p, err := scenarios.PlanTraffic(s); err != nil || len(p.Hosts) > 128 {
			return
		}
		e, err := Estimate(s)
		if err != nil {
			return
		}
		require.NoError(t, e.Check())
		_, err = json.Marshal(e)
		require.NoError(t, err)
	})
}
