package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"rdmasim/scenarios/sweep"
)

// sweepMeter shows the progress of a sweep: on a terminal one line that is
// rewritten, or one JSON object per second when asked, else nothing.
type sweepMeter struct {
	mu    sync.Mutex
	w     io.Writer
	mode  meterMode
	every time.Duration
	now   func() time.Time

	last   time.Time
	latest sweep.Progress
	any    bool
	width  int // of the line on the terminal
}

func (a *app) newSweepMeter(f *sweepFlags) *sweepMeter {
	m := &sweepMeter{w: a.stderr, now: time.Now}
	switch {
	case f.json:
		m.mode, m.every = meterJSON, time.Second
	case f.quiet || !a.terminal:
	default:
		m.mode, m.every = meterLine, 100*time.Millisecond
	}
	return m
}

// update is called by the sweep as often as it likes.
func (m *sweepMeter) update(p sweep.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latest, m.any = p, true
	now := m.now()
	if m.mode == meterOff || now.Sub(m.last) < m.every {
		return
	}
	m.last = now
	if m.mode == meterJSON {
		m.object(false)
		return
	}
	text := sweepLine(p)
	fmt.Fprintf(m.w, "\r%s%s", text, strings.Repeat(" ", max(m.width-len(text), 0)))
	m.width = len(text)
}

// sweepLine is the line of a terminal.
func sweepLine(p sweep.Progress) string {
	text := fmt.Sprintf("%d of %s  %3.0f%%", p.Done, plural(p.Total, "run"), 100*float64(p.Done)/float64(max(p.Total, 1)))
	if p.Invalid > 0 {
		text += fmt.Sprintf("  %d invalid", p.Invalid)
	}
	if p.Wall > 0 && p.Done > 0 {
		text += fmt.Sprintf("  %.3g runs/s", float64(p.Done)/p.Wall)
	}
	if p.ETA >= 0 {
		text += "  " + wallClock(p.ETA) + " left"
	}
	return text
}

// sweepObject is one line of --json-progress. Null means not known.
type sweepObject struct {
	Runs    int      `json:"runs"`
	Of      int      `json:"of"`
	Invalid int      `json:"invalid"`
	WallS   float64  `json:"wall_s"`
	EtaS    *float64 `json:"eta_s"`
	Done    bool     `json:"done"`
}

func (m *sweepMeter) object(done bool) {
	o := sweepObject{Runs: m.latest.Done, Of: m.latest.Total, Invalid: m.latest.Invalid, WallS: m.latest.Wall, Done: done}
	if m.latest.ETA >= 0 {
		o.EtaS = &m.latest.ETA
	}
	if line, err := json.Marshal(o); err == nil {
		fmt.Fprintf(m.w, "%s\n", line)
	}
}

// clear removes the line from the terminal.
func (m *sweepMeter) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
}

func (m *sweepMeter) erase() {
	if m.width > 0 {
		fmt.Fprintf(m.w, "\r%s\r", strings.Repeat(" ", m.width))
		m.width = 0
	}
}

// finish ends the display; with JSON the last object says done.
func (m *sweepMeter) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
	if m.mode == meterJSON && m.any {
		m.object(true)
	}
}
