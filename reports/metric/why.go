package metric

import (
	"fmt"
	"io"
	"strings"

	"rdmasim/sim/trace"
)

// Why writes in words where the time of the messages of a run went, which roots
// its pauses had, whom they stopped and who lost by them.
func Why(w io.Writer, run *trace.Run) error {
	f, err := trackPauses(run)
	if err != nil {
		return err
	}
	p, err := f.report(run)
	if err != nil {
		return err
	}
	d, err := f.diagnose(run, nil)
	if err != nil {
		return err
	}
	out := &words{w: w}
	out.line("%s, seed %d: why it is slow", run.Manifest.Name, run.Manifest.Seed)
	out.diagnosis(d)
	out.worst(d)
	out.pauses(p)
	out.deadlocks(p)
	return out.err
}

// WhyFlow writes the same of one message; nil is the one that lost most time.
func WhyFlow(w io.Writer, run *trace.Run, which *trace.Message) error {
	var found *FlowDiagnosis
	f, err := trackPauses(run)
	if err != nil {
		return err
	}
	d, err := f.diagnose(run, nil)
	if err != nil {
		return err
	}
	if which == nil {
		if len(d.Worst) == 0 {
			return fmt.Errorf("the run keeps account of no message")
		}
		which = &trace.Message{ID: d.Worst[0].Flow.ID}
	}
	x, err := newExaminer(run, f)
	if err != nil {
		return err
	}
	var way *trace.Way
	for m, err := range passages(run) {
		if err != nil {
			return err
		}
		if !which.Is(&m.Flow) || !m.delays.Measured {
			continue
		}
		o := x.examine(m)
		o.Evidence = x.allEvidence(m, &o.Shares)
		found, way = &o, m.way
	}
	if found == nil {
		return fmt.Errorf("no message %v of which the run keeps account: %s has a line for each", which, trace.FileFlows)
	}
	out := &words{w: w}
	o := found
	out.line("message %s: %s from %s to %s, QP %d, posted at %s", o.Flow.Name(), Format(float64(o.Flow.Bytes), Bytes), o.Flow.Src, o.Flow.Dst, o.Flow.QP, seconds(o.Flow.Start.Sub(0)))
	if way != nil {
		note := ""
		if way.Spread {
			note = " (one of several: switches spread packets)"
		}
		out.line("way    %s%s", strings.Join(way.There, " > "), note)
	}
	state := "took"
	if o.Flow.End < 0 {
		state = "has not completed after"
	} else if o.Flow.Status != trace.StatusSuccess {
		state = "failed (" + o.Flow.Status + ") after"
	}
	out.line("%s %s; alone it takes %s", state, seconds(o.Elapsed), seconds(o.Flow.Ideal))
	out.shares(&o.Shares, nil)
	for _, e := range o.Evidence {
		out.line("  * %s", e)
	}
	return out.err
}

// words writes lines and keeps the first error.
type words struct {
	w   io.Writer
	err error
}

func (o *words) line(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, strings.TrimRight(format, " ")+"\n", args...)
	}
}

// shares writes a line per cause, the largest first, with a bar.
func (o *words) shares(s *Shares, evidence *[NumCauses]string) {
	for _, c := range s.Largest() {
		text := fmt.Sprintf("  %5.1f %%  %-20s %-24s", s.Of(c)*100, strings.Repeat("#", int(s.Of(c)*20+0.5)), c)
		if evidence != nil && c != CauseLine && evidence[c] != "" && s.Of(c) >= 0.01 {
			text += " e.g. " + evidence[c]
		}
		o.line("%s", strings.TrimRight(text, " "))
	}
}

// Largest returns the causes that took any time, the largest first.
func (s *Shares) Largest() []Cause {
	var list []Cause
	for c := CauseLine; c < NumCauses; c++ {
		if s[c] <= 0 {
			continue
		}
		i := len(list)
		list = append(list, c)
		for ; i > 0 && s[list[i-1]] < s[c]; i-- {
			list[i-1], list[i] = list[i], list[i-1]
		}
	}
	return list
}

func (o *words) diagnosis(d *Diagnosis) {
	if d.Measured == 0 {
		o.line("\nThe run has kept no account of where the time of its messages went.")
		return
	}
	o.line("\nWhere the time of %s went, %s in all: mostly %s", Counted(d.Measured, "message"), seconds(d.Total.Sum()), d.Total.Main())
	o.shares(&d.Total, &d.Evidence)
}

func (o *words) worst(d *Diagnosis) {
	if len(d.Worst) == 0 {
		return
	}
	o.line("\nMessages that lost most, one per queue pair")
	worst := d.Worst[:min(len(d.Worst), 5)]
	width := 0
	for i := range worst {
		width = max(width, len(worst[i].Flow.Name()))
	}
	for i := range worst {
		w := &d.Worst[i]
		o.line("  %-*s  %s > %s, %s instead of %s: %s", width, w.Flow.Name(), w.Flow.Src, w.Flow.Dst, seconds(w.Elapsed), seconds(w.Flow.Ideal), w.Shares.Main())
	}
}

// Most roots and ports that are written.
const (
	whyRoots   = 4
	whyPorts   = 40
	whyVictims = 8
)

func (o *words) pauses(p *Pauses) {
	if len(p.Roots) == 0 {
		o.line("\nNo port was paused.")
		return
	}
	o.line("\nPauses")
	for i := range p.Roots {
		if i == whyRoots {
			o.line("  and %s more, in %s", Counted(len(p.Roots)-i, "root"), FilePauses)
			break
		}
		o.root(&p.Roots[i])
		o.victims(p, &p.Roots[i])
	}
}

func (o *words) root(r *PauseRoot) {
	o.line("  %s", r.Sentence())
	n := 0
	for _, b := range r.Branches() {
		if n++; n > whyPorts {
			o.line("    ... %s more", Counted(len(r.Tree)-whyPorts, "port"))
			break
		}
		o.line("    %s%s  %s, %s, from %s on", b.Indent, b.Edge.Port, Counted(b.Edge.Episodes, "time"), Format(b.Edge.Paused, Seconds), Format(b.Edge.First, Seconds))
	}
}

func (o *words) victims(p *Pauses, r *PauseRoot) {
	n := 0
	for i := range p.Victims {
		v := &p.Victims[i]
		if v.Root != r.Where {
			continue
		}
		if n++; n > whyVictims {
			o.line("    ... %s more", Counted(r.Victims-whyVictims, "victim"))
			return
		}
		o.line("    victim %s > %s, QP %d: lost %s, %.0f %% of its time, most of it at %s", v.Src, v.Dst, v.QP, Format(v.Lost, Seconds), v.Share*100, v.At)
	}
}

func (o *words) deadlocks(p *Pauses) {
	for _, d := range p.Deadlock {
		o.line("\nA deadlock happened at %s in priority %d: %s", Format(d.At, Seconds), d.Prio, d.Cycle)
	}
}

// Sentence tells a root in one sentence.
func (r *PauseRoot) Sentence() string {
	text := fmt.Sprintf("root %s, a %s (priority %d), stopped %s for %s in all; the farthest is %d %s away", r.Where, r.Kind, r.Prio,
		Counted(r.PortCount, "port"), Format(r.Paused, Seconds), r.Depth, Plural(r.Depth, "link"))
	if r.Victims > 0 {
		text += fmt.Sprintf("; %s lost %s to it without crossing it", Counted(r.Victims, "queue pair"), Format(r.VictimLost, Seconds))
	}
	if r.Recover == nil {
		return text + "; it lasts to the end of the run"
	}
	if *r.Recover == 0 {
		return text + "; all had ended when the last pause next to it did"
	}
	return text + fmt.Sprintf("; %s after the last pause next to it all had ended", Format(*r.Recover, Seconds))
}

// Branch is a line of the tree of a root.
type Branch struct {
	Indent string // what is drawn before the port
	Edge   *PauseEdge
	Depth  int // from 0
}

// Branches returns the ports of a root as a tree, depth first, the longest
// paused first. Each port stands there once.
func (r *PauseRoot) Branches() []Branch {
	children := map[string][]int{}
	index := map[string]bool{}
	for i := range r.Tree {
		index[r.Tree[i].Port] = true
	}
	for i := range r.Tree {
		up := r.Tree[i].Parent
		if !index[up] {
			up = ""
		}
		children[up] = append(children[up], i)
	}
	var out []Branch
	seen := map[int]bool{}
	var walk func(list []int, prefix string, depth int)
	walk = func(list []int, prefix string, depth int) {
		for k, i := range list {
			if seen[i] {
				continue
			}
			seen[i] = true
			mark, next := "+- ", "|  "
			if k == len(list)-1 {
				mark, next = "`- ", "   "
			}
			out = append(out, Branch{prefix + mark, &r.Tree[i], depth})
			walk(children[r.Tree[i].Port], prefix+next, depth+1)
		}
	}
	walk(children[""], "", 0)
	for i := range r.Tree { // a circle of ports that wait for each other hangs on nothing
		if !seen[i] {
			walk([]int{i}, "", 0)
		}
	}
	return out
}
