package page

import (
	"fmt"

	"rdmasim/reports/figure"
	"rdmasim/reports/metric"
)

// why says where the time of messages went and what pauses came from.
func (w *writer) why() {
	d := w.r.Diagnosis
	if d == nil || d.Messages == 0 {
		return
	}
	from := []string{"metrics.json diagnosis", metric.FileDiagnosis}
	main := metric.CauseOf(d.Cause)
	line := d.Shares[metric.CauseLine.Key()]
	if main == metric.CauseLine {
		w.say(from, "Nothing held the messages back: %s of their time is what they take alone on their paths.", figure.Share(line))
		return
	}
	text := fmt.Sprintf("%s of the time of all messages was lost to %s", figure.Share(d.Shares[main.Key()]), main)
	if second := next(d, main); second != metric.CauseLine {
		text += fmt.Sprintf(", %s to %s", figure.Share(d.Shares[second.Key()]), second)
	}
	w.say(from, "%s; %s is what they take alone on their paths.", text, figure.Share(line))
	if e := d.Evidence[main.Key()]; e != "" {
		w.say(from, "Of the message that lost most to it: %s.", e)
	}
	if share := d.Shares[metric.CauseUnknown.Key()]; share >= 0.05 {
		w.warn(from, "Nothing in the run explains %s of it.", figure.Share(share))
	}
}

// next returns the cause that took most of the time beside line rate and one
// other; it is line rate where none took a twentieth.
func next(d *metric.DiagnosisFile, other metric.Cause) metric.Cause {
	best := metric.CauseLine
	for c := metric.CauseHost; c < metric.NumCauses; c++ {
		if v := d.Shares[c.Key()]; c != other && v >= 0.05 && (best == metric.CauseLine || v > d.Shares[best.Key()]) {
			best = c
		}
	}
	return best
}

// rootOfPauses says where most paused time comes from, and who lost by it.
func (w *writer) rootOfPauses() {
	p := w.r.Forensics
	if p == nil {
		return
	}
	from := []string{metric.FilePauses}
	if len(p.Roots) > 0 {
		r := &p.Roots[0]
		w.say(from, "%s.", figure.Capital(r.Sentence()))
		if n := len(p.Roots); n > 1 {
			w.say(from, "The figure and pauses.json show %s more.", figure.Count(n-1, "root"))
		}
	}
	if len(p.Victims) > 0 {
		v := &p.Victims[0]
		w.warn(from, "%s to %s is a victim: it does not cross %s and lost %s of its time to it, most at %s.", v.Src, v.Dst, v.Root, figure.Share(v.Share), v.At)
	}
	for i := range p.Deadlock {
		d := &p.Deadlock[i]
		w.warn(from, "A deadlock happened at %s in priority %d: %s.", figure.Seconds(d.At), d.Prio, d.Cycle)
	}
}
