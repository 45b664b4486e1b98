package main

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"text/tabwriter"

	"rdmasim/fabric/capture/analysis"
	"rdmasim/reports/metric"
)

// shownQPs is how many queue pairs the summary of a capture names: those with
// most packets.
const shownQPs = 20

// writeCapture writes what a person wants to know first about a capture.
func writeCapture(w io.Writer, s *analysis.Summary, dir, page string) {
	out := &summary{w: w}
	f := &s.Frames
	out.printf("%s %s, %s, in %s\n\n", grouped(int64(f.Total)), metric.Plural(f.Total, "frame"), metric.Format(float64(f.Bytes), metric.Bytes), metric.Format(s.Duration, metric.Seconds))
	out.row("frames", frameText(f))
	out.row("ICRC", fmt.Sprintf("%s valid, %s invalid%s", grouped(int64(s.ICRC.Valid)), grouped(int64(s.ICRC.Invalid)), more(s.ICRC.Absent, "not captured")))
	if len(s.Connections) > 0 {
		out.row("connections", connectionText(s.Connections))
	}
	out.row("round trip", spreadText(s.RTT))
	out.row("CNP", cnpText(s))
	out.row("pause", pauseText(s))
	out.row("rules", checkText(s.Checks))
	for _, c := range s.Checks {
		if c.Violations > 0 {
			out.printf("%*s  %s: %d of %d", labelWidth-2, "BROKEN", c.Name, c.Violations, c.Tested)
			if len(c.Examples) > 0 {
				out.printf("; first at %s", c.Examples[0])
			}
			out.printf("\n")
		}
	}
	for _, n := range s.Notes {
		out.row("note", n)
	}
	qpTable(w, s.QPs)
	if page == "" {
		out.row("run", dir)
	} else {
		out.row("report", page)
	}
}

func more(n uint64, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s %s", grouped(int64(n)), what)
}

func frameText(f *analysis.Frames) string {
	text := fmt.Sprintf("%s RoCEv2", grouped(int64(f.RoCEv2)))
	for _, k := range []struct {
		n    uint64
		what string
	}{{f.RoCEv1, "RoCEv1"}, {f.InfiniBand, "InfiniBand"}, {f.PFC, "PFC"}, {f.Pause, "802.3x pause"}, {f.Fragments, "fragments"}, {f.Malformed, "malformed"}, {f.Other, "other"}, {f.Tunnelled, "of the RDMA frames in tunnels"}} {
		text += more(k.n, k.what)
	}
	return text
}

func spreadText(s *analysis.Spread) string {
	if s == nil {
		return notMeasured
	}
	t := func(v float64) string { return metric.Format(v, metric.Seconds) }
	text := fmt.Sprintf("min %s, mean %s", t(s.Min), t(s.Mean))
	if s.P50 != nil && s.P99 != nil {
		text += fmt.Sprintf(", p50 %s, p99 %s", t(*s.P50), t(*s.P99))
	}
	return text + ", max " + t(s.Max)
}

// connectionText tells of the connections that the capture saw being made.
func connectionText(list []analysis.Connection) string {
	count := map[string]int{}
	again, longest := uint64(0), 0.0
	for i := range list {
		c := &list[i]
		count[c.State]++
		again += c.Requests - min(c.Requests, 1)
		if c.Setup != nil {
			longest = max(longest, *c.Setup)
		}
	}
	text := fmt.Sprintf("%s asked for, %s made", grouped(int64(len(list))), grouped(int64(count["made"]+count["closed"])))
	if longest > 0 {
		text += fmt.Sprintf(" within %s", metric.Format(longest, metric.Seconds))
	}
	return text + more(uint64(count["closed"]), "closed again") + more(uint64(count["rejected"]), "rejected") +
		more(uint64(count["asked"]), "not answered") + more(again, "REQs repeated")
}

func cnpText(s *analysis.Summary) string {
	n := uint64(0)
	for _, q := range s.CNP {
		if q.To == "" {
			n += q.Count
		}
	}
	if n == 0 {
		return "none"
	}
	text := grouped(int64(n)) + " " + metric.Plural(n, "CNP")
	if s.CNPGaps != nil {
		text += "; of one flow apart: " + spreadText(s.CNPGaps)
	}
	return text
}

func pauseText(s *analysis.Summary) string {
	if s.Frames.PFC+s.Frames.Pause == 0 {
		return "none"
	}
	xoff, refresh, xon, worst, where := uint64(0), uint64(0), uint64(0), 0.0, ""
	for i := range s.Pauses {
		p := &s.Pauses[i]
		xoff, refresh, xon = xoff+p.Xoff, refresh+p.Refresh, xon+p.Xon
		if p.Paused != nil && *p.Paused > worst {
			worst, where = *p.Paused, fmt.Sprintf("%s, priority %d", p.Object, p.Priority)
		}
	}
	text := fmt.Sprintf("%s XOFF, %s %s, %s XON seen", grouped(int64(xoff)), grouped(int64(refresh)), metric.Plural(refresh, "refresh"), grouped(int64(xon)))
	if where != "" {
		text += fmt.Sprintf("; longest in all %s at %s", metric.Format(worst, metric.Seconds), where)
	}
	return text
}

func checkText(list []analysis.Check) string {
	tested, broken := 0, 0
	for _, c := range list {
		if c.Tested > 0 {
			tested++
		}
		if c.Violations > 0 {
			broken++
		}
	}
	if broken == 0 {
		return fmt.Sprintf("%d of %d could be put to the test, and all held", tested, len(list))
	}
	return fmt.Sprintf("%d of %d could be put to the test, %d were broken", tested, len(list), broken)
}

// qpTable writes the queue pairs with most packets.
func qpTable(w io.Writer, qps []analysis.QP) {
	if len(qps) == 0 {
		return
	}
	list := append([]analysis.QP(nil), qps...)
	if len(list) > shownQPs {
		sort.SliceStable(list, func(i, j int) bool { return list[i].Sent > list[j].Sent })
		list = list[:shownQPs]
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nfrom\tto\tservice\tQP\tanswers to\toperations\tmessages\tpayload\tpackets\tretransmitted\tgaps\tNAK\tRNR\ttimeouts\tCE\tCNP\n")
	for i := range list {
		q := &list[i]
		own := "?"
		if q.SrcQPN != nil {
			own = fmt.Sprintf("0x%06x", *q.SrcQPN)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t0x%06x\t%s\t%s\t%d of %d\t%s\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%d\n", q.Src, q.Dst, q.Service, q.QPN, own, operations(q.Operations),
			q.Completed, q.Messages, metric.Format(float64(q.Bytes), metric.Bytes), q.Sent, again(q), q.Gaps, q.Naks+q.OtherNaks, q.RNRs, q.ByTimeout, q.CE, q.CNPs)
	}
	_ = t.Flush()
	if len(qps) > len(list) {
		fmt.Fprintf(w, "and %d more in %s\n", len(qps)-len(list), analysis.FileSummary)
	}
	fmt.Fprintln(w)
}

// again tells retransmissions: all that the sender must have sent before, and
// those of them that were captured before.
func again(q *analysis.QP) string {
	if q.Late == 0 {
		return fmt.Sprint(q.Again)
	}
	return fmt.Sprintf("%d (%d captured before)", q.Again, q.Duplicates)
}

func operations(m map[string]uint64) string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	for i, n := range names {
		names[i] = fmt.Sprintf("%d %s", m[n], n)
	}
	return strings.Join(names, ", ")
}
