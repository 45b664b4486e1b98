package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"rdmasim/reports/metric"
	"rdmasim/sim"
)

// meter shows the progress of a run: on a terminal one line that is rewritten,
// or one JSON object per second when asked, else nothing.
type meter struct {
	mu sync.Mutex // runs report from a goroutine of their own

	w     io.Writer
	mode  meterMode
	every time.Duration
	now   func() time.Time

	last        time.Time // of the last line
	shown       progress  // by the last line
	latest      progress
	rate        float64 // events/s, smoothed
	width       int     // of the line on the terminal
	updated, on bool
}

type meterMode int

const (
	meterOff meterMode = iota
	meterLine
	meterJSON
)

// newMeter returns the meter that the flags and the terminal call for.
func (a *app) newMeter(f *runFlags) *meter {
	m := &meter{w: a.stderr, now: time.Now, last: time.Now()}
	switch {
	case f.jsonProgress:
		m.mode, m.every = meterJSON, time.Second
	case f.quiet || !a.terminal:
	default:
		m.mode, m.every = meterLine, 100*time.Millisecond
	}
	return m
}

// update is called by the run as often as it likes.
func (m *meter) update(p progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latest, m.updated = p, true
	if m.mode == meterOff {
		return
	}
	now := m.now()
	if now.Sub(m.last) < m.every {
		return
	}
	m.last = now
	m.measure(p)
	m.show(p, false)
}

// measure updates the event rate from the progress since the last line.
func (m *meter) measure(p progress) {
	if wall := p.Wall - m.shown.Wall; wall > 0 && p.Events >= m.shown.Events {
		rate := float64(p.Events-m.shown.Events) / wall
		if m.rate == 0 {
			m.rate = rate
		} else {
			m.rate += (rate - m.rate) * 0.2
		}
	}
	m.shown = p
}

// show writes one line.
func (m *meter) show(p progress, done bool) {
	if m.mode == meterJSON {
		line, err := json.Marshal(m.object(p, done))
		if err == nil {
			fmt.Fprintf(m.w, "%s\n", line)
		}
		return
	}
	text := m.text(p)
	pad := max(m.width-len([]rune(text)), 0)
	m.width, m.on = len([]rune(text)), true
	fmt.Fprintf(m.w, "\r%s%s", text, strings.Repeat(" ", pad))
}

// progressObject is one line of --json-progress. Null means not known.
type progressObject struct {
	SimulatedS float64  `json:"simulated_s"`
	EndS       *float64 `json:"end_s"`
	Fraction   *float64 `json:"fraction"`
	Events     uint64   `json:"events"`
	PacketHops uint64   `json:"packet_hops"`
	EventsPerS float64  `json:"events_per_s"`
	WallS      float64  `json:"wall_s"`
	EtaS       *float64 `json:"eta_s"`
	Done       bool     `json:"done"`
}

func (m *meter) object(p progress, done bool) progressObject {
	o := progressObject{SimulatedS: p.SimTime.Seconds(), Events: p.Events, PacketHops: p.Hops, EventsPerS: m.rate, WallS: p.Wall, Done: done}
	if f, ok := fraction(p); ok {
		end := p.End.Seconds()
		o.EndS, o.Fraction = &end, &f
		if left, ok := eta(p); ok {
			o.EtaS = &left
		}
	}
	return o
}

// text is the line of a terminal: simulated time, share, events per second, time left.
func (m *meter) text(p progress) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s simulated", metric.Format(p.SimTime.Seconds(), metric.Seconds))
	if f, ok := fraction(p); ok {
		fmt.Fprintf(&b, " of %s  %3.0f%%", metric.Format(p.End.Seconds(), metric.Seconds), 100*f)
	}
	if m.rate > 0 {
		fmt.Fprintf(&b, "  %s events/s", roughly(m.rate))
	}
	if left, ok := eta(p); ok {
		fmt.Fprintf(&b, "  %s left", wallClock(left))
	}
	return b.String()
}

// fraction returns the share of simulated time that has passed, false when the
// end is not known.
func fraction(p progress) (float64, bool) {
	if p.End <= 0 || p.End == sim.Never {
		return 0, false
	}
	return min(float64(p.SimTime)/float64(p.End), 1), true
}

// eta returns the seconds that are left at the pace so far.
func eta(p progress) (float64, bool) {
	f, ok := fraction(p)
	if !ok || f <= 0 || p.Wall <= 0 {
		return 0, false
	}
	return p.Wall * (1 - f) / f, true
}

// clear removes the line from the terminal.
func (m *meter) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
}

func (m *meter) erase() {
	if m.on {
		fmt.Fprintf(m.w, "\r%s\r", strings.Repeat(" ", m.width))
		m.on, m.width = false, 0
	}
}

// finish ends the display; with JSON the last object says done.
func (m *meter) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
	if m.mode == meterJSON && m.updated {
		if m.rate == 0 {
			m.measure(m.latest)
		}
		m.show(m.latest, true)
	}
}
