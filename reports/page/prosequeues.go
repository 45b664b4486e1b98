package page

import (
	"fmt"

	"rdmasim/reports/figure"
	"rdmasim/sim/trace"
)

// queues tells of the worst queue, its thresholds, marks and CNPs.
func (w *writer) queues() {
	q := &w.m.Queue
	mark, known := w.r.MarkingOf(q.Where)
	if q.Max != nil && *q.Max > 0 {
		text := fmt.Sprintf("The longest queue was %s: at most %s", q.Where, figure.Size(*q.Max))
		if q.P99 != nil {
			text += fmt.Sprintf(", %s or less for 99 %% of the time", figure.Size(*q.P99))
		}
		from := []string{"queue_bytes.max", "queue_bytes.p99"}
		if known {
			text += fmt.Sprintf("; marking there begins at Kmin = %s and rises until Kmax = %s", figure.Size(mark.Kmin), figure.Size(mark.Kmax))
			from = append(from, "resolved.json switch.ecn")
		}
		w.say(from, "%s.", text)
	}
	e := &w.m.ECN
	switch {
	case e.Marked == nil:
		if len(w.r.Markings) > 0 {
			w.say(nil, "Marks were not measured.")
		}
	case *e.Marked == 0 && q.Max != nil && known && *q.Max <= mark.Kmin:
		w.say([]string{"ecn.marked", "queue_bytes.max", "resolved.json switch.ecn"}, "ECN marked nothing, because no queue exceeded Kmin.")
	case *e.Marked == 0 && w.m.Run.Mode == trace.ModeCapture:
		w.say([]string{"ecn.marked", "ecn.eligible"}, "No packet was captured with a congestion mark.")
	case *e.Marked == 0 && w.r.Resolved != nil && len(w.r.Markings) == 0:
		w.say([]string{"ecn.marked", "resolved.json switch.ecn"}, "ECN marked no packet: no marking is configured.")
	case *e.Marked == 0:
		w.say([]string{"ecn.marked"}, "ECN marked no packet.")
	case e.Eligible != nil && *e.Eligible > 0:
		w.say([]string{"ecn.marked", "ecn.eligible"}, "ECN marked %s of %s that could be (%s).", figure.Whole(*e.Marked),
			figure.Count(*e.Eligible, "packet"), figure.Share(float64(*e.Marked)/float64(*e.Eligible)))
	default:
		w.say([]string{"ecn.marked"}, "ECN marked %s.", figure.Count(*e.Marked, "packet"))
	}
	w.cnps()
}

func (w *writer) cnps() {
	c := &w.m.CNP
	if c.Sent == nil || *c.Sent == 0 {
		return
	}
	from := []string{"cnp.sent", "cnp.handled"}
	switch {
	case c.Handled == nil:
		w.say(from, "Receivers sent %s; how many reached a sender was not measured.", figure.Count(*c.Sent, "CNP"))
	case *c.Handled == *c.Sent:
		w.say(from, "Receivers sent %s, and all of them reached their senders.", figure.Count(*c.Sent, "CNP"))
	default:
		w.say(from, "Receivers sent %s; senders handled %s.", figure.Count(*c.Sent, "CNP"), figure.Whole(*c.Handled))
	}
}

// pfc says whether PFC fired and why: the highest occupancy of an ingress
// against its threshold.
func (w *writer) pfc() {
	p := &w.m.PFC
	if p.Xoff == nil && p.Episodes == nil {
		w.say(nil, "Whether PFC fired was not measured.")
		return
	}
	fired := p.Xoff != nil && *p.Xoff > 0 || p.Episodes != nil && *p.Episodes > 0
	why, from := w.closest()
	if !fired {
		if why == "" {
			w.say([]string{"pfc.xoff", "pfc.episodes"}, "PFC did not fire.")
		} else {
			w.say(append([]string{"pfc.xoff"}, from...), "PFC did not fire: %s.", why)
		}
		return
	}
	text := "PFC fired"
	if p.Xoff != nil {
		text += fmt.Sprintf(": %s sent", countWere(*p.Xoff, "XOFF frame"))
		if p.Refresh != nil && *p.Refresh > 0 {
			text += fmt.Sprintf(" and %s to keep pauses alive", figure.Count(*p.Refresh, "refresh"))
		}
	}
	if p.Episodes != nil && *p.Episodes > 0 && p.Paused != nil && p.PausedPorts != nil {
		text += fmt.Sprintf("; %s stopped %s, altogether for %s of port-priority time", figure.Count(*p.PausedPorts, "port")+" "+wasWere(*p.PausedPorts),
			times(*p.Episodes), figure.Seconds(*p.Paused))
	}
	w.say([]string{"pfc.xoff", "pfc.refresh", "pfc.episodes", "pfc.paused_s", "pfc.paused_ports"}, "%s.", text)
	w.reason(why, from)
	if p.MaxPaused != nil && *p.MaxPaused > 0 && p.MaxWhere != "" {
		w.say([]string{"pfc.max_paused_fraction", "pfc.max_paused_where"}, "Most affected was %s, stopped during %s of the measured time.",
			p.MaxWhere, figure.Share(*p.MaxPaused))
	}
	if p.Storms != nil && *p.Storms > 0 {
		w.warn([]string{"pfc.storms", "pfc.storm_threshold_s"}, "%s longer than %s: a pause storm.", capital(lasted(*p.Storms)), figure.Seconds(p.Threshold))
	}
	if p.Deadlocks != nil && *p.Deadlocks > 0 {
		w.warn([]string{"pfc.deadlocks"}, "%s found: ports that wait for each other in a circle.", capital(countWere(*p.Deadlocks, "deadlock")))
	}
}

// closest tells of the priority group that came nearest to its XOFF threshold,
// or went farthest beyond it; "" if that was not measured.
func (w *writer) closest() (text string, from []string) {
	top, ok := w.r.CounterMax(trace.CountClosestToXoff)
	if !ok {
		return "", nil
	}
	where := fmt.Sprintf("%s, priority %d", top.Object, top.Prio)
	if top.Prio < 0 {
		where = top.Object
	}
	from = []string{"counters.csv " + trace.CountClosestToXoff + " of " + top.Object}
	if top.Value <= 0 {
		return "no ingress used any of the shared buffer", from
	}
	text = fmt.Sprintf("the shared buffer that the ingress of %s used reached at most %s of its XOFF threshold", where, figure.Share(top.Value))
	if top.Value >= 1 {
		text = fmt.Sprintf("the shared buffer that the ingress of %s used reached its XOFF threshold", where)
		if top.Value > 1.005 {
			text += fmt.Sprintf(" and went up to %s of it", figure.Share(top.Value))
		}
	}
	held, ok1 := w.r.CounterOf(trace.CountIngressMax, top.Object, top.Prio)
	low, ok2 := w.r.CounterOf(trace.CountXoffMinimum, top.Object, top.Prio)
	if ok1 && ok2 {
		text += fmt.Sprintf(" (it held %s at most, and the lowest threshold it met was %s)", figure.Size(held), figure.Size(low))
		from = append(from, "counters.csv "+trace.CountIngressMax, "counters.csv "+trace.CountXoffMinimum)
	}
	return text, from
}

// wasWere, countWere, were, times and lasted put numbers into sentences.
func wasWere(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func countWere(n int64, noun string) string { return figure.Count(n, noun) + " " + wasWere(n) }

func were(n int64, noun string) string { return capital(countWere(n, noun)) }

func times(n int64) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return figure.Whole(n) + " times"
}

func lasted(n int64) string {
	return figure.Count(n, "episode") + " lasted"
}

func capital(s string) string { return figure.Capital(s) }

// number prints a count that begins or stands in a sentence: none, one, 2 ...
func number(n int) string {
	switch n {
	case 0:
		return "none"
	case 1:
		return "one"
	}
	return figure.Whole(n)
}
