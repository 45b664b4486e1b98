package credibility

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/reporttest"
	"rdmasim/reports/tuning"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

func read(t testing.TB, name string) *Sample {
	t.Helper()
	p, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	s, err := Parse(name, p)
	require.NoError(t, err)
	return s
}

func TestParse(t *testing.T) {
	for name, want := range map[string]map[Key]float64{
		"pfc.after.txt": {{PFCRx, "Ethernet0", 3}: 7000, {PFCRx, "Ethernet4", 3}: 3200, {PFCTx, "Ethernet0", 3}: 610, {PFCTx, "Ethernet4", 3}: 620, {PFCRx, "Ethernet0", 0}: 0},
		"wred.txt":      {{Marked, "Ethernet0", 3}: 60000, {Marked, "Ethernet4", 3}: 30000, {Marked, "Ethernet0", 2}: 0},
		"watermarks.txt": {{QueueMax, "Ethernet0", 3}: 1048576, {QueueMax, "Ethernet0", 7}: 2048, {QueueMax, "Ethernet4", 3}: 524288,
			{GroupMax, "Ethernet0", 3}: 200000, {HeadroomMax, "Ethernet0", 3}: 30000},
		"queue.txt": {{QueuePackets, "Ethernet0", 3}: 1.2e6, {QueuePackets, "Ethernet0", 0}: 100, {QueueDrops, "Ethernet0", 3}: 7},
		"h1.ethtool.txt": {{NICPauseRx, "ens1np0", 3}: 600, {NICPaused, "ens1np0", 3}: 54000, {NICPauseTx, "ens1np0", 3}: 0,
			{NICCNPSent, "ens1np0", -1}: 1200, {NICCNP, "ens1np0", -1}: 6000, {NICMarked, "ens1np0", -1}: 90000},
	} {
		s := read(t, name)
		for k, v := range want {
			got, ok := s.Value[k]
			assert.True(t, ok, "%s: %v is missing", name, k)
			assert.InDelta(t, v, got, 0, "%s: %v", name, k)
		}
		for k := range s.Value {
			assert.NotEqual(t, "Ethernet8", k.Port, "N/A is not 0")
		}
	}
	assert.Len(t, read(t, "pfc.after.txt").Value, 32)
	assert.Len(t, read(t, "wred.txt").Value, 3, "multicast queues carry no RDMA")
	s := read(t, "wred.txt")
	assert.Equal(t, 30*time.Second, s.Time.Sub(s.Since))
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "no counters found",
		"hello":                         "no counters found",
		"Port Rx PFC0\nEthernet0 abc\n": "x.txt:2: Ethernet0: \"abc\": want a count",
		"Port Rx PFC0\nEthernet0 -5\n":  "want a count",
		"Port Rx PFC0\nEthernet0 5\nEthernet0 6\n":     "stands there twice, as 5 and 6",
		"rx_prio3_pause: 1\nrx_prio3_pause: 2\n":       "stands there twice",
		"Port TxQ Counter/pkts\nEthernet0 UC3 1e999\n": "want a count",
		"2026-13-45T10:00:00Z\nrx_prio3_pause: 1\n":    "time",
	} {
		_, err := Parse("x.txt", []byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

func TestCombine(t *testing.T) {
	today, err := Combine([]*Sample{read(t, "pfc.before.txt"), read(t, "pfc.after.txt")}, 0)
	require.NoError(t, err)
	assert.Equal(t, time.Minute, today.Interval, "the dates in the files")
	assert.InDelta(t, 100, today.Value[Key{PFCRx, "Ethernet0", 3}], 0)
	assert.InDelta(t, 20, today.Value[Key{PFCRx, "Ethernet4", 3}], 0)
	assert.InDelta(t, 10, today.Value[Key{PFCTx, "Ethernet0", 3}], 0)

	today, err = Combine([]*Sample{read(t, "wred.txt")}, 0)
	require.NoError(t, err)
	assert.InDelta(t, 2000, today.Value[Key{Marked, "Ethernet0", 3}], 0, "since the last cached time")

	today, err = Combine([]*Sample{read(t, "h1.ethtool.txt"), read(t, "watermarks.txt")}, time.Minute)
	require.NoError(t, err)
	assert.InDelta(t, 10, today.Value[Key{NICPauseRx, "ens1np0", 3}], 0)
	assert.InDelta(t, 1048576, today.Value[Key{QueueMax, "Ethernet0", 3}], 0, "a watermark is no rate")

	_, err = Combine([]*Sample{read(t, "h1.ethtool.txt")}, 0)
	require.ErrorContains(t, err, "want --interval")
	_, err = Combine([]*Sample{read(t, "pfc.after.txt"), read(t, "pfc.before.txt")}, time.Minute)
	require.ErrorContains(t, err, "fell from")
	_, err = Combine([]*Sample{read(t, "queue.txt"), read(t, "queue.txt"), read(t, "queue.txt")}, time.Minute)
	require.ErrorContains(t, err, "three files")
	_, err = Combine(nil, time.Minute)
	require.ErrorContains(t, err, "at least one file")
}

// mirror writes what the devices of a run would show after so many seconds of
// the same traffic, times factor.
func mirror(t *testing.T, dir string, factor float64) *Today {
	r, err := trace.Open(dir)
	require.NoError(t, err)
	list, err := r.Counters()
	require.NoError(t, err)
	seconds := sim.Time(r.Manifest.Simulated - r.Manifest.Warmup).Seconds()
	today := &Today{Files: []string{"mirror"}, Interval: time.Second, Value: map[Key]float64{}}
	for _, c := range list {
		_, index := split(c)
		port, _, _ := strings.Cut(c.Object, "/")
		switch c.Name {
		case trace.CountTxPackets:
			if !strings.HasPrefix(port, "h") {
				today.Value[Key{QueuePackets, port, 7}] = c.Value / seconds // so that the port counts as one in use
			}
		case trace.CountECNMarked:
			today.Value[Key{Marked, port, index}] = c.Value / seconds * factor
		case trace.CountQueueMax:
			today.Value[Key{QueueMax, port, index}] = c.Value * factor
		case trace.CountHeadroomMax:
			if strings.HasPrefix(port, "leaf0:4") { // one that carries something
				today.Value[Key{HeadroomMax, port, index}] = c.Value * factor
			}
		case trace.CountCNPHandled:
			today.Value[Key{NICCNP, port, -1}] = c.Value / seconds * factor
		}
	}
	return today
}

// A network that does what the run does passes; one that does three times as
// much, or a third, does not, and the answer says what is missing.
func TestGate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, reporttest.Incast(dir, reporttest.Options{}))
	c, err := Compare(mirror(t, dir, 1), dir, Options{})
	require.NoError(t, err)
	require.NoError(t, c.Check())
	assert.True(t, c.Credible, "%v", c.Missing)
	agree := 0
	for _, r := range c.Rows {
		if r.Verdict == tuning.Agrees && r.Factor != nil {
			agree++
			assert.InEpsilon(t, 1, *r.Factor, 0.2, "%s: one port has a watermark and sent nothing", r.Name)
		}
	}
	assert.GreaterOrEqual(t, agree, 3)
	for _, f := range []float64{3, 1.0 / 3} {
		c, err := Compare(mirror(t, dir, f), dir, Options{})
		require.NoError(t, err)
		require.NoError(t, c.Check())
		assert.False(t, c.Credible)
		assert.NotEmpty(t, c.Missing)
		text := strings.Join(c.Missing, "\n")
		word := "the model has less by a factor of 3"
		if f < 1 {
			word = "the model has more by a factor of 3"
		}
		assert.Contains(t, text, word)
	}
	_, err = Compare(mirror(t, dir, 1), dir, Options{Node: "tor*"})
	require.ErrorContains(t, err, "no switch of the run")
	c, err = Compare(mirror(t, dir, 1), dir, Options{Node: "leaf0"})
	require.NoError(t, err)
	assert.NotEmpty(t, c.Rows)
}

// What a run has no counter for, or too few events, is no verdict; and a run of
// which nothing can be compared is not credible.
func TestNotCompared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, reporttest.Incast(dir, reporttest.Options{}))
	today := &Today{Files: []string{"x"}, Interval: time.Second, Value: map[Key]float64{{WREDDropped, "Ethernet0", 3}: 100}}
	c, err := Compare(today, dir, Options{})
	require.NoError(t, err)
	assert.False(t, c.Credible)
	assert.Equal(t, "the run has no such counter", c.Rows[0].Why)
	assert.Contains(t, strings.Join(c.Missing, " "), "No counter could be compared")

	today.Value = map[Key]float64{{Marked, "Ethernet0", 5}: 0.5}
	c, err = Compare(today, dir, Options{})
	require.NoError(t, err)
	assert.Contains(t, c.Rows[0].Why, "too few to tell")

	// Nothing on either side is agreement.
	today.Value = map[Key]float64{{PFCRx, "Ethernet0", 0}: 0, {PFCRx, "Ethernet0", 3}: 0, {QueuePackets, "Ethernet0", 3}: 5}
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, reporttest.Incast(dir, reporttest.Options{Kmin: 10 * sim.KB, Kmax: 20 * sim.KB}))
	c, err = Compare(today, dir, Options{Node: "spine*"})
	require.NoError(t, err)
	require.NotEmpty(t, c.Rows)
	assert.Equal(t, "PFC frames received, any priority", c.Rows[0].Name)
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"pfc.before.txt", "wred.txt", "watermarks.txt", "queue.txt", "h1.ethtool.txt"} {
		p, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("fuzz.txt", text)
		if err != nil {
			return
		}
		for k, v := range s.Value {
			require.GreaterOrEqual(t, v, 0.0)
			require.GreaterOrEqual(t, k.Index, -1)
			require.LessOrEqual(t, k.Index, maxIndex)
		}
		today, err := Combine([]*Sample{s}, time.Second)
		require.NoError(t, err)
		for _, v := range today.Value {
			require.GreaterOrEqual(t, v, 0.0)
		}
	})
}
