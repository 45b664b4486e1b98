package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
	"rdmasim/sim"
)

// clock is a wall clock that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

// feed sends ten seconds of a run of 10 ms, ten updates a second, 1 M events/s.
func feed(m *meter[progress], c *clock, end sim.Time) {
	for i := range 100 {
		c.t = c.t.Add(100 * time.Millisecond)
		wall := float64(i+1) / 10
		m.update(progress{SimTime: sim.Time(0).Add(sim.Duration(i+1) * 100 * sim.Microsecond), End: end, Events: uint64(wall * 1e6), Hops: uint64(wall * 8e5), Wall: wall})
	}
	m.finish()
}

func TestProgressOnATerminal(t *testing.T) {
	var w bytes.Buffer
	c := &clock{time.Unix(0, 0)}
	m := &meter[progress]{gauge: &runGauge{}, w: &w, mode: meterLine, every: time.Second, now: c.now, last: c.t}
	feed(m, c, sim.Time(10*sim.Millisecond))
	text := w.String()
	assert.NotContains(t, text, "\n", "one line, rewritten")
	assert.Contains(t, text, "\r5 ms simulated of 10 ms   50%  1.0M events/s  5.0 s left")
	assert.True(t, strings.HasSuffix(text, "\r"), "the line is gone at the end")
	assert.Equal(t, 12, strings.Count(text, "\r"), "ten lines and a clearing one")
}

func TestProgressWithoutAnEnd(t *testing.T) {
	var w bytes.Buffer
	c := &clock{time.Unix(0, 0)}
	m := &meter[progress]{gauge: &runGauge{}, w: &w, mode: meterLine, every: time.Second, now: c.now, last: c.t}
	feed(m, c, sim.Never)
	assert.Contains(t, w.String(), "\r5 ms simulated  1.0M events/s")
	assert.NotContains(t, w.String(), "%")
	assert.NotContains(t, w.String(), "left")
}

func TestProgressAsJSON(t *testing.T) {
	var w bytes.Buffer
	c := &clock{time.Unix(0, 0)}
	m := &meter[progress]{gauge: &runGauge{}, w: &w, mode: meterJSON, every: time.Second, now: c.now, last: c.t}
	feed(m, c, sim.Time(10*sim.Millisecond))
	lines := strings.Split(strings.TrimSpace(w.String()), "\n")
	require.Len(t, lines, 11, "one per second and the last")
	var o progressObject
	require.NoError(t, json.Unmarshal([]byte(lines[4]), &o))
	assert.Equal(t, 0.005, o.SimulatedS)
	assert.Equal(t, 0.01, *o.EndS)
	assert.InDelta(t, 0.5, *o.Fraction, 1e-9)
	assert.InDelta(t, 1e6, o.EventsPerS, 1)
	assert.InDelta(t, 5, *o.EtaS, 1e-9)
	assert.False(t, o.Done)
	require.NoError(t, json.Unmarshal([]byte(lines[10]), &o))
	assert.True(t, o.Done)
	assert.Equal(t, uint64(8e6), o.PacketHops)
}

func TestProgressModes(t *testing.T) {
	for _, c := range []struct {
		terminal, json, quiet bool
		want                  meterMode
	}{
		{false, false, false, meterOff},
		{true, false, false, meterLine},
		{true, false, true, meterOff},
		{false, true, false, meterJSON},
		{true, true, true, meterJSON},
	} {
		a := &app{terminal: c.terminal}
		f := &runFlags{jsonProgress: c.json, quiet: c.quiet}
		assert.Equal(t, c.want, a.newRunMeter(f).mode, "%+v", c)
	}
}

func TestFormats(t *testing.T) {
	for got, want := range map[string]string{
		roughly(0):                  "0",
		roughly(999):                "999",
		roughly(999.96e3):           "1.0M",
		roughly(1234567):            "1.2M",
		roughly(5e15):               "5000.0T",
		percent(0.0337):             "3.37%",
		percent(1):                  "100%",
		grouped(7):                  "7",
		grouped(999):                "999",
		grouped(-1234):              "-1 234",
		grouped(-123):               "-123",
		grouped(1234567):            "1 234 567",
		wallClock(9.94):             "9.9 s",
		aboutWall(0.001):            "less than 0.1 s",
		metric.Counted(1, "switch"): "1 switch",
		metric.Counted(2, "switch"): "2 switches",
		metric.Counted(0, "host"):   "0 hosts",
		wallClock(75):               "1m15s",
		count(nil):                  "-",
		figure(nil, "s"):            "-",
	} {
		assert.Equal(t, want, got)
	}
}
