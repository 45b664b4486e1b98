package figure

import (
	"sort"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Pause is how a port and priority was paused by its peer over the run.
type Pause struct {
	Port, Peer trace.Object
	Prio       int8
	Share      []float32 // of each column
	Total      sim.Duration
	Longest    sim.Duration
	Episodes   int

	on    bool
	since sim.Time
}

type pauseKey struct {
	port trace.Object
	prio int8
}

// maxPauses bounds how many ports and priorities are followed.
const maxPauses = 8192

// loadEvents reads what figures draw from events.
func (r *Run) loadEvents() error {
	pauses := map[pauseKey]*Pause{}
	causes := map[[2]string]*Cause{}
	kinds := []trace.EventKind{trace.EventPauseOn, trace.EventPauseOff, trace.EventDrop, trace.EventFault,
		trace.EventWatchdog, trace.EventDeadlock, trace.EventLinkState}
	for e, err := range r.Events(kinds...) {
		if absent(err) {
			break
		}
		if err != nil {
			return err
		}
		switch e.Kind {
		case trace.EventPauseOn, trace.EventPauseOff:
			r.pauseEvent(pauses, &e)
		case trace.EventDrop:
			dropEvent(causes, &e)
		default:
			r.watchdogEvent(&e)
			if r.faultEvent(&e) && e.Value == 0 {
				break
			}
			if len(r.Moments) < keepMoments {
				r.Moments = append(r.Moments, e)
			} else {
				r.MoreMoments++
			}
		}
	}
	r.endWatchdogs()
	for _, p := range pauses {
		p.resume(r.Clock, r.Clock.End)
		r.Pauses = append(r.Pauses, p)
	}
	sort.Slice(r.Pauses, func(i, j int) bool {
		a, b := r.Pauses[i], r.Pauses[j]
		if a.Total != b.Total {
			return a.Total > b.Total
		}
		if a.Port != b.Port {
			return natural(a.Port, b.Port)
		}
		return a.Prio < b.Prio
	})
	for _, c := range causes {
		r.Causes = append(r.Causes, *c)
	}
	sort.Slice(r.Causes, func(i, j int) bool {
		a, b := r.Causes[i], r.Causes[j]
		if a.Packets != b.Packets {
			return a.Packets > b.Packets
		}
		if a.Where != b.Where {
			return natural(a.Where, b.Where)
		}
		return a.Why < b.Why
	})
	return nil
}

func (r *Run) pauseEvent(pauses map[pauseKey]*Pause, e *trace.EventRow) {
	k := pauseKey{e.Object, e.Prio}
	p := pauses[k]
	if p == nil {
		if len(pauses) == maxPauses {
			return
		}
		p = &Pause{Port: e.Object, Prio: e.Prio, Peer: e.Peer, Share: make([]float32, r.Clock.Columns)}
		pauses[k] = p
	}
	if p.Peer == "" {
		p.Peer = e.Peer
	}
	if e.Kind == trace.EventPauseOff {
		p.resume(r.Clock, e.Time)
	} else if !p.on {
		p.on, p.since = true, e.Time
		p.Episodes++
	}
}

// resume ends an episode at t.
func (p *Pause) resume(c Clock, t sim.Time) {
	if !p.on {
		return
	}
	p.on = false
	d := t.Sub(p.since)
	p.Total, p.Longest = p.Total+d, max(p.Longest, d)
	for from := max(p.since, c.Begin); from < min(t, c.End); {
		i := c.column(from)
		end := min(c.border(i+1), t, c.End)
		p.Share[i] += float32(end.Sub(from).Seconds() / c.span(i).Seconds())
		from = end
	}
}

func dropEvent(causes map[[2]string]*Cause, e *trace.EventRow) {
	k := [2]string{e.Object, e.Cause}
	if causes[k] == nil && len(causes) >= keepCauses {
		k = [2]string{"other places", "other causes"}
	}
	c := causes[k]
	if c == nil {
		c = &Cause{Where: k[0], Why: k[1]}
		causes[k] = c
	}
	c.Packets++
	c.Bytes += e.Value
}
