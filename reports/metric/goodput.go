package metric

import (
	"cmp"
	"slices"

	"rdmasim/sim"
	"rdmasim/sim/stat"
	"rdmasim/sim/trace"
)

// QPGoodput is what one queue pair delivered.
type QPGoodput struct {
	Src, Dst string // Dst is that of its first message
	QP       uint32
	Bytes    float64  // payload delivered in order, warm-up excluded
	From, To sim.Time // from its first posting (or the end of the warm-up) to its last completion (or the end of the run)
}

// Rate returns the goodput in bit/s, 0 if it had no time.
func (q *QPGoodput) Rate() float64 {
	if q.To <= q.From {
		return 0
	}
	return q.Bytes * 8 / q.To.Sub(q.From).Seconds()
}

// GoodputByQP returns the goodput of every queue pair that was at work after
// the warm-up, by source and number.
func GoodputByQP(run *trace.Run) ([]QPGoodput, error) {
	g := newGoodputs(sim.Time(run.Manifest.Warmup), sim.Time(run.Manifest.Simulated))
	for f, err := range run.Flows() {
		if err != nil {
			return nil, err
		}
		g.add(&f)
	}
	return g.list(), nil
}

type qpKey struct {
	src string
	qp  uint32
}

// goodputs adds up what queue pairs delivered.
type goodputs struct {
	warmup, end sim.Time
	qps         map[qpKey]*QPGoodput
	free        map[qpKey]sim.Time // when the last message so far of a queue pair had ended
}

func newGoodputs(warmup, end sim.Time) *goodputs {
	return &goodputs{warmup: warmup, end: end, qps: map[qpKey]*QPGoodput{}, free: map[qpKey]sim.Time{}}
}

// add takes one message, after those of its queue pair that ended before it: a
// queue pair sends its messages in order, so that one begins when it is posted
// or when the one before it has ended. Of one that began during the warm-up the
// share counts that it would have delivered after it at an even rate.
func (g *goodputs) add(f *trace.Flow) {
	from, to := max(f.Start, g.warmup), f.End
	if to < 0 {
		to = g.end
	}
	k := qpKey{f.Src, f.QP}
	begin := max(f.Start, g.free[k])
	g.free[k] = max(g.free[k], to)
	if f.Start < 0 || to <= from {
		return
	}
	bytes := float64(f.Delivered)
	if begin < from {
		bytes *= float64(to.Sub(from)) / float64(to.Sub(begin))
	}
	q := g.qps[k]
	if q == nil {
		q = &QPGoodput{Src: f.Src, Dst: f.Dst, QP: f.QP, From: from, To: to}
		g.qps[k] = q
	}
	q.Bytes += bytes
	q.From, q.To = min(q.From, from), max(q.To, to)
}

func (g *goodputs) list() []QPGoodput {
	out := make([]QPGoodput, 0, len(g.qps))
	for _, q := range g.qps {
		out = append(out, *q)
	}
	slices.SortFunc(out, func(a, b QPGoodput) int { return cmp.Or(cmp.Compare(a.Src, b.Src), cmp.Compare(a.QP, b.QP)) })
	return out
}

// figures returns goodput_bps. counted is the payload that receivers counted
// after the warm-up: exact, where messages that straddle it are only a share.
func (g *goodputs) figures(counted *float64) Goodput {
	list := g.list()
	if len(list) == 0 {
		return Goodput{}
	}
	all := QPGoodput{From: list[0].From, To: list[0].To}
	rates := make([]float64, 0, len(list))
	for i := range list {
		q := &list[i]
		all.Bytes += q.Bytes
		all.From, all.To = min(all.From, q.From), max(all.To, q.To)
		rates = append(rates, q.Rate())
	}
	if counted != nil {
		all.Bytes = *counted
	}
	return Goodput{Total: number(all.Rate()), Min: number(slices.Min(rates)), Max: number(slices.Max(rates)), Jain: number(stat.Jain(rates))}
}
