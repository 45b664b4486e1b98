package page

import (
	"fmt"
	"sort"

	"rdmasim/reports/figure"
	"rdmasim/reports/metric"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Tile is one key figure.
type Tile struct {
	Label, Value, Note string
	Bad                bool
}

const notMeasured = "not measured"

// tiles picks the figures that people look for first.
func tiles(r *figure.Run) []Tile {
	m := r.Metrics
	show := func(v *float64, print func(float64) string) string {
		if v == nil {
			return notMeasured
		}
		return print(*v)
	}
	count := func(v *int64) string {
		if v == nil {
			return notMeasured
		}
		return figure.Whole(*v)
	}
	marked := notMeasured
	note := ""
	if m.ECN.Marked != nil {
		marked, note = figure.Whole(*m.ECN.Marked), "packets"
		if m.ECN.Eligible != nil && *m.ECN.Eligible > 0 {
			marked = figure.Share(float64(*m.ECN.Marked) / float64(*m.ECN.Eligible))
			note = figure.Count(*m.ECN.Marked, "packet")
		}
	}
	list := []Tile{
		{Label: "Messages completed", Value: figure.Whole(m.Flows.Completed), Note: "of " + figure.Whole(m.Flows.Total), Bad: m.Flows.Failed > 0},
		{Label: "FCT, 99th percentile", Value: show(m.Flows.FCT.P99, figure.Seconds), Note: "median " + show(m.Flows.FCT.P50, figure.Seconds)},
		{Label: "Slowdown, 99th percentile", Value: show(m.Flows.Slowdown.P99, figure.Number), Note: "median " + show(m.Flows.Slowdown.P50, figure.Number)},
		{Label: "Goodput", Value: show(m.Goodput.Total, figure.Bitrate), Note: "Jain's index " + show(m.Goodput.Jain, figure.Fraction)},
		{Label: "Longest queue", Value: show(m.Queue.Max, figure.Size), Note: m.Queue.Where},
		{Label: "Marked (CE)", Value: marked, Note: note},
		{Label: "CNPs sent", Value: count(m.CNP.Sent)},
		{Label: "Pause episodes", Value: count(m.PFC.Episodes), Note: "paused " + show(m.PFC.Paused, figure.Seconds)},
	}
	return append(list, dropTile(m))
}

func dropTile(m *metric.Metrics) Tile {
	d := &m.Packets.Dropped
	t := Tile{Label: "Packets dropped", Value: notMeasured}
	sum := int64(0)
	known := false
	for _, n := range []*int64{d.Lossless, d.Lossy, d.Fault, d.Watchdog} {
		if n != nil {
			known = true
			sum += *n
		}
	}
	if known {
		t.Value = figure.Whole(sum)
	}
	if d.Lossless != nil {
		t.Note = figure.Whole(*d.Lossless) + " in lossless classes"
		t.Bad = *d.Lossless > 0
	}
	return t
}

type expectation struct {
	Text, Value, Why string
	OK               bool
}

func expectations(m *metric.Metrics) []expectation {
	var out []expectation
	for _, e := range m.Expect {
		x := expectation{Text: e.Text, Value: notMeasured, Why: e.Why, OK: e.OK}
		if e.Value != nil {
			x.Value = metric.Format(*e.Value, unitOf(e.Text))
		}
		out = append(out, x)
	}
	return out
}

// unitOf returns the unit of the figure with which an expectation begins.
func unitOf(text string) string {
	best := ""
	unit := metric.Count
	for _, p := range metric.Paths() {
		if len(p.Name) > len(best) && len(text) >= len(p.Name) && text[:len(p.Name)] == p.Name {
			best, unit = p.Name, p.Unit
		}
	}
	return unit
}

type metricRow struct{ Name, Value, Doc string }

// metricRows lists every figure of metrics.json with its definition.
func metricRows(m *metric.Metrics) []metricRow {
	var rows []metricRow
	for _, p := range metric.Paths() {
		v, ok := m.Lookup(p.Name)
		row := metricRow{p.Name, notMeasured, p.Doc}
		if ok {
			row.Value = metric.Format(v, p.Unit)
		}
		if len(p.Name) > 12 && p.Name[:12] == "completions." && v == 0 {
			continue // statuses that did not occur
		}
		rows = append(rows, row)
	}
	return rows
}

func slowest(r *figure.Run) figure.Table {
	t := figure.Table{Head: []string{"message", "from", "to", "workload", "size", "posted at", "FCT", "ideal", "slowdown", "retransmits"}}
	for i := range r.Flows.Slowest {
		f := &r.Flows.Slowest[i]
		fct, _ := f.FCT()
		row := []string{f.Name(), f.Src, f.Dst, f.Workload, figure.Size(float64(f.Bytes)), figure.Seconds(f.Start.Seconds()),
			figure.Seconds(fct.Seconds()), "not known", "–", "not measured"}
		if f.Retransmits != trace.RetransmitsUnknown {
			row[9] = figure.Whole(f.Retransmits)
		}
		if s, ok := f.Slowdown(); ok {
			row[7], row[8] = figure.Seconds(f.Ideal.Seconds()), figure.Number(s)
		}
		t.Rows = append(t.Rows, row)
	}
	if n := len(r.Flows.FCT); n > len(t.Rows) {
		t.Note = fmt.Sprintf("The %s slowest of %s that completed.", figure.Whole(len(t.Rows)), figure.Whole(n))
	}
	return t
}

func moments(r *figure.Run) figure.Table {
	t := figure.Table{Head: []string{"time", "what", "where", "peer", "priority", "cause"}}
	for _, e := range r.Moments {
		prio := ""
		if e.Prio >= 0 {
			prio = fmt.Sprint(e.Prio)
		}
		t.Rows = append(t.Rows, []string{figure.Seconds(e.Time.Seconds()), string(e.Kind), e.Object, e.Peer, prio, e.Cause})
	}
	if r.MoreMoments > 0 {
		t.Note = fmt.Sprintf("The first %s; %s more are in events.parquet.", figure.Whole(len(t.Rows)), figure.Whole(r.MoreMoments))
	}
	return t
}

type definition struct{ Term, Text string }

// definitions are those of every report of this program.
func definitions() []definition {
	return []definition{
		{"Goodput", "Payload delivered in order between the first byte sent and the last completion, warm-up excluded. Headers and retransmissions do not count."},
		{"FCT", "Flow completion time: from posting a message to its completion at the sender, which has the last acknowledgement."},
		{"Ideal FCT", "What the same message takes alone on the same path: propagation and latency both ways, one frame at every store-and-forward hop except the slowest link, all frames there, and the final ACK."},
		{"Slowdown", "FCT divided by ideal FCT; 1 is perfect."},
		{"Quantile", "p50, p95 and p99 are samples that occurred: the sorted sample at position floor(p n), without interpolation."},
		{"Packet-hop", "One transmission of one packet (data, ACK, CNP or PFC) on one link."},
		{"Jain's index", "(sum x)² / (n sum x²) of n rates x: 1 when all are alike, 1/n when one has everything."},
		{"Utilisation", "Bits sent on the wire, preamble and gap included, divided by what the link could carry in that time."},
		{"XOFF threshold", "Use of the shared buffer by one port and priority of the ingress side above which the switch pauses its peer; with dynamic thresholds it falls as the buffer fills."},
		{"Pause episode", "From the moment at which a priority of a port must stop until it may send again; refreshes of a pause are part of it."},
		{"Port-priority seconds", "Paused time added up over all ports and priorities."},
		{"Fingerprint", "SHA-256 over the rows of flows, events and counters in the order of time, node and sequence: equal fingerprints are equal results."},
		{"Units", "1 KB is 1000 bytes, 1 KiB is 1024 bytes; rates are in bits per second."},
	}
}

// repro is what is needed to get the same results again.
func repro(r *figure.Run) []definition {
	m := &r.Manifest
	list := []definition{
		{"Scenario", m.Name},
		{"Seed", fmt.Sprint(m.Seed)},
		{"Mode", m.Mode},
		{"Simulated time", figure.Seconds(sim.Time(m.Simulated).Seconds())},
		{"Fingerprint", m.Fingerprint},
		{"Hash of the scenario", m.ScenarioHash},
	}
	if m.Compat != "" && m.Compat != "none" {
		list = append(list, definition{"Rules of", m.Compat})
	}
	names := make([]string, 0, len(m.Versions))
	for n := range m.Versions {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		list = append(list, definition{"Version of " + n, m.Versions[n]})
	}
	return list
}
