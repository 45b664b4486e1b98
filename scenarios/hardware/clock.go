package hardware

import (
	"container/heap"
	"time"

	"rdmasim/sim"
)

// clock is the time of a run: picoseconds since its start, of the monotonic
// clock of the host, which has nanoseconds.
type clock struct{ start time.Time }

func (c clock) now() sim.Time { return sim.Time(time.Since(c.start).Nanoseconds()) * 1000 }

// timer is something to do at a time.
type timer struct {
	at  sim.Time
	seq int
	f   func()
}

// timers are ordered by time, then by when they were set.
type timers struct {
	list []timer
	seq  int
}

func (t *timers) Len() int { return len(t.list) }
func (t *timers) Less(i, j int) bool {
	a, b := &t.list[i], &t.list[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}
func (t *timers) Swap(i, j int) { t.list[i], t.list[j] = t.list[j], t.list[i] }
func (t *timers) Push(x any)    { t.list = append(t.list, x.(timer)) }
func (t *timers) Pop() any {
	n := len(t.list) - 1
	x := t.list[n]
	t.list = t.list[:n]
	return x
}

func (t *timers) add(at sim.Time, f func()) {
	t.seq++
	heap.Push(t, timer{at, t.seq, f})
}

// due takes the first timer whose time has come.
func (t *timers) due(now sim.Time) (func(), bool) {
	if len(t.list) == 0 || t.list[0].at > now {
		return nil, false
	}
	return heap.Pop(t).(timer).f, true
}

// next returns when the first timer is due, sim.Never if there is none.
func (t *timers) next() sim.Time {
	if len(t.list) == 0 {
		return sim.Never
	}
	return t.list[0].at
}
