package figure

import (
	"fmt"
	"sort"
	"strings"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

var _ = register("watchdog", "queues that PFC watchdogs took out of service", Pauses, 3, watchdogStrip)

// watchdogEvent follows the queues of which a watchdog has found a storm.
func (r *Run) watchdogEvent(e *trace.EventRow) {
	if e.Kind != trace.EventWatchdog {
		return
	}
	var q *Pause
	for _, x := range r.Watchdogs {
		if x.Port == e.Object && x.Prio == e.Prio {
			q = x
		}
	}
	switch {
	case strings.Contains(e.Cause, "detected"), strings.Contains(e.Cause, "gave up"):
		if q == nil {
			if len(r.Watchdogs) == maxPauses {
				return
			}
			q = &Pause{Port: e.Object, Prio: e.Prio, Peer: e.Peer, Share: make([]float32, r.Clock.Columns)}
			r.Watchdogs = append(r.Watchdogs, q)
		}
		if !q.on {
			q.on, q.since = true, e.Time
			q.Episodes++
		}
	case q != nil && strings.Contains(e.Cause, "restored"):
		q.resume(r.Clock, e.Time)
	}
}

// endWatchdogs ends storms that outlast the run, and sorts: the longest first.
func (r *Run) endWatchdogs() {
	for _, q := range r.Watchdogs {
		q.resume(r.Clock, r.Clock.End)
	}
	sort.SliceStable(r.Watchdogs, func(i, j int) bool {
		a, b := r.Watchdogs[i], r.Watchdogs[j]
		if a.Total != b.Total {
			return a.Total > b.Total
		}
		return natural(a.Port, b.Port)
	})
}

// watchdogStrip draws a row per queue: when a storm was in force.
func watchdogStrip(r *Run) Figure {
	const title = "PFC watchdog"
	if len(r.Watchdogs) == 0 {
		return empty(title, "No watchdog found a storm.")
	}
	shown := r.Watchdogs[:min(len(r.Watchdogs), maxLines)]
	g := timelines{x: r.Clock.Borders(), tone: func(int) Tone { return toneWarn }}
	f := Figure{Title: title, Table: Table{Head: []string{"port", "queue", "peer", "storms", "in force for", "longest"}}}
	var names []string
	var all sim.Duration
	storms := 0
	for _, q := range shown {
		names = append(names, fmt.Sprintf("%s q%d", q.Port, q.Prio))
		g.rows = append(g.rows, q.Share)
		f.Table.Rows = append(f.Table.Rows, []string{q.Port, fmt.Sprint(q.Prio), orUnknown(q.Peer), Whole(q.Episodes), Seconds(q.Total.Seconds()), Seconds(q.Longest.Seconds())})
	}
	for _, q := range r.Watchdogs {
		all, storms = all+q.Total, storms+q.Episodes
	}
	if len(shown) < len(r.Watchdogs) {
		f.Table.Note = fmt.Sprintf("The %s longest of %s.", Whole(len(shown)), Whole(len(r.Watchdogs)))
	}
	panel := r.strip(names, 20)
	panel.Plot.Add(grid{x: true}, g)
	f.Panels = []Panel{panel}
	f.Caption = fmt.Sprintf("Watchdogs found %s and kept queues out of service for %s in all; %s longest, because of %s.",
		Count(storms, "storm"), Seconds(all.Seconds()), names[0], orUnknown(NodeOf(shown[0].Peer)))
	return f
}
