package page

import (
	"fmt"

	"rdmasim/reports/figure"
	"rdmasim/reports/metric"
	"rdmasim/sim/trace"
)

// Sentence is one statement of the summary with the places in the run
// directory where its numbers stand.
type Sentence struct {
	Text string
	From []string // paths of metrics.json, names of counters, fields of manifest.json
	Bad  bool     // something that should not happen
}

// Paragraph is a few sentences under one word.
type Paragraph struct {
	Head      string
	Sentences []Sentence
}

// summary says in plain words what happened and why. Nothing is said that was
// not measured.
func summary(r *figure.Run) []Paragraph {
	w := writer{r: r, m: r.Metrics}
	var out []Paragraph
	for _, part := range []struct {
		head  string
		write func()
	}{
		{"The run", w.run},
		{"Why", w.why},
		{"Messages", w.messages},
		{"Queues and marking", w.queues},
		{"Flow control", w.pfc},
		{"Pauses", w.rootOfPauses},
		{"Watchdogs", w.watchdogs},
		{"802.3x", w.globalPauses},
		{"Losses", w.losses},
		{"Links", w.links},
		{"Checks of the devices", w.deviceChecks},
		{"Devices", w.devices},
		{"Verdict", w.verdict},
	} {
		w.out = nil
		part.write()
		if len(w.out) > 0 {
			out = append(out, Paragraph{part.head, w.out})
		}
	}
	return out
}

type writer struct {
	r   *figure.Run
	m   *metric.Metrics
	out []Sentence
}

func (w *writer) say(from []string, format string, args ...any) {
	w.out = append(w.out, Sentence{Text: fmt.Sprintf(format, args...), From: from})
}

func (w *writer) warn(from []string, format string, args ...any) {
	w.say(from, format, args...)
	w.out[len(w.out)-1].Bad = true
}

func (w *writer) run() {
	man := &w.r.Manifest
	how := map[string]string{trace.ModeSimulated: "simulated", trace.ModeHardware: "measured on hardware over", trace.ModeCapture: "read from a capture of"}[w.m.Run.Mode]
	duration := "a time that was not recorded"
	if w.m.Run.Simulated != nil {
		duration = figure.Seconds(*w.m.Run.Simulated)
	}
	from := []string{"run.mode", "run.simulated_s"}
	switch hosts, switches := w.nodes(); {
	case hosts+switches == 0:
		w.say(from, "%s %s %s.", w.m.Run.Name, how, duration)
	case w.m.Run.Mode == trace.ModeCapture:
		w.say(append(from, trace.FileTopology), "%s %s %s of traffic among %s.", w.m.Run.Name, how, duration, figure.Count(hosts, "host"))
	default:
		w.say(append(from, trace.FileTopology), "%s %s %s on a fabric of %s, %s and %s.", w.m.Run.Name, how, duration,
			figure.Count(hosts, "host"), figure.Count(switches, "switch"), figure.Count(len(w.r.Topology.Links), "link"))
	}
	if man.Warmup > 0 && w.m.Run.Warmup != nil {
		w.say([]string{"run.warmup_s"}, "Counters and goodput leave out the first %s as warm-up.", figure.Seconds(*w.m.Run.Warmup))
	}
	if man.Compat != "" && man.Compat != "none" {
		w.say([]string{"manifest.compat"}, "It follows the rules of %s, not those of this program.", man.Compat)
	}
	if w.m.Run.Partial {
		reason := ""
		if man.Reason != "" {
			reason = " (" + man.Reason + ")"
		}
		w.warn([]string{"run.partial"}, "The run was cut short%s: everything here describes what was measured until then.", reason)
	}
}

func (w *writer) nodes() (hosts, switches int) {
	for _, n := range w.r.Topology.Nodes {
		if n.Kind == "host" {
			hosts++
		} else {
			switches++
		}
	}
	return hosts, switches
}

func (w *writer) messages() {
	f := &w.m.Flows
	if f.Total == 0 {
		w.say([]string{"flows.total"}, "No message was posted.")
		return
	}
	text := fmt.Sprintf("%s of %s completed", capital(number(f.Completed)), figure.Count(f.Total, "message"))
	switch {
	case f.Completed == f.Total && f.Total == 1:
		text = "The one message completed"
	case f.Completed == f.Total:
		text = fmt.Sprintf("All %s completed", figure.Count(f.Total, "message"))
	case f.Completed == 0:
		text = fmt.Sprintf("None of %s completed", figure.Count(f.Total, "message"))
	}
	open := f.Total - f.Completed - f.Failed
	switch {
	case open == 1:
		text += ", 1 was unfinished at the end"
	case open > 1:
		text += fmt.Sprintf(", %s were unfinished at the end", figure.Whole(open))
	}
	from := []string{"flows.total", "flows.completed", "flows.failed"}
	if f.Failed > 0 {
		w.warn(from, "%s; %s ended with an error.", text, figure.Count(f.Failed, "message"))
	} else {
		w.say(from, "%s.", text)
	}
	if d := f.FCT; d.P50 != nil && d.P99 != nil && d.Max != nil && f.Completed > 1 {
		w.say([]string{"flows.fct_s"}, "Half of those that completed took at most %s, 99 %% at most %s, the slowest %s.",
			figure.Seconds(*d.P50), figure.Seconds(*d.P99), figure.Seconds(*d.Max))
	}
	w.slowest()
	w.goodput()
}

// slowest names the message that was farthest from its ideal.
func (w *writer) slowest() {
	if len(w.r.Flows.Slowest) == 0 {
		return
	}
	f := &w.r.Flows.Slowest[0]
	slow, ok := f.Slowdown()
	fct, done := f.FCT()
	if !ok || !done {
		return
	}
	w.say([]string{"flows.slowdown.max", fmt.Sprintf("flows.csv %s", f.Name())},
		"Farthest from its ideal was a message of %s from %s to %s: %s, %s times the time it would take alone.",
		figure.Size(float64(f.Bytes)), f.Src, f.Dst, figure.Seconds(fct.Seconds()), figure.Number(slow))
}

func (w *writer) goodput() {
	g := &w.m.Goodput
	if g.Total == nil {
		return
	}
	if g.Min == nil || g.Max == nil || g.Jain == nil || *g.Min == *g.Max {
		w.say([]string{"goodput_bps.total"}, "Together they delivered %s of payload.", figure.Bitrate(*g.Total))
		return
	}
	w.say([]string{"goodput_bps.total", "goodput_bps.min", "goodput_bps.max", "goodput_bps.jain"},
		"Together they delivered %s of payload; the slowest queue pair got %s and the fastest %s, which gives a fairness (Jain's index) of %s, where 1 means that all got the same.",
		figure.Bitrate(*g.Total), figure.Bitrate(*g.Min), figure.Bitrate(*g.Max), figure.Fraction(*g.Jain))
	if n := len(w.r.Flows.Workloads); n > 1 {
		all := fmt.Sprintf("all %d", n)
		if n == 2 {
			all = "both"
		}
		w.say([]string{"flows.csv workload"}, "The queue pairs of %s workloads count alike here, also those that had little to send.", all)
	}
}

func (w *writer) losses() {
	d := &w.m.Packets.Dropped
	if d.Lossless == nil && d.Lossy == nil && d.Fault == nil {
		w.say(nil, "Whether packets were dropped was not measured.")
		return
	}
	total := int64(0)
	var parts []string
	for _, k := range []struct {
		n    *int64
		what string
	}{{d.Lossless, "in a lossless class"}, {d.Lossy, "in a lossy class for want of buffer"}, {d.Fault, "by injected faults"}, {d.Watchdog, "by watchdogs"}} {
		if k.n != nil && *k.n > 0 {
			total += *k.n
			parts = append(parts, figure.Whole(*k.n)+" "+k.what)
		}
	}
	from := []string{"packets.dropped"}
	switch {
	case total == 0:
		w.say(from, "No packet was dropped.")
	case d.Lossless != nil && *d.Lossless > 0:
		w.warn(from, "%s dropped: %s. A lossless class must not lose packets: its headroom was too small, or PFC did not reach the sender.",
			were(total, "packet"), figure.List(parts))
	default:
		w.say(from, "%s dropped: %s.", were(total, "packet"), figure.List(parts))
	}
	if n := w.m.Packets.Retransmitted; n != nil && *n > 0 {
		from, text := []string{"packets.retransmitted"}, were(*n, "packet")+" sent again"
		if late, ok := w.r.CounterSum(trace.CountOutOfSequence); ok && late > 0 && total == 0 {
			from = append(from, "counters.csv "+trace.CountOutOfSequence)
			text += fmt.Sprintf(" although none was lost: %s arrived out of order, and a receiver takes packets in order alone", figure.Count(int64(late), "packet"))
		}
		w.say(from, "%s.", text)
	}
}

func (w *writer) links() {
	if uses := w.r.LinkUses(); len(uses) > 0 && uses[0].Mean >= 0 {
		l := uses[0]
		w.say([]string{"counters.csv " + trace.CountTxBytes + " of " + l.From}, "The busiest link was %s → %s: %s of %s, averaged over the measured time.",
			l.From, l.To, figure.Share(l.Mean), figure.Bitrate(l.Rate))
	}
}

func (w *writer) verdict() {
	var failed []string
	for _, e := range w.m.Expect {
		if !e.OK {
			failed = append(failed, e.Text)
		}
	}
	n := len(w.m.Expect)
	from := []string{"expect"}
	switch {
	case n == 0:
	case len(failed) == 0 && n == 1:
		w.say(from, "The one expectation holds.")
	case len(failed) == 0:
		w.say(from, "All %s hold.", figure.Count(n, "expectation"))
	case n == 1:
		w.warn(from, "The one expectation failed: %s.", failed[0])
	default:
		w.warn(from, "%s of %s failed: %s.", capital(number(len(failed))), figure.Count(n, "expectation"), figure.List(failed))
	}
}
