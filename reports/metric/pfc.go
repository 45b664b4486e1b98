package metric

import (
	"fmt"
	"strings"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// class is one priority of one port.
type class struct {
	object string
	prio   int8
}

// String writes leaf0:5/p3.
func (c class) String() string {
	if c.prio < 0 {
		return c.object
	}
	return fmt.Sprintf("%s/p%d", c.object, c.prio)
}

// pfcFigures returns pfc. Only what a simulation counts fully may be 0 by its
// absence: a simulation looks for deadlocks too.
func pfcFigures(run *trace.Run, t totals, counters []trace.Counter, measured sim.Duration) (PFC, error) {
	p := PFC{
		Xoff:      t.count(trace.CountPFCXoffTx),
		Xon:       t.count(trace.CountPFCXonTx),
		Refresh:   t.count(trace.CountPFCRefreshTx),
		Episodes:  t.count(trace.CountPauseEpisodes),
		Threshold: StormThreshold.Seconds(),
	}
	if t.sum[trace.CountPausedSeconds] != nil || t.complete {
		ports := map[string]bool{}
		var sum, most float64
		for i := range counters {
			c := &counters[i]
			if c.Name != trace.CountPausedSeconds || !(c.Value > 0) {
				continue
			}
			sum += c.Value
			port, _, _ := strings.Cut(c.Object, "/")
			ports[port] = true
			if c.Value > most {
				most, p.MaxWhere = c.Value, class{c.Object, c.Prio}.String()
			}
		}
		n := int64(len(ports))
		p.Paused, p.PausedPorts = number(sum), &n
		if measured > 0 {
			p.MaxPaused = number(most / measured.Seconds())
		}
	}
	deadlocks, err := deadlocks(run)
	if err != nil {
		return p, err
	}
	if t.complete || deadlocks > 0 {
		p.Deadlocks = &deadlocks
	}
	storms, err := storms(run, counters)
	if err == nil && (t.complete || storms > 0) {
		p.Storms = &storms
	}
	return p, err
}

// storms counts pause episodes longer than StormThreshold that ended, or were
// still going on, after the warm-up. Where events do not tell, the longest
// episode of every priority of a port does, as a lower bound.
func storms(run *trace.Run, counters []trace.Counter) (int64, error) {
	man := &run.Manifest
	limit := StormThreshold.Seconds()
	var byEvents, byCounters int64
	for i := range counters {
		if c := &counters[i]; c.Name == trace.CountPauseLongest && c.Value > limit {
			byCounters++
		}
	}
	began := map[class]sim.Time{}
	for e, err := range run.Events(trace.EventPauseOn, trace.EventPauseOff) {
		if err != nil {
			return 0, err
		}
		k := class{e.Object, e.Prio}
		if e.Kind == trace.EventPauseOn {
			began[k] = e.Time
			continue
		}
		delete(began, k)
		if e.Time >= sim.Time(man.Warmup) && e.Value > limit {
			byEvents++
		}
	}
	for _, since := range began {
		if sim.Time(man.Simulated).Sub(since) > StormThreshold {
			byEvents++
		}
	}
	return max(byEvents, byCounters), nil
}

// deadlocks counts the cyclic waits that the run has found.
func deadlocks(run *trace.Run) (n int64, err error) {
	for _, err := range run.Events(trace.EventDeadlock) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}
