package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// clock is a wall clock that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

// feed sends ten seconds of a run of 10 ms, ten updates a second, 1 M events/s.
func feed(m *meter, c *clock, end sim.Time) {
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
	m := &meter{w: &w, mode: meterLine, every: time.Second, now: c.now, last: c.t}
	feed(m, c, sim.Time(10*sim.Millisecond))
	text := w.String()
	assert.NotContains(t, text, "\n", "one line, rewritten")
	assert.Contains(t, text, "\r5ms simulated of 10ms   50%  1M events/s  5.0s left")
	assert.True(t, strings.HasSuffix(text, "\r"), "the line is gone at the end")
	assert.Equal(t, 12, strings.Count(text, "\r"), "ten lines and a clearing one")
}

func TestProgressWithoutAnEnd(t *testing.T) {
	var w bytes.Buffer
	c := &clock{time.Unix(0, 0)}
	m := &meter{w: &w, mode: meterLine, every: time.Second, now: c.now, last: c.t}
	feed(m, c, sim.Never)
	assert.Contains(t, w.String(), "\r5ms simulated  1M events/s")
	assert.NotContains(t, w.String(), "%")
	assert.NotContains(t, w.String(), "left")
}

func TestProgressAsJSON(t *testing.T) {
	var w bytes.Buffer
	c := &clock{time.Unix(0, 0)}
	m := &meter{w: &w, mode: meterJSON, every: time.Second, now: c.now, last: c.t}
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
		assert.Equal(t, c.want, a.newMeter(f).mode, "%+v", c)
	}
}

func TestFormats(t *testing.T) {
	for got, want := range map[string]string{
		seconds(0):            "0s",
		seconds(1.664091e-3):  "1.664ms",
		seconds(999.96e-6):    "1ms",
		seconds(83.84e-9):     "83.84ns",
		seconds(4000):         "4000s",
		bitRate(92.5859e9):    "92.59Gbps",
		bitRate(0):            "0bps",
		byteCount(1048):       "1.048KB",
		byteCount(32 << 20):   "33.55MB",
		siCount(1234567):      "1.235M",
		percent(0.0337):       "3.37%",
		grouped(7):            "7",
		grouped(1234567):      "1 234 567",
		grouped(999):          "999",
		wallClock(9.94):       "9.9s",
		wallClock(75):         "1m15s",
		roundTime(1234567890): "1.235ms",
	} {
		assert.Equal(t, want, got)
	}
}
