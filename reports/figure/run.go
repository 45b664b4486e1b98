package figure

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"rdmasim/reports/metric"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Run is a run directory as figures need it: in bounded memory, whatever the
// size of the run.
type Run struct {
	*trace.Run
	Metrics     *metric.Metrics
	Clock       Clock
	Series      map[string][]*Series // by metric, in order of object
	Flows       FlowSet
	Pauses      []*Pause       // longest paused first
	Forensics   *metric.Pauses // roots of pauses, their trees and victims
	Diagnosis   *metric.DiagnosisFile
	Moments     []trace.EventRow // faults, watchdogs, deadlocks, links up and down
	MoreMoments int              // left out of Moments
	Watchdogs   []*Pause         // queues that a watchdog took out of service, longest first
	Spans       []FaultSpan      // times of faults, in order
	Causes      []Cause          // of drops, most bytes first
	Markings    []Marking        // ECN as configured
	PortRate    map[trace.Object]int64
	PortPeer    map[trace.Object]trace.Object

	counters map[string][]trace.Counter
}

// Cause is why packets were dropped at one place.
type Cause struct {
	Where   trace.Object
	Why     string
	Packets int
	Bytes   float64
}

const (
	keepMoments = 60
	keepCauses  = 4096
)

// Load reads a run directory. Its figures are those of metrics.json; a run
// without that file has them computed.
func Load(dir string) (*Run, error) {
	base, err := trace.Open(dir)
	if err != nil {
		return nil, err
	}
	m, err := metric.Load(dir)
	if absent(err) {
		m, err = metric.Compute(base)
	}
	if err != nil {
		return nil, err
	}
	return load(base, m)
}

func load(base *trace.Run, m *metric.Metrics) (*Run, error) {
	if err := base.Whole(); err != nil {
		return nil, err
	}
	r := &Run{Run: base, Metrics: m, counters: map[string][]trace.Counter{}}
	r.ports()
	r.Markings = markings(base.Resolved)
	bin := durationValue(lookup(base.Resolved, "series", "interval"))
	set := newSeriesSet(newClock(silence(base), sim.Time(base.Manifest.Simulated), bin))
	for p, err := range base.Points("", nil) {
		if absent(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		set.add(p)
	}
	r.Clock, r.Series = set.clock, set.finish()
	r.addReads()
	if err := r.loadFlows(); err != nil {
		return nil, err
	}
	if err := r.loadEvents(); err != nil {
		return nil, err
	}
	var err error
	if r.Forensics, err = metric.LoadPauses(base); err != nil && !absent(err) {
		return nil, err
	}
	if r.Diagnosis, err = metric.LoadDiagnosis(base); err != nil && !absent(err) {
		return nil, err
	}
	list, err := base.Counters()
	if err != nil && !absent(err) {
		return nil, err
	}
	for _, c := range list {
		if !drawable(c.Value) {
			continue
		}
		r.counters[c.Name] = append(r.counters[c.Name], c)
	}
	return r, nil
}

// silence returns when the first message began, if the warm-up ended there and
// was longer than all that followed: figures begin there. Otherwise it is 0.
func silence(base *trace.Run) sim.Time {
	warmup := sim.Time(base.Manifest.Warmup)
	if warmup <= sim.Time(base.Manifest.Simulated)/2 {
		return 0
	}
	for f, err := range base.Flows() {
		if err != nil || f.Start >= 0 && f.Start < warmup {
			return 0
		}
	}
	return warmup
}

// absent tells a run without a table (another mode, an older writer) from a
// run with a broken one.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func (r *Run) loadFlows() error {
	r.Flows = newFlowSet()
	for _, metric := range []string{trace.SeriesGoodput, trace.SeriesRate, trace.SeriesAlpha} {
		for _, s := range r.Series[metric] {
			if r.Flows.busy[s.Object] == nil {
				r.Flows.busy[s.Object] = make([]float32, r.Clock.Columns)
			}
		}
	}
	for f, err := range r.Run.Flows() {
		if absent(err) {
			break
		}
		if err != nil {
			return err
		}
		r.Flows.add(&f, r.Clock)
	}
	return nil
}

// ports notes rate and peer of every transmitting side.
func (r *Run) ports() {
	r.PortRate, r.PortPeer = map[trace.Object]int64{}, map[trace.Object]trace.Object{}
	for _, l := range r.Topology.Links {
		a := portName(r.Topology.Nodes[l.A].Name, l.APort)
		b := portName(r.Topology.Nodes[l.B].Name, l.BPort)
		r.PortRate[a], r.PortRate[b] = l.RateAB, l.RateBA
		r.PortPeer[a], r.PortPeer[b] = b, a
	}
}

func portName(node string, port int) string { return node + ":" + strconv.Itoa(port) }

func qpName(host string, qp uint32) string { return host + "/qp" + strconv.FormatUint(uint64(qp), 10) }

// splitQueue takes leaf0:5/q3 or leaf0:5/pg3 apart.
func splitQueue(o trace.Object) (port trace.Object, prio int, ok bool) {
	port, tail, found := strings.Cut(o, "/")
	if !found {
		return o, 0, false
	}
	n, err := strconv.Atoi(strings.TrimLeft(tail, "pgq"))
	return port, n, err == nil
}

// NodeOf returns the node of a port, queue or queue pair.
func NodeOf(o trace.Object) string {
	if i := strings.IndexAny(o, ":/"); i >= 0 {
		return o[:i]
	}
	return o
}

// Counter returns the counters of one name, in order of object and priority.
func (r *Run) Counter(name string) []trace.Counter { return r.counters[name] }

// CounterSum adds up the counters of one name; ok is false if there are none.
func (r *Run) CounterSum(name string) (sum float64, ok bool) {
	for _, c := range r.counters[name] {
		sum += c.Value
	}
	return sum, len(r.counters[name]) > 0
}

// CounterMax returns the largest counter of one name; ok is false if there are none.
func (r *Run) CounterMax(name string) (top trace.Counter, ok bool) {
	for _, c := range r.counters[name] {
		if !ok || c.Value > top.Value {
			top, ok = c, true
		}
	}
	return top, ok
}

// CounterOf returns one counter.
func (r *Run) CounterOf(name string, o trace.Object, prio int8) (float64, bool) {
	for _, c := range r.counters[name] {
		if c.Object == o && c.Prio == prio {
			return c.Value, true
		}
	}
	return 0, false
}

// portPrio prints a port and priority as people write it.
func portPrio(o trace.Object, prio int8) string {
	if prio < 0 {
		return o
	}
	return fmt.Sprintf("%s p%d", o, prio)
}
