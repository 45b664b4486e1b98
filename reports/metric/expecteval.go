package metric

import (
	"fmt"
	"math"
	"sort"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// eval computes the function on the tables of the run.
func (c *call) eval(m *Metrics) (float64, string) {
	if m == nil || m.run == nil {
		return 0, c.s + " was not measured: its run directory is not at hand"
	}
	at := m.places()
	if c.src.table != tableCounters {
		if why := c.filter.unknown(at, &m.run.Topology); why != "" {
			return 0, why
		}
	}
	var s samples
	var err error
	switch c.src.table {
	case tableSeries:
		return c.series(m, at)
	case tableEvents:
		s, err = c.events(m, at)
	case tableFlows:
		if c.name == "goodput" || c.src.column == "goodput_bps" {
			return c.goodput(m)
		}
		s, err = c.flows(m)
	case tableCounters:
		s, err = c.counters(m, at)
	}
	if err != nil {
		return 0, err.Error()
	}
	return c.over(&s)
}

// samples are the rows that a filter left, with weights where they last.
type samples struct {
	v, w        []float64
	first, last sim.Time
}

func (s *samples) add(v, w float64) { s.v, s.w = append(s.v, v), append(s.w, w) }

func (s *samples) at(t sim.Time) {
	if len(s.v) == 0 || t < s.first {
		s.first = t
	}
	if len(s.v) == 0 || t > s.last {
		s.last = t
	}
}

// over computes the function over samples.
func (c *call) over(s *samples) (float64, string) {
	if len(s.v) == 0 {
		if c.name == "count" || c.name == "sum" {
			return 0, ""
		}
		return 0, fmt.Sprintf("nothing matches: %s has no value", c.s)
	}
	low, high, sum, weight := math.Inf(1), math.Inf(-1), 0.0, 0.0
	for i, v := range s.v {
		low, high = min(low, v), max(high, v)
		sum += v * s.w[i]
		weight += s.w[i]
	}
	switch c.name {
	case "count":
		return float64(len(s.v)), ""
	case "sum":
		return sum, ""
	case "min":
		return low, ""
	case "max":
		return high, ""
	case "first":
		return s.first.Seconds(), ""
	case "last":
		return s.last.Seconds(), ""
	case "mean":
		if weight == 0 {
			return 0, ""
		}
		return sum / weight, ""
	}
	return s.quantile(c.quantile, weight), ""
}

// quantile returns the sample below which the share q of the weight lies; with
// equal weights it is sorted[floor(q n)].
func (s *samples) quantile(q, weight float64) float64 {
	order := make([]int, len(s.v))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return s.v[order[a]] < s.v[order[b]] })
	below := 0.0
	for _, i := range order {
		if below += s.w[i]; below > q*weight {
			return s.v[i]
		}
	}
	return s.v[order[len(order)-1]]
}

// events collects the values of events.
func (c *call) events(m *Metrics, at places) (s samples, err error) {
	f := &c.filter
	for e, err := range m.run.Events() {
		if err != nil {
			return s, err
		}
		if f.during(e.Time) && f.is("kind", string(e.Kind)) && f.is("cause", e.Cause) && f.is("peer", e.Peer) && f.at(at, e.Object, int(e.Prio)) {
			s.at(e.Time)
			s.add(e.Value, 1)
		}
	}
	return s, nil
}

// wants reports whether a message is meant.
func (c *call) wants(f *trace.Flow) bool {
	k := &c.filter
	return k.during(f.Start) && k.sized(f.Bytes) && k.is("src", f.Src) && k.is("dst", f.Dst) && k.is("tag", f.Tag) && k.is("workload", f.Workload) &&
		k.is("verb", f.Verb) && k.is("status", shortStatus(f.Status)) && k.is("qp", fmt.Sprint(f.QP))
}

// flows collects a column of messages. Times and slowdowns are those of
// messages that have succeeded.
func (c *call) flows(m *Metrics) (s samples, err error) {
	for f, err := range m.run.Flows() {
		if err != nil {
			return s, err
		}
		if !c.wants(&f) {
			continue
		}
		v, ok := column(&f, c.src.column)
		if (c.name == "first" || c.name == "last") && (f.End < 0 || f.Status != trace.StatusSuccess) {
			continue
		}
		if ok {
			s.at(f.End)
			s.add(v, 1)
		}
	}
	return s, nil
}

func column(f *trace.Flow, name string) (v float64, ok bool) {
	done := f.End >= 0 && f.Status == trace.StatusSuccess
	switch name {
	case "fct_s":
		d, ok := f.FCT()
		return d.Seconds(), ok && done
	case "slowdown":
		v, ok = f.Slowdown()
		return v, ok && done
	case "bytes":
		return float64(f.Bytes), true
	case "delivered_bytes":
		return float64(f.Delivered), true
	case "retransmits":
		return float64(f.Retransmits), f.Retransmits != trace.RetransmitsUnknown
	case "start_s":
		return f.Start.Seconds(), true
	case "end_s":
		return f.End.Seconds(), f.End >= 0
	}
	return 1, true
}

// goodput computes the goodput of messages together, or over their queue pairs.
func (c *call) goodput(m *Metrics) (float64, string) {
	man := &m.run.Manifest
	g := newGoodputs(sim.Time(man.Warmup), sim.Time(man.Simulated))
	for f, err := range m.run.Flows() {
		if err != nil {
			return 0, err.Error()
		}
		if c.wants(&f) {
			g.add(&f)
		}
	}
	if c.name == "goodput" {
		if v := g.figures(nil).Total; v != nil {
			return *v, ""
		}
		return 0, fmt.Sprintf("nothing matches: %s has no value", c.s)
	}
	var s samples
	for _, q := range g.list() {
		s.add(q.Rate(), 1)
	}
	return c.over(&s)
}

// counters collects the values of a counter. One that was not written is 0 if
// it is known.
func (c *call) counters(m *Metrics, at places) (s samples, err error) {
	list, err := m.run.Counters()
	if err != nil {
		return s, err
	}
	seen := false
	for i := range list {
		k := &list[i]
		if k.Name != c.src.column {
			continue
		}
		seen = true
		if c.filter.at(at, k.Object, int(k.Prio)) {
			s.add(k.Value, 1)
		}
	}
	if !seen && !knownCounters[c.src.column] {
		return s, fmt.Errorf("%s: no counter of this run has that name", c.src.name)
	}
	if why := c.filter.unknown(at, &m.run.Topology); why != "" && len(s.v) == 0 {
		return s, fmt.Errorf("%s", why)
	}
	if len(s.v) == 0 && c.name != "count" {
		s.add(0, 1)
	}
	return s, nil
}

// knownCounters are those that a simulation leaves out where they are 0.
var knownCounters = map[string]bool{
	trace.CountDropLossless: true, trace.CountDropLossy: true, trace.CountDropFault: true, trace.CountFaultCopies: true,
	trace.CountPFCXoffTx: true, trace.CountPFCXonTx: true, trace.CountPFCRefreshTx: true, trace.CountPFCXoffRx: true, trace.CountPFCXonRx: true,
	trace.CountPauseEpisodes: true, trace.CountPausedSeconds: true, trace.CountPauseLongest: true, trace.CountHeadroomMax: true,
	trace.CountHeadroomSize: true, trace.CountIngressMax: true, trace.CountECNMarked: true, trace.CountECNEligible: true,
	trace.CountQueueMax: true, trace.CountQueueIntegral: true, trace.CountQueueP99: true, trace.CountFaultPackets: true,
}
