package sim

import (
	"sort"
	"sync"
	"sync/atomic"
)

// worker runs the groups assigned to it, window by window.
type worker[M any] struct {
	calendar[M]
	id      int
	groups  []*group[M]
	next    []Time // of each group
	parity  int
	post    post[M]
	sentMin Time // earliest arrival among the messages sent in this window
	nextMin Time // earliest event of the groups
	done    int
	doneAt  Time
	shared  any
	_       [64]byte // keep workers on cache lines of their own
}

func newWorker[M any](id, ports int, window Duration) *worker[M] {
	return &worker[M]{calendar: newCalendar[M](ports, window), id: id, sentMin: Never}
}

// window takes over what arrived and runs every group that has something to do
// before end.
func (w *worker[M]) window(all []*worker[M], start, end Time) {
	w.parity ^= 1
	w.sentMin = Never
	for _, v := range all {
		w.post.reclaim(&v.post.read[1-w.parity][w.id])
	}
	least := Never
	for i, g := range w.groups {
		w.open(g, start, end)
		w.collect(g, all)
		if w.waiting > 0 || w.next[i] < end {
			g.gather()
			w.run()
		}
		w.next[i] = g.nextTime()
		least = min(least, w.next[i])
	}
	w.active = nil
	w.nextMin = least
}

// plan is what the workers agree on between windows.
type plan struct {
	start, end Time
	stop       bool
}

func (e *Engine[M]) run(o RunOptions) RunResult {
	sort.SliceStable(e.cuts, func(i, j int) bool { return e.cuts[i].at < e.cuts[j].at })
	res := RunResult{Workers: 1}
	if o.Exactly {
		res.Workers = len(e.workers)
	}
	p := &plan{}
	first := Never
	for _, w := range e.workers {
		for _, t := range w.next {
			first = min(first, t)
		}
	}
	e.plan(p, &res, o, first)
	var wg sync.WaitGroup
	b := newBarrier(len(e.workers))
	loop := func(w *worker[M]) {
		for !p.stop {
			w.window(e.workers, p.start, p.end)
			b.wait(func() { e.between(p, &res, o) })
		}
	}
	for _, w := range e.workers[1:] {
		wg.Add(1)
		go func() { defer wg.Done(); loop(w) }()
	}
	loop(e.workers[0])
	wg.Wait()
	for _, g := range e.groups {
		res.Events += g.handled
		g.now = res.End
	}
	return res
}

// between runs alone between two windows, and runs the windows that are too
// small to share.
func (e *Engine[M]) between(p *plan, res *RunResult, o RunOptions) {
	e.after(p, res, o)
	for !p.stop && e.small(o) {
		for _, w := range e.workers {
			w.window(e.workers, p.start, p.end)
		}
		e.after(p, res, o)
	}
	if !p.stop {
		res.Workers = len(e.workers)
	}
}

// shareEvents is how many events per worker a window must have for workers to
// share it: with fewer, waiting for each other costs more than it brings. The
// 128 hosts of a fat tree at 30 % load have 900 events per window, and two
// workers took longer than one; at full load they have 4700.
const shareEvents = 1000

// small reports whether the windows of late were too small to share. What it
// says changes no result.
func (e *Engine[M]) small(o RunOptions) bool {
	handled := uint64(0)
	for _, w := range e.workers {
		handled += w.calendar.handled
	}
	e.pace += (float64(handled-e.handled) - e.pace) / 8
	e.handled = handled
	return len(e.workers) > 1 && !o.Exactly && e.pace < float64(shareEvents*len(e.workers))
}

// after looks at what a window has left and plans the next.
func (e *Engine[M]) after(p *plan, res *RunResult, o RunOptions) {
	next, done, doneAt := Never, 0, Time(0)
	for _, w := range e.workers {
		next = min(next, w.nextMin, w.sentMin)
		done += w.done
		doneAt = max(doneAt, w.doneAt)
	}
	res.End = p.end
	if o.Between != nil {
		o.Between(p.end)
	}
	if o.UntilDone && done == len(e.nodes) {
		o.Until = min(o.Until, max(p.end, doneAt.Add(e.grace)))
	}
	if e.stop.Load() {
		p.stop, res.Stopped = true, true
		return
	}
	e.plan(p, res, o, next)
}

// plan sets the next window, or stops.
func (e *Engine[M]) plan(p *plan, res *RunResult, o RunOptions, next Time) {
	for len(e.cuts) > 0 && e.cuts[0].at <= min(next, o.Until) {
		c := e.cuts[0]
		e.cuts = e.cuts[1:]
		c.f(c.at)
		next = min(next, e.rescan())
	}
	if next >= o.Until || next == Never {
		p.stop = true
		res.Idle = next == Never
		res.End = o.Until
		if res.Idle && o.UntilDone {
			res.End = min(o.Until, e.lastEvent().Add(e.grace))
		}
		return
	}
	p.start = next
	p.end = min(next.Add(e.window), o.Until)
	if len(e.cuts) > 0 {
		p.end = min(p.end, e.cuts[0].at)
	}
}

// rescan looks again for the earliest event of every group, after code that
// ran between windows may have scheduled some.
func (e *Engine[M]) rescan() Time {
	least := Never
	for _, w := range e.workers {
		for i, g := range w.groups {
			w.next[i] = g.nextTime()
			least = min(least, w.next[i])
		}
	}
	return least
}

// lastEvent returns the time of the latest event handled so far.
func (e *Engine[M]) lastEvent() Time {
	last := Time(0)
	for _, g := range e.groups {
		last = max(last, g.now)
	}
	return last
}

// barrier lets workers wait for each other: they spin briefly and then park,
// so that a garbage collection or a busy machine does not burn the other core.
type barrier struct {
	n     int32
	count atomic.Int32
	gen   atomic.Uint32
	mu    sync.Mutex
	cond  *sync.Cond
}

// spins is about 10 us of waiting.
const spins = 4000

func newBarrier(n int) *barrier {
	b := &barrier{n: int32(n)}
	b.cond = sync.NewCond(&b.mu)
	return b
}

// wait blocks until all workers are here; the last one calls f first.
func (b *barrier) wait(f func()) {
	if b.n == 1 {
		f()
		return
	}
	gen := b.gen.Load()
	if b.count.Add(1) == b.n {
		f()
		b.count.Store(0)
		b.mu.Lock()
		b.gen.Add(1)
		b.cond.Broadcast()
		b.mu.Unlock()
		return
	}
	for range spins {
		if b.gen.Load() != gen {
			return
		}
	}
	b.mu.Lock()
	for b.gen.Load() == gen {
		b.cond.Wait()
	}
	b.mu.Unlock()
}
