package trace

import (
	"slices"

	"rdmasim/sim"
)

// pointOrder is the memory in which the points of a batch are ordered.
type pointOrder struct {
	list, sorted []*Point
	starts       []int32 // by object: where its points begin in sorted
}

// sortedPoints returns the points of a batch by time, then by object, then as
// they lie in the sinks.
func (w *Writer) sortedPoints(sinks []*Sink) []*Point {
	o := &w.order
	o.list = o.list[:0]
	least, most, objects := sim.Never, sim.Time(0), 0
	for _, s := range sinks {
		if s == nil {
			continue
		}
		for j := range s.Points {
			p := &s.Points[j]
			least, most, objects = min(least, p.Time), max(most, p.Time), max(objects, int(p.Object)+1)
			o.list = append(o.list, p)
		}
	}
	o.sorted = slices.Grow(o.sorted[:0], len(o.list))[:len(o.list)]
	if least == most && objects <= 4*len(o.list) {
		o.byObject(objects)
		return o.sorted
	}
	w.resetKeys()
	for i, p := range o.list {
		w.keys = append(w.keys, sortKey{time: p.Time, major: uint32(p.Object), row: int32(i)})
	}
	for i, k := range w.sorted() {
		o.sorted[i] = o.list[k.row]
	}
	return o.sorted
}

// byObject orders the points of one instant. A large fabric has tens of
// thousands of them, and objects are small numbers: they are counted rather
// than compared.
func (o *pointOrder) byObject(objects int) {
	o.starts = append(o.starts[:0], make([]int32, objects+1)...)
	for _, p := range o.list {
		o.starts[p.Object+1]++
	}
	for i := range objects {
		o.starts[i+1] += o.starts[i]
	}
	for _, p := range o.list {
		o.sorted[o.starts[p.Object]] = p
		o.starts[p.Object]++
	}
}
