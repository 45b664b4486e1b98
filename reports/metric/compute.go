package metric

import (
	"fmt"
	"math"

	"rdmasim/sim"
	"rdmasim/sim/stat"
	"rdmasim/sim/trace"
)

// Compute reads the tables of a run and returns its figures. Expect is empty
// until expectations are checked.
func Compute(run *trace.Run) (*Metrics, error) {
	m, complete, err := figures(run)
	if err != nil {
		return nil, err
	}
	return m, m.forensics(run, complete)
}

// ComputeWithoutForensics is Compute without the figures of which IsForensic
// says so, which are left unmeasured: where there are many messages, they take
// most of its time.
func ComputeWithoutForensics(run *trace.Run) (*Metrics, error) {
	m, _, err := figures(run)
	return m, err
}

// figures computes what needs no more than counters, messages and pauses; complete
// says that what is not there was 0.
func figures(run *trace.Run) (fig *Metrics, complete bool, err error) {
	man := &run.Manifest
	m := &Metrics{Expect: []Verdict{}, run: run}
	m.Run = Run{Name: man.Name, Mode: man.Mode, Seed: man.Seed, Partial: man.Partial, Fingerprint: man.Fingerprint,
		Simulated: number(sim.Time(man.Simulated).Seconds()), Warmup: number(sim.Time(man.Warmup).Seconds())}
	g, err := m.flows(run)
	if err != nil {
		return nil, false, err
	}
	counters, err := run.Counters()
	if err != nil {
		return nil, false, err
	}
	t := newTotals(counters, man)
	m.Run.PacketHops = t.count(trace.CountPacketHops)
	m.Goodput = g.figures(t.sum[trace.CountPayloadDelivered])
	m.Packets = Packets{
		Sent:          t.count(trace.CountDataSent),
		Delivered:     t.count(trace.CountDataDelivered),
		Retransmitted: t.count(trace.CountRetransmitted),
		Discarded:     t.count(trace.CountDiscarded),
		Dropped: Dropped{Lossless: t.count(trace.CountDropLossless), Lossy: t.count(trace.CountDropLossy),
			Fault: t.count(trace.CountDropFault), Watchdog: t.seen(trace.CountDropWatchdog)},
	}
	m.ECN = ECN{Eligible: t.count(trace.CountECNEligible), Marked: t.count(trace.CountECNMarked)}
	m.CNP = CNP{Sent: t.count(trace.CountCNPSent), Handled: t.count(trace.CountCNPHandled)}
	m.ICRC = ICRC{Valid: t.seen(trace.CountICRCValid), Invalid: t.seen(trace.CountICRCInvalid)}
	measured := sim.Time(man.Simulated).Sub(sim.Time(man.Warmup))
	if m.PFC, err = pfcFigures(run, t, counters, measured); err != nil {
		return nil, false, err
	}
	m.Watchdog, m.GlobalPause = watchdogFigures(t), globalPauses(t)
	m.Queue = worstQueue(counters, &run.Topology, measured)
	m.Headroom = mostUsedHeadroom(counters)
	m.Faults = faults(counters)
	return m, t.complete, nil
}

// totals are the sums of counters over all objects, by name. A name is counted
// at one level (port, queue, host): the sum counts nothing twice.
type totals struct {
	sum      map[string]*float64
	complete bool // what is not there was 0
}

// newTotals sums counters. In a simulation every event is counted, so that a
// counter that nobody wrote is one that stayed at 0; elsewhere it is unknown.
func newTotals(counters []trace.Counter, man *trace.Manifest) totals {
	t := totals{sum: map[string]*float64{}, complete: man.Mode == trace.ModeSimulated && len(counters) > 0}
	for i := range counters {
		c := &counters[i]
		if math.IsNaN(c.Value) || math.IsInf(c.Value, 0) {
			continue
		}
		if t.sum[c.Name] == nil {
			t.sum[c.Name] = new(float64)
		}
		*t.sum[c.Name] += c.Value
	}
	return t
}

// seen returns the sum of a counter as a whole number, nil if nobody wrote it.
func (t totals) seen(name string) *int64 {
	v := t.sum[name]
	if v == nil || math.Abs(*v) >= 1<<63 {
		return nil
	}
	n := int64(math.Round(*v))
	return &n
}

// count is seen, but 0 for what a simulation did not write.
func (t totals) count(name string) *int64 {
	if n := t.seen(name); n != nil || !t.complete {
		return n
	}
	return new(int64)
}

// flows computes the figures of messages and collects the goodput of queue pairs.
func (m *Metrics) flows(run *trace.Run) (*goodputs, error) {
	g := newGoodputs(sim.Time(run.Manifest.Warmup), sim.Time(run.Manifest.Simulated))
	m.Completions = map[string]int{}
	var fct, slowdown []float64
	for f, err := range run.Flows() {
		if err != nil {
			return nil, err
		}
		m.Flows.Total++
		m.Flows.Bytes += int64(f.Bytes)
		m.Flows.Delivered += int64(f.Delivered)
		g.add(&f)
		if f.End < 0 || f.Status == trace.StatusUnfinished {
			continue
		}
		m.Completions[shortStatus(f.Status)]++
		if f.Status != trace.StatusSuccess {
			m.Flows.Failed++
			continue
		}
		m.Flows.Completed++
		if d, ok := f.FCT(); ok {
			fct = append(fct, d.Seconds())
		}
		if s, ok := f.Slowdown(); ok {
			slowdown = append(slowdown, s)
		}
	}
	if m.Flows.Bytes < 0 || m.Flows.Delivered < 0 {
		return nil, fmt.Errorf("%s: the sizes of the messages add up to more than 2^63 bytes", run.Path(trace.FileFlows))
	}
	m.Flows.FCT, m.Flows.Slowdown = dist(fct), dist(slowdown)
	return g, nil
}

func dist(samples []float64) Dist {
	s, ok := stat.Summarize(samples)
	if !ok {
		return Dist{}
	}
	return Dist{Mean: number(s.Mean), P50: number(s.P50), P95: number(s.P95), P99: number(s.P99), Max: number(s.Max)}
}
