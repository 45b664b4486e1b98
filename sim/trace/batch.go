package trace

import (
	"cmp"
	"fmt"
	"slices"

	"rdmasim/sim"
)

// sortKey is what rows of a batch are ordered by, and where the row is.
type sortKey struct {
	time  sim.Time
	seq   uint64 // of events
	major uint32 // object of a point, node of an event
	sink  int32
	row   int32
}

func compareKeys(a, b sortKey) int {
	switch {
	case a.time != b.time:
		return cmp.Compare(a.time, b.time)
	case a.major != b.major:
		return cmp.Compare(a.major, b.major)
	case a.seq != b.seq:
		return cmp.Compare(a.seq, b.seq)
	case a.sink != b.sink:
		return cmp.Compare(a.sink, b.sink)
	}
	return cmp.Compare(a.row, b.row)
}

// sorted orders the keys that were gathered.
func (w *Writer) sorted() []sortKey {
	if !slices.IsSortedFunc(w.keys, compareKeys) {
		slices.SortFunc(w.keys, compareKeys)
	}
	return w.keys
}

func (w *Writer) resetKeys() {
	w.keys = w.keys[:0]
	if cap(w.keys) > 1<<17 {
		w.keys = nil
	}
}

func (w *Writer) writePoints(sinks []*Sink) error {
	for _, p := range w.sortedPoints(sinks) {
		err := w.series.add(pointRow{TimeS: p.Time.Seconds(), Object: clean(w.names.Name(p.Object)), Metric: p.Metric,
			Value: p.Mean, Min: p.Min, Max: p.Max, TimePS: int64(p.Time)})
		if err != nil {
			return fmt.Errorf("%s: %w", FileSeries, err)
		}
	}
	return nil
}

func (w *Writer) writeEvents(sinks []*Sink) error {
	w.resetKeys()
	for i, s := range sinks {
		if s == nil {
			continue
		}
		for j := range s.Events {
			e := &s.Events[j]
			w.keys = append(w.keys, sortKey{time: e.Time, major: uint32(e.Node), seq: e.Seq, sink: int32(i), row: int32(j)})
		}
	}
	keys := w.sorted()
	if len(keys) == 0 {
		return nil
	}
	if w.events.n > 0 && compareKeys(keys[0], w.last.event) < 0 {
		return fmt.Errorf("%s: an event at %v came after the batch that reached %v", FileEvents, keys[0].time, w.last.event.time)
	}
	w.last.event = keys[len(keys)-1]
	w.last.event.sink, w.last.event.row = -1, -1
	for _, k := range keys {
		e := &sinks[k.sink].Events[k.row]
		r := EventRow{Time: e.Time, Node: e.Node, Seq: e.Seq, Kind: e.Kind, Object: clean(w.names.Name(e.Object)),
			Peer: clean(w.names.Name(e.Peer)), Prio: e.Prio, Value: e.Value, Cause: clean(e.Cause)}
		w.print.event(&r)
		err := w.events.add(eventRow{TimeS: r.Time.Seconds(), Node: r.Node, Seq: r.Seq, Kind: string(r.Kind), Object: r.Object,
			Peer: r.Peer, Prio: int32(r.Prio), Value: r.Value, Cause: r.Cause, TimePS: int64(r.Time)})
		if err != nil {
			return fmt.Errorf("%s: %w", FileEvents, err)
		}
	}
	return nil
}

func compareFlows(a, b *Flow) int {
	return cmp.Or(cmp.Compare(a.End, b.End), natural(a.Src, b.Src), cmp.Compare(a.ID, b.ID))
}

func (w *Writer) writeFlows(sinks []*Sink) error {
	w.batch = w.batch[:0]
	for _, s := range sinks {
		if s == nil {
			continue
		}
		for j := range s.Flows {
			f := &s.Flows[j]
			if f.End < 0 {
				w.open = append(w.open, *f)
				continue
			}
			w.batch = append(w.batch, f)
		}
	}
	slices.SortStableFunc(w.batch, compareFlows)
	for i, f := range w.batch {
		if i == 0 && w.manifest.Rows.Flows > 0 && compareFlows(f, &w.last.flow) < 0 {
			return fmt.Errorf("%s: message %d of %s, complete at %v, came after the batch that reached %v", FileFlows, f.ID, f.Src, f.End, w.last.flow.End)
		}
		if err := w.writeFlow(*f); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) writeFlow(f Flow) error {
	w.last.flow = f
	f.normal()
	if err := f.check(); err != nil {
		return fmt.Errorf("%s: message %d of %s: %w", FileFlows, f.ID, f.Src, err)
	}
	w.print.flow(&f)
	w.manifest.Rows.Flows++
	w.line = appendFlow(w.line[:0], &f)
	if _, err := w.flows.Write(w.line); err != nil {
		return fmt.Errorf("%s: %w", FileFlows, err)
	}
	if f.Delays.Measured {
		w.line = appendDelays(w.line[:0], &f)
		if _, err := w.delays.Write(w.line); err != nil {
			return fmt.Errorf("%s: %w", FileDelays, err)
		}
	}
	return nil
}
