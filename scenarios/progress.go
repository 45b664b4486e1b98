package scenarios

import (
	"sync"
	"sync/atomic"
	"time"

	"rdmasim/sim"
)

// progressEvery is how often a run says how far it is.
const progressEvery = 100 * time.Millisecond

// progress carries how far a run is from the simulation, which counts only
// when asked, to the goroutine that tells the time.
type progress struct {
	start  time.Time
	end    sim.Time
	wanted atomic.Bool
	mu     sync.Mutex
	last   Progress
}

// note is called between windows.
func (p *progress) note(w *world, t sim.Time) {
	if !p.wanted.Load() {
		return
	}
	p.wanted.Store(false)
	now := Progress{SimTime: t, End: p.end, Events: w.engine.Events(), Hops: w.countHops(), Wall: time.Since(p.start).Seconds()}
	p.mu.Lock()
	p.last = now
	p.mu.Unlock()
}

// report calls f from time to time until the returned function is called.
func (p *progress) report(f func(Progress)) (stop func()) {
	if f == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	p.wanted.Store(true)
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				p.mu.Lock()
				now := p.last
				p.mu.Unlock()
				p.wanted.Store(true)
				if now.Wall > 0 {
					f(now)
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}
