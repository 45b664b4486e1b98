package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// meter shows how far something long is: on a terminal one line that is
// rewritten, or one JSON object per second when asked, else nothing.
type meter[P any] struct {
	mu sync.Mutex // progress comes from goroutines of its own

	w     io.Writer
	mode  meterMode
	every time.Duration
	now   func() time.Time
	gauge gauge[P]

	last    time.Time // of the last line
	latest  P
	width   int // of the line on the terminal, 0 = none
	updated bool
}

// gauge reads a progress for a meter.
type gauge[P any] interface {
	// measure sees each progress before it is shown.
	measure(p P)
	// line is that of a terminal.
	line(p P) string
	// object is one line of --json-progress; null in it means not known.
	object(p P, done bool) any
}

type meterMode int

const (
	meterOff meterMode = iota
	meterLine
	meterJSON
)

// newMeter returns the meter that the flags and the terminal call for.
func newMeter[P any](a *app, asked, quiet bool, g gauge[P]) *meter[P] {
	m := &meter[P]{w: a.stderr, now: time.Now, last: time.Now(), gauge: g}
	switch {
	case asked:
		m.mode, m.every = meterJSON, time.Second
	case quiet || !a.terminal:
	default:
		m.mode, m.every = meterLine, 100*time.Millisecond
	}
	return m
}

// update may be called as often as one likes.
func (m *meter[P]) update(p P) {
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
	m.show(p, false)
}

// show writes one line.
func (m *meter[P]) show(p P, done bool) {
	m.gauge.measure(p)
	if m.mode == meterJSON {
		if line, err := json.Marshal(m.gauge.object(p, done)); err == nil {
			fmt.Fprintf(m.w, "%s\n", line)
		}
		return
	}
	text := m.gauge.line(p)
	width := utf8.RuneCountInString(text)
	fmt.Fprintf(m.w, "\r%s%s", text, strings.Repeat(" ", max(m.width-width, 0)))
	m.width = width
}

// clear removes the line from the terminal.
func (m *meter[P]) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
}

func (m *meter[P]) erase() {
	if m.width > 0 {
		fmt.Fprintf(m.w, "\r%s\r", strings.Repeat(" ", m.width))
		m.width = 0
	}
}

// finish ends the display; with JSON the last object says done.
func (m *meter[P]) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
	if m.mode == meterJSON && m.updated {
		m.show(m.latest, true)
	}
}
