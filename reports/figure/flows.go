package figure

import (
	"sort"

	"rdmasim/sim"
	"rdmasim/sim/stat"
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
	Slowest           []trace.Flow            // completed, by slowdown (FCT where none), worst first
	Peer              map[trace.Object]string // destination of each queue pair that has a goodput series
	probe             map[trace.Object]bool   // queue pairs that only send pings
	class             map[string]uint16
	busy              map[trace.Object][]float32 // share of each column, of queue pairs with a goodput series
	seen, unseen      float64                    // payload delivered by queue pairs with a goodput series, and by others
}

// Unseen returns the share of the delivered payload that belongs to queue pairs
// without a goodput series: those beyond series.max_qps.
func (s *FlowSet) Unseen() float64 {
	if s.unseen == 0 {
		return 0
	}
	return s.unseen / (s.seen + s.unseen)
}

// maxWorkloads bounds how many workloads are told apart; more share the last.
const maxWorkloads = 1000

// pingWorkload is the workload whose FCTs are latencies under load.
const pingWorkload = "ping_mesh"

func newFlowSet() FlowSet {
	return FlowSet{Peer: map[trace.Object]string{}, class: map[string]uint16{}, probe: map[trace.Object]bool{}, busy: map[trace.Object][]float32{}}
}

func (s *FlowSet) add(f *trace.Flow, c Clock) {
	s.Total++
	s.cover(f, c)
	fct, ok := f.FCT()
	if !ok {
		s.Unfinished++
		return
	}
	w, ok := s.class[f.Workload]
	if !ok {
		if len(s.Workloads) < maxWorkloads {
			s.Workloads = append(s.Workloads, f.Workload)
		}
		w = uint16(len(s.Workloads) - 1)
		if len(s.class) < maxWorkloads {
			s.class[f.Workload] = w
		}
	}
	slow, _ := f.Slowdown()
	s.FCT = append(s.FCT, fct.Seconds())
	s.Slowdown = append(s.Slowdown, slow)
	s.Bytes = append(s.Bytes, float64(f.Bytes))
	s.End = append(s.End, f.End)
	s.Workload = append(s.Workload, w)
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

// cover adds to how much of each column a queue pair had a message outstanding.
func (s *FlowSet) cover(f *trace.Flow, c Clock) {
	qp := qpName(f.Src, f.QP)
	a := s.busy[qp]
	if a == nil {
		s.unseen += float64(f.Delivered)
	} else {
		s.seen += float64(f.Delivered)
		s.Peer[qp] = f.Dst
		s.probe[qp] = f.Workload == pingWorkload
	}
	if a == nil || f.Start < 0 {
		return
	}
	end := f.End
	if end < 0 || end > c.End {
		end = c.End
	}
	for t := max(f.Start, c.Begin); t < end; {
		i := c.column(t)
		next := min(c.border(i+1), end)
		a[i] += float32(next.Sub(t).Seconds() / c.span(i).Seconds())
		t = next
	}
}

// Busy reports whether a queue pair had a message outstanding during all of
// column i.
func (s *FlowSet) Busy(qp trace.Object, i int) bool {
	a := s.busy[qp]
	return a != nil && a[i] > 0.999
}

// BusyAverage returns the mean of a series of a queue pair over the time in
// which it had a message outstanding; that over the run if there was none.
func (s *FlowSet) BusyAverage(x *Series, c Clock) float64 {
	sum, time := 0.0, 0.0
	for i, b := range s.busy[x.Object] {
		sum += float64(x.Mean[i]) * c.span(i).Seconds()
		time += min(float64(b), 1) * c.span(i).Seconds()
	}
	if time == 0 {
		return x.Average
	}
	return sum / time
}

// senders leaves out the queue pairs that only send pings, if there are
// others: they measure latency and ask for next to nothing.
func (s *FlowSet) senders(list []*Series) []*Series {
	var out []*Series
	for _, x := range list {
		if !s.probe[x.Object] {
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		return list
	}
	return out
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
	return stat.Quantile(sorted, p)
}
