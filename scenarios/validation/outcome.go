package validation

import (
	"io"
	"os"
	"path/filepath"

	"rdmasim/fabric/capture"
	"rdmasim/reports/metric"
	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Outcome is a run that has ended, read from its directory.
type Outcome struct {
	*trace.Run
	Spec     *scenarios.Spec
	End      sim.Time
	counters []trace.Counter
	keep     bool
}

func open(spec *scenarios.Spec, res *scenarios.Result) (*Outcome, error) {
	run, err := trace.Open(res.Dir)
	if err != nil {
		return nil, err
	}
	o := &Outcome{Run: run, Spec: spec, End: res.End}
	o.counters, err = run.Counters()
	return o, err
}

// Discard removes the run directory, unless it was asked for.
func (o *Outcome) Discard() {
	if !o.keep {
		os.RemoveAll(o.Dir)
	}
}

// Seconds is the length of the measured interval.
func (o *Outcome) Seconds() float64 { return o.End.Sub(sim.Time(o.Spec.Warmup)).Seconds() }

// Sum adds up a counter over all objects.
func (o *Outcome) Sum(name string) (sum float64) {
	for i := range o.counters {
		if o.counters[i].Name == name {
			sum += o.counters[i].Value
		}
	}
	return sum
}

// Of returns the sum over all priorities of a counter of one object.
func (o *Outcome) Of(object, name string) (sum float64) {
	for i := range o.counters {
		if c := &o.counters[i]; c.Name == name && c.Object == object {
			sum += c.Value
		}
	}
	return sum
}

// Goodput returns payload received per second of the measured interval, bit/s.
func (o *Outcome) Goodput() float64 { return o.Sum(trace.CountPayloadDelivered) * 8 / o.Seconds() }

// Goodputs returns what each queue pair delivered, by source and number.
func (o *Outcome) Goodputs() ([]metric.QPGoodput, error) { return metric.GoodputByQP(o.Run) }

// Messages returns the rows of all messages.
func (o *Outcome) Messages() (list []trace.Flow, err error) {
	for f, err := range o.Flows() {
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// Happened returns the events of a kind.
func (o *Outcome) Happened(kinds ...trace.EventKind) (list []trace.EventRow, err error) {
	for e, err := range o.Events(kinds...) {
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// Arrivals returns of each data packet that a captured host has received, in
// their order, whether it was marked.
func (o *Outcome) Arrivals() (marked []bool, err error) {
	file, err := os.Open(filepath.Join(o.Dir, scenarios.FileCapture))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := capture.NewReader(file)
	if err != nil {
		return nil, err
	}
	var rec capture.Record
	for {
		if err := r.Next(&rec); err == io.EOF {
			return marked, nil
		} else if err != nil {
			return nil, err
		}
		var f capture.Frame
		f.Decode(r.Interfaces[rec.Interface].Link, rec.Data, rec.Original)
		if rec.Direction == capture.DirIn && f.Kind == capture.KindRoCEv2 && f.Payload > 0 {
			marked = append(marked, f.CE())
		}
	}
}

// SeriesMean returns the time-weighted mean of a series from a time on, over
// all objects that have it; series are written on change.
func (o *Outcome) SeriesMean(name string, from sim.Time) (float64, error) {
	type last struct {
		at    sim.Time
		value float64
		sum   float64
	}
	objects := map[string]*last{}
	var order []*last
	for p, err := range o.Points(name, nil) {
		if err != nil {
			return 0, err
		}
		l := objects[p.Object]
		if l == nil {
			l = &last{at: from}
			objects[p.Object] = l
			order = append(order, l)
		}
		if t := max(p.Time, from); t > l.at {
			l.sum += l.value * t.Sub(l.at).Seconds()
			l.at = t
		}
		l.value = p.Mean
	}
	total := 0.0
	for _, l := range order {
		l.sum += l.value * o.End.Sub(l.at).Seconds()
		total += l.sum / o.End.Sub(from).Seconds()
	}
	return total / float64(max(len(order), 1)), nil
}
