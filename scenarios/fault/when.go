package fault

import (
	"fmt"

	"rdmasim/sim"
)

// When is the time of a fault: from one time to another, once or again and again.
type When struct {
	From   sim.Duration `key:"from" doc:"when it begins"`
	To     sim.Duration `key:"to" doc:"when it ends; 0s = with the run"`
	Period sim.Duration `key:"period" doc:"from begin to begin, where it comes again; 0s = once"`
	Times  int          `key:"times" range:"0..1000000000" doc:"how often it comes; 0 = as long as the run lasts"`
}

// Span returns the time itself: faults that embed When have a Span.
func (w When) Span() When { return w }

func (w When) check() error {
	switch {
	case w.To != 0 && w.To <= w.From:
		return fmt.Errorf("to: %v: want more than from, %v, or 0s for the end of the run", w.To, w.From)
	case w.Period != 0 && w.To == 0:
		return fmt.Errorf("to: is missing: what comes again every %v must end first", w.Period)
	case w.Period != 0 && w.Period < w.To-w.From:
		return fmt.Errorf("period: %v: is shorter than the fault, which lasts %v", w.Period, w.To-w.From)
	case w.Times < 0:
		return fmt.Errorf("times: %d: want 0 or more", w.Times)
	case w.Times > 0 && w.Period == 0:
		return fmt.Errorf("period: is missing: times says how often it comes")
	}
	return nil
}

// Active reports whether the fault is there at t.
func (w When) Active(t sim.Time) bool {
	at := sim.Duration(t) - w.From
	switch {
	case at < 0:
		return false
	case w.To == 0:
		return true
	case w.Period == 0:
		return at < w.To-w.From
	case w.Times > 0 && at/w.Period >= sim.Duration(w.Times):
		return false
	}
	return at%w.Period < w.To-w.From
}

// next returns the first begin or end after t, sim.Never if there is none. A
// fault that lasts as long as its period neither ends nor begins.
func (w When) next(t sim.Time) sim.Time {
	at, long := sim.Duration(t)-w.From, w.To-w.From
	switch {
	case at < 0:
		return sim.Time(w.From)
	case w.To == 0:
		return sim.Never
	case w.Period == 0 && at < long:
		return sim.Time(w.To)
	case w.Period == 0:
		return sim.Never
	case long == w.Period && w.Times == 0:
		return sim.Never
	}
	n, in := at/w.Period, at%w.Period
	last := w.Times > 0 && n >= sim.Duration(w.Times)-1
	switch {
	case w.Times > 0 && n >= sim.Duration(w.Times):
		return sim.Never
	case in < long && (long < w.Period || last):
		return sim.Time(w.From).Add(n*w.Period + long)
	case last:
		return sim.Never
	}
	return sim.Time(w.From).Add((n + 1) * w.Period)
}

// end returns the end of the span that t lies in, sim.Never for the end of the run.
func (w When) end(t sim.Time) sim.Time {
	switch {
	case w.To == 0:
		return sim.Never
	case w.Period == 0:
		return sim.Time(w.To)
	case w.Period == w.To-w.From:
		if w.Times == 0 {
			return sim.Never
		}
		return sim.Time(w.From).Add(w.Period * sim.Duration(w.Times))
	}
	n := (sim.Duration(t) - w.From) / w.Period
	return sim.Time(w.To).Add(n * w.Period)
}
