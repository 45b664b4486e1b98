package metric

import (
	"iter"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// passage is a row of flows.csv with where its time went and the way that it took.
type passage struct {
	trace.Flow
	delays trace.Delays
	way    *trace.Way // nil where the run does not tell
	end    sim.Time   // completion, or the end of the run
}

// elapsed returns the time from posting to completion, or to the end of the run.
func (m *passage) elapsed() sim.Duration { return m.end.Sub(m.Start) }

// ideal returns how long what was delivered of the message would have taken alone.
func (m *passage) ideal() sim.Duration {
	d := m.Ideal
	if m.Status != trace.StatusSuccess && m.Bytes > 0 {
		d = sim.Duration(float64(d) * (float64(m.Delivered) / float64(m.Bytes)))
	}
	return min(d, m.elapsed())
}

type hostQP struct {
	host string
	qp   uint32
}

// passages yields the messages of a run. The value is used again.
func passages(run *trace.Run) iter.Seq2[*passage, error] {
	return func(yield func(*passage, error) bool) {
		ways := map[hostQP]*trace.Way{}
		for w, err := range run.Ways() {
			if err != nil {
				yield(nil, err)
				return
			}
			ways[hostQP{w.Host, w.QP}] = &w
		}
		next, stop := iter.Pull2(run.Delays())
		defer stop()
		d, err, ok := next()
		var m passage
		for f, err2 := range run.Flows() {
			if err2 != nil {
				yield(nil, err2)
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			m = passage{Flow: f, way: ways[hostQP{f.Src, f.QP}], end: f.End}
			if f.End < 0 {
				m.end = sim.Time(run.Manifest.Simulated)
			}
			if ok && d.ID == f.ID {
				m.delays = d.Delays
				d, err, ok = next()
			}
			if f.Start < 0 || m.end < f.Start {
				continue
			}
			if !yield(&m, nil) {
				return
			}
		}
	}
}
