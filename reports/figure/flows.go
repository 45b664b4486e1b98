package figure

import (
	"sort"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// keepFlows bounds how many rows of messages are kept whole for tables.
const keepFlows = 20

// FlowSet holds what figures need of all messages, by columns.
type FlowSet struct {
	Total, Unfinished int
	Workloads         []string // in order of first appearance
	FCT               []float64
	Slowdown          []float64 // 0 = ideal not known
	Bytes             []float64
	End               []sim.Time
	Workload          []uint16
	Slowest           []trace.Flow // completed, by slowdown (FCT where none), worst first
	active            map[trace.Object][]bool
}

// pingWorkload is the workload whose FCTs are latencies under load.
const pingWorkload = "ping_mesh"

func (s *FlowSet) add(f *trace.Flow, c Clock, warmup sim.Time) {
	s.Total++
	s.markActive(f, c)
	fct, ok := f.FCT()
	if !ok {
		s.Unfinished++
		return
	}
	if f.Start < warmup {
		return
	}
	w := -1
	for i, name := range s.Workloads {
		if name == f.Workload {
			w = i
		}
	}
	if w < 0 {
		if len(s.Workloads) < 1<<16-1 {
			s.Workloads = append(s.Workloads, f.Workload)
		}
		w = len(s.Workloads) - 1
	}
	slow, _ := f.Slowdown()
	s.FCT = append(s.FCT, fct.Seconds())
	s.Slowdown = append(s.Slowdown, slow)
	s.Bytes = append(s.Bytes, float64(f.Bytes))
	s.End = append(s.End, f.End)
	s.Workload = append(s.Workload, uint16(w))
	s.keepSlow(*f)
}

func slowness(f *trace.Flow) float64 {
	if v, ok := f.Slowdown(); ok {
		return v
	}
	fct, _ := f.FCT()
	return fct.Seconds()
}

func (s *FlowSet) keepSlow(f trace.Flow) {
	if n := len(s.Slowest); n == keepFlows && slowness(&f) <= slowness(&s.Slowest[n-1]) {
		return
	}
	i := sort.Search(len(s.Slowest), func(i int) bool { return slowness(&s.Slowest[i]) < slowness(&f) })
	s.Slowest = append(s.Slowest, trace.Flow{})
	copy(s.Slowest[i+1:], s.Slowest[i:])
	s.Slowest[i] = f
	if len(s.Slowest) > keepFlows {
		s.Slowest = s.Slowest[:keepFlows]
	}
}

// markActive notes in which columns a queue pair had a message outstanding
// from border to border.
func (s *FlowSet) markActive(f *trace.Flow, c Clock) {
	if f.Start < 0 {
		return
	}
	if s.active == nil {
		s.active = map[trace.Object][]bool{}
	}
	key := qpName(f.Src, f.QP)
	a := s.active[key]
	if a == nil {
		a = make([]bool, c.Columns)
		s.active[key] = a
	}
	end := f.End
	if end < 0 {
		end = c.End
	}
	for i := int((int64(f.Start) + int64(c.Width) - 1) / int64(c.Width)); i < c.Columns; i++ {
		if sim.Time(c.Width)*sim.Time(i)+sim.Time(c.span(i)) > end {
			break
		}
		a[i] = true
	}
}

// values returns column v of the messages of one workload (-1 = all), sorted
// ascending, without zeros.
func (s *FlowSet) values(v []float64, workload int) []float64 {
	out := make([]float64, 0, len(v))
	for i, x := range v {
		if x > 0 && (workload < 0 || int(s.Workload[i]) == workload) {
			out = append(out, x)
		}
	}
	sort.Float64s(out)
	return out
}

// quantile is sorted[floor(p n)], the definition of every report; 0 of nothing.
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}
