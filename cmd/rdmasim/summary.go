package main

import (
	"fmt"
	"io"
	"strings"
)

// metrics is metrics.json as far as the summary shows it. A nil pointer was
// not measured.
type metrics struct {
	Run struct {
		Name        string  `json:"name"`
		Seed        uint64  `json:"seed"`
		SimulatedS  float64 `json:"simulated_s"`
		PacketHops  *uint64 `json:"packet_hops"`
		Fingerprint string  `json:"fingerprint"`
	} `json:"run"`
	Flows struct {
		Total     uint64     `json:"total"`
		Completed uint64     `json:"completed"`
		Failed    uint64     `json:"failed"`
		Bytes     float64    `json:"bytes"`
		FCT       *quantiles `json:"fct_s"`
		Slowdown  *quantiles `json:"slowdown"`
	} `json:"flows"`
	Goodput *struct {
		Total *float64 `json:"total"`
		Min   *float64 `json:"min"`
		Max   *float64 `json:"max"`
		Jain  *float64 `json:"jain"`
	} `json:"goodput_bps"`
	Packets *struct {
		Sent          uint64 `json:"sent"`
		Retransmitted uint64 `json:"retransmitted"`
		Dropped       struct {
			Lossless uint64 `json:"lossless"`
			Lossy    uint64 `json:"lossy"`
			Fault    uint64 `json:"fault"`
		} `json:"dropped"`
	} `json:"packets"`
	ECN *struct {
		Eligible uint64 `json:"eligible"`
		Marked   uint64 `json:"marked"`
	} `json:"ecn"`
	CNP *struct {
		Sent uint64 `json:"sent"`
	} `json:"cnp"`
	PFC *struct {
		XOFF        uint64   `json:"xoff"`
		Refresh     uint64   `json:"refresh"`
		Episodes    uint64   `json:"episodes"`
		PausedS     float64  `json:"paused_s"`
		PausedPorts uint64   `json:"paused_ports"`
		MaxFraction *float64 `json:"max_paused_fraction"`
		Storms      *uint64  `json:"storms"`
	} `json:"pfc"`
	Queue *struct {
		Mean  *float64 `json:"mean"`
		P99   *float64 `json:"p99"`
		Max   *float64 `json:"max"`
		Where string   `json:"where"`
	} `json:"queue_bytes"`
	Expect []struct {
		Text  string   `json:"text"`
		OK    bool     `json:"ok"`
		Value *float64 `json:"value"`
	} `json:"expect"`
}

// quantiles are the five figures of a distribution.
type quantiles struct {
	Mean, P50, P95, P99, Max *float64
}

// notMeasured stands for a figure that the run does not have; it is never 0.
const notMeasured = "not measured"

// summarize writes what a person wants to know first about a finished run.
func (a *app) summarize(res *runResult, page string) error {
	m, err := a.metrics(res.Dir)
	if err != nil {
		return err
	}
	s := &summary{w: a.stdout}
	s.title(m, res)
	s.flows(m)
	s.row("goodput", goodputText(m))
	s.row("PFC", pfcText(m))
	s.row("ECN", ecnText(m))
	s.row("drops", dropsText(m))
	s.row("queue", queueText(m))
	s.expect(m)
	for _, n := range res.Notes {
		s.row("note", n)
	}
	if page == "" {
		s.row("run", res.Dir)
	} else {
		s.row("report", page)
	}
	return s.err
}

// summary writes rows with their labels in one column and keeps the first error.
type summary struct {
	w   io.Writer
	err error
}

const labelWidth = 13

func (s *summary) printf(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format, args...)
	}
}

func (s *summary) row(label, text string) { s.printf("%-*s%s\n", labelWidth, label, text) }

func (s *summary) title(m *metrics, res *runResult) {
	s.printf("%s, seed %d: %s simulated", m.Run.Name, m.Run.Seed, seconds(m.Run.SimulatedS))
	if m.Run.PacketHops != nil {
		s.printf(", %s packet-hops", grouped(*m.Run.PacketHops))
	}
	if res.Partial {
		s.printf("  PARTIAL: cut short")
	}
	s.printf("\n\n")
}

// flows writes how many messages completed, and two distributions in columns.
func (s *summary) flows(m *metrics) {
	f := &m.Flows
	text := fmt.Sprintf("%s of %s completed, %s", grouped(f.Completed), grouped(f.Total), byteCount(f.Bytes))
	if f.Failed > 0 {
		text += fmt.Sprintf(", %s failed", grouped(f.Failed))
	}
	s.row("flows", text)
	if f.FCT == nil || f.FCT.Mean == nil {
		s.row("FCT", notMeasured)
		return
	}
	s.row("", columns("mean", "p50", "p95", "p99", "max"))
	s.row("FCT", f.FCT.columns(seconds))
	if f.Slowdown != nil && f.Slowdown.Mean != nil {
		s.row("slowdown", f.Slowdown.columns(func(v float64) string { return scaled(v, []string{""}, 1) }))
	}
}

func (q *quantiles) columns(format func(float64) string) string {
	cells := make([]string, 0, 5)
	for _, v := range []*float64{q.Mean, q.P50, q.P95, q.P99, q.Max} {
		cells = append(cells, orDash(v, format))
	}
	return columns(cells...)
}

// columns sets cells of the same width beside each other.
func columns(cells ...string) string {
	var b strings.Builder
	for _, c := range cells {
		fmt.Fprintf(&b, "%-11s", c)
	}
	return strings.TrimRight(b.String(), " ")
}

func orDash(v *float64, format func(float64) string) string {
	if v == nil {
		return "-"
	}
	return format(*v)
}

func goodputText(m *metrics) string {
	g := m.Goodput
	if g == nil || g.Total == nil {
		return notMeasured
	}
	text := bitRate(*g.Total) + " total"
	if g.Min != nil && g.Max != nil {
		text += fmt.Sprintf(", %s to %s per queue pair", bitRate(*g.Min), bitRate(*g.Max))
	}
	if g.Jain != nil {
		text += fmt.Sprintf(", Jain index %.3f", *g.Jain)
	}
	return text
}

func pfcText(m *metrics) string {
	p := m.PFC
	switch {
	case p == nil:
		return notMeasured
	case p.XOFF == 0 && p.Episodes == 0:
		return "no pause"
	}
	text := fmt.Sprintf("%s XOFF, %s refreshes, %s episodes on %s ports, %s paused in all",
		grouped(p.XOFF), grouped(p.Refresh), grouped(p.Episodes), grouped(p.PausedPorts), seconds(p.PausedS))
	if p.MaxFraction != nil {
		text += fmt.Sprintf(", worst port %s of the time", percent(*p.MaxFraction))
	}
	if p.Storms != nil && *p.Storms > 0 {
		text += fmt.Sprintf(", %s storms", grouped(*p.Storms))
	}
	return text
}

func ecnText(m *metrics) string {
	e := m.ECN
	if e == nil {
		return notMeasured
	}
	if e.Eligible == 0 {
		return "no packet could be marked"
	}
	text := fmt.Sprintf("%s of %s packets marked (%s)", grouped(e.Marked), grouped(e.Eligible), percent(float64(e.Marked)/float64(e.Eligible)))
	if m.CNP != nil {
		text += fmt.Sprintf(", %s CNPs", grouped(m.CNP.Sent))
	}
	return text
}

func dropsText(m *metrics) string {
	if m.Packets == nil {
		return notMeasured
	}
	d := m.Packets.Dropped
	text := "none"
	if d.Lossless+d.Lossy+d.Fault > 0 {
		text = fmt.Sprintf("%s in lossless classes, %s in lossy ones, %s by faults", grouped(d.Lossless), grouped(d.Lossy), grouped(d.Fault))
	}
	if m.Packets.Retransmitted > 0 {
		text += fmt.Sprintf(", %s packets retransmitted", grouped(m.Packets.Retransmitted))
	}
	return text
}

func queueText(m *metrics) string {
	q := m.Queue
	if q == nil || q.Max == nil {
		return notMeasured
	}
	text := fmt.Sprintf("mean %s, p99 %s, max %s", orDash(q.Mean, byteCount), orDash(q.P99, byteCount), byteCount(*q.Max))
	if q.Where != "" {
		text += " at " + q.Where
	}
	return text
}

// expect writes the verdict on each expectation, with the value that it had.
func (s *summary) expect(m *metrics) {
	if len(m.Expect) == 0 {
		return
	}
	held, width := 0, 0
	for _, e := range m.Expect {
		if e.OK {
			held++
		}
		width = max(width, len([]rune(e.Text)))
	}
	s.row("expect", fmt.Sprintf("%d of %d hold", held, len(m.Expect)))
	for _, e := range m.Expect {
		verdict := "FAIL"
		if e.OK {
			verdict = "ok"
		}
		value := notMeasured
		if e.Value != nil {
			value = fmt.Sprintf("%.6g", *e.Value)
		}
		s.printf("%*s  %-*s  %s\n", labelWidth-2, verdict, width, e.Text, value)
	}
}
