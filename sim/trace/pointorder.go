package trace

import (
	"slices"

	"rdmasim/sim"
)

// pointOrder is the memory in which the points of a batch are ordered.
type pointOrder struct {
	list, sorted []*Point
	times        []sim.Time // of the batch, in order
	starts       []int32    // by time or object: where its points begin
}

// sortedPoints returns the points of a batch by time, then by object, then as
// they lie in the sinks. A large fabric has tens of thousands of points in a
// bin, and objects are small numbers: they are counted rather than compared.
func (w *Writer) sortedPoints(sinks []*Sink) []*Point {
	o := &w.order
	o.list, o.times = o.list[:0], o.times[:0]
	objects := 0
	for _, s := range sinks {
		if s == nil {
			continue
		}
		for j := range s.Points {
			p := &s.Points[j]
			objects = max(objects, int(p.Object)+1)
			o.list = append(o.list, p)
			o.note(p.Time)
		}
	}
	o.sorted = slices.Grow(o.sorted[:0], len(o.list))[:len(o.list)]
	if objects*len(o.times) > 4*len(o.list) {
		return w.compared()
	}
	// By object first: counting keeps the order of what is equal.
	o.count(objects, func(p *Point) int { return int(p.Object) })
	if len(o.times) > 1 {
		o.list, o.sorted = o.sorted, o.list
		o.count(len(o.times), func(p *Point) int { i, _ := slices.BinarySearch(o.times, p.Time); return i })
	}
	return o.sorted
}

// note adds a time to those of the batch.
func (o *pointOrder) note(t sim.Time) {
	if n := len(o.times); n > 0 && o.times[n-1] == t {
		return
	}
	if i, found := slices.BinarySearch(o.times, t); !found {
		o.times = slices.Insert(o.times, i, t)
	}
}

// count moves the list to sorted, in the order of a number below n.
func (o *pointOrder) count(n int, number func(*Point) int) {
	o.starts = append(o.starts[:0], make([]int32, n+1)...)
	for _, p := range o.list {
		o.starts[number(p)+1]++
	}
	for i := range n {
		o.starts[i+1] += o.starts[i]
	}
	for _, p := range o.list {
		i := number(p)
		o.sorted[o.starts[i]] = p
		o.starts[i]++
	}
}

// compared orders few points of many objects or times.
func (w *Writer) compared() []*Point {
	o := &w.order
	w.resetKeys()
	for i, p := range o.list {
		w.keys = append(w.keys, sortKey{time: p.Time, major: uint32(p.Object), row: int32(i)})
	}
	for i, k := range w.sorted() {
		o.sorted[i] = o.list[k.row]
	}
	return o.sorted
}
