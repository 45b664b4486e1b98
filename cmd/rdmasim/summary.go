package main

import (
	"fmt"
	"io"
	"strings"

	"rdmasim/reports/metric"
	"rdmasim/sim/trace"
)

// notMeasured stands for a figure that the run does not have; it is never 0.
const notMeasured = "not measured"

// summarize writes what a person wants to know first about a finished run.
func (a *app) summarize(res *runResult, page string) error {
	m, err := a.metrics(res.Dir)
	if err != nil {
		return err
	}
	s := &summary{w: a.stdout}
	s.title(m, res.Partial)
	s.flows(&m.Flows)
	s.row("goodput", goodputText(&m.Goodput))
	s.row("PFC", pfcText(&m.PFC))
	s.row("ECN", ecnText(m))
	s.row("drops", dropsText(&m.Packets))
	s.row("queue", queueText(&m.Queue))
	s.expect(m.Expect)
	for _, n := range res.Notes {
		s.row("note", n)
	}
	if page == "" {
		s.row("run", res.Dir)
	} else {
		s.row("report", page)
	}
	if res.Table != "" {
		s.printf("\n%s", res.Table)
	}
	return s.err
}

// summary writes rows with their labels in one column and keeps the first error.
type summary struct {
	w   io.Writer
	err error
}

const (
	labelWidth = 13 // of the column of labels
	cellWidth  = 12 // of a column of the distributions
)

func (s *summary) printf(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format, args...)
	}
}

func (s *summary) row(label, text string) { s.printf("%-*s%s\n", labelWidth, label, text) }

func (s *summary) title(m *metric.Metrics, partial bool) {
	how := "simulated"
	if m.Run.Mode == trace.ModeHardware {
		how = "on real queue pairs"
	}
	s.printf("%s, seed %d: %s %s", m.Run.Name, m.Run.Seed, figure(m.Run.Simulated, metric.Seconds), how)
	if m.Run.PacketHops != nil {
		s.printf(", %s packet-hops", count(m.Run.PacketHops))
	}
	if partial {
		s.printf(", PARTIAL: cut short")
	}
	s.printf("\n\n")
}

// flows writes how many messages completed, and two distributions in columns.
func (s *summary) flows(f *metric.Flows) {
	text := fmt.Sprintf("%s of %s completed, %s delivered", grouped(int64(f.Completed)), grouped(int64(f.Total)), metric.Format(float64(f.Delivered), metric.Bytes))
	if f.Failed > 0 {
		text += fmt.Sprintf(", %s failed", grouped(int64(f.Failed)))
	}
	s.row("flows", text)
	if f.FCT.Mean == nil {
		s.row("FCT", notMeasured)
		return
	}
	s.row("", columns("mean", "p50", "p95", "p99", "max"))
	s.row("FCT", distribution(&f.FCT, metric.Seconds))
	if f.Slowdown.Mean != nil {
		s.row("slowdown", distribution(&f.Slowdown, metric.Ratio))
	}
}

func distribution(d *metric.Dist, unit string) string {
	cells := make([]string, 0, 5)
	for _, v := range []*float64{d.Mean, d.P50, d.P95, d.P99, d.Max} {
		cells = append(cells, figure(v, unit))
	}
	return columns(cells...)
}

// columns sets cells of the same width beside each other.
func columns(cells ...string) string {
	var b strings.Builder
	for _, c := range cells {
		fmt.Fprintf(&b, "%-*s", cellWidth, c)
	}
	return strings.TrimRight(b.String(), " ")
}

func goodputText(g *metric.Goodput) string {
	if g.Total == nil {
		return notMeasured
	}
	text := figure(g.Total, metric.BitsPerS) + " in all"
	if g.Min != nil && g.Max != nil {
		text += fmt.Sprintf(", %s to %s per queue pair", figure(g.Min, metric.BitsPerS), figure(g.Max, metric.BitsPerS))
	}
	if g.Jain != nil {
		text += fmt.Sprintf(", Jain index %.3f", *g.Jain)
	}
	return text
}

func pfcText(p *metric.PFC) string {
	switch {
	case p.Xoff == nil || p.Episodes == nil:
		return notMeasured
	case *p.Xoff == 0 && *p.Episodes == 0:
		return "no pause"
	}
	text := fmt.Sprintf("%s XOFF, %s; %s on %s, %s in all",
		count(p.Xoff), counted(p.Refresh, "refresh"), counted(p.Episodes, "episode"), counted(p.PausedPorts, "port"), figure(p.Paused, metric.Seconds))
	if p.MaxPaused != nil {
		text += fmt.Sprintf("; worst %s of the time", percent(*p.MaxPaused))
		if p.MaxWhere != "" {
			text += " at " + p.MaxWhere
		}
	}
	if p.Storms != nil && *p.Storms > 0 {
		text += "; " + counted(p.Storms, "storm")
	}
	return text
}

func ecnText(m *metric.Metrics) string {
	e := &m.ECN
	switch {
	case e.Eligible == nil || e.Marked == nil:
		return notMeasured
	case *e.Eligible == 0:
		return "no packet could be marked"
	}
	text := fmt.Sprintf("%s of %s marked (%s)", count(e.Marked), counted(e.Eligible, "packet"), percent(float64(*e.Marked)/float64(*e.Eligible)))
	if m.CNP.Sent != nil {
		text += ", " + counted(m.CNP.Sent, "CNP")
	}
	return text
}

func dropsText(p *metric.Packets) string {
	d := &p.Dropped
	if d.Lossless == nil || d.Lossy == nil || d.Fault == nil {
		return notMeasured
	}
	text := "none"
	if *d.Lossless+*d.Lossy+*d.Fault > 0 {
		text = fmt.Sprintf("%s in lossless classes, %s in lossy ones, %s by faults", count(d.Lossless), count(d.Lossy), count(d.Fault))
	}
	if d.Watchdog != nil && *d.Watchdog > 0 {
		text = strings.TrimPrefix(text+", "+count(d.Watchdog)+" by watchdogs", "none, ")
	}
	if p.Retransmitted != nil && *p.Retransmitted > 0 {
		text += "; " + counted(p.Retransmitted, "packet") + " retransmitted"
	}
	return text
}

func queueText(q *metric.Queue) string {
	if q.Max == nil {
		return notMeasured
	}
	text := fmt.Sprintf("mean %s, p99 %s, max %s", figure(q.Mean, metric.Bytes), figure(q.P99, metric.Bytes), figure(q.Max, metric.Bytes))
	if q.Where != "" {
		text += " at " + q.Where
	}
	return text
}

// expect writes the verdict on each expectation, with the value that it had.
func (s *summary) expect(verdicts []metric.Verdict) {
	if len(verdicts) == 0 {
		return
	}
	held, width := 0, 0
	for _, v := range verdicts {
		if v.OK {
			held++
		}
		width = max(width, len([]rune(v.Text)))
	}
	s.row("expect", fmt.Sprintf("%d of %d hold", held, len(verdicts)))
	for _, v := range verdicts {
		word := "FAIL"
		if v.OK {
			word = "ok"
		}
		value := notMeasured
		if v.Value != nil {
			value = metric.Format(*v.Value, unitOf(v.Text))
		}
		s.printf("%*s  %-*s  %s\n", labelWidth-2, word, width, v.Text, value)
	}
}

// unitOf returns the unit of the figure that an expectation is about.
func unitOf(text string) string {
	for _, p := range metric.Paths() {
		if rest, ok := strings.CutPrefix(text, p.Name); ok && (rest == "" || strings.ContainsAny(rest[:1], " =<>!")) {
			return p.Unit
		}
	}
	return metric.Count
}
