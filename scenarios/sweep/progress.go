package sweep

import (
	"sync"
	"time"
)

// Progress is how far a Run is.
type Progress struct {
	Done, Total int // units; those that were there before are in neither
	Invalid     int
	Wall, ETA   float64 // seconds since it began and until it ends; ETA is below 0 while nothing can be said
}

// reporter counts the units of a Run and tells its progress, after each of them
// and while none ends.
type reporter struct {
	mu    sync.Mutex
	f     func(Progress)
	s     *Summary
	total int
	start time.Time
	end   chan struct{}
	group sync.WaitGroup
}

const reportEvery = 500 * time.Millisecond

func (r *Run) newReporter(s *Summary, total int) *reporter {
	m := &reporter{f: r.Progress, s: s, total: total, start: time.Now(), end: make(chan struct{})}
	if m.f == nil {
		return m
	}
	m.group.Go(func() {
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			select {
			case <-m.end:
				return
			case <-tick.C:
				m.mu.Lock()
				m.tell()
				m.mu.Unlock()
			}
		}
	})
	return m
}

// count takes a unit that has ended.
func (m *reporter) count(res *Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Done++
	m.s.Busy, m.s.Simulation = m.s.Busy+res.Wall, m.s.Simulation+res.Simulation
	switch res.Status {
	case Invalid:
		m.s.Invalid++
	case Partial:
		m.s.Partial++
	}
	if m.f != nil {
		m.tell()
	}
}

// tell says how far it is. The time left is that of the units left at the pace
// so far.
func (m *reporter) tell() {
	p := Progress{Done: m.s.Done, Total: m.total, Invalid: m.s.Invalid, Wall: time.Since(m.start).Seconds(), ETA: -1}
	if p.Done > 0 {
		p.ETA = p.Wall / float64(p.Done) * float64(p.Total-p.Done)
	}
	m.f(p)
}

func (m *reporter) stop() {
	close(m.end)
	m.group.Wait()
}
