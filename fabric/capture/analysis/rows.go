package analysis

import (
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Kinds of events of a capture.
const (
	evNak     = trace.EventNAK
	evRNR     = trace.EventRNR
	evTimeout = trace.EventTimeout
	evCNP     = trace.EventCNP
	evGap     = trace.EventKind("gap")   // packets that were not seen; Value is how many
	evCheck   = trace.EventKind("check") // a rule of transport did not hold
)

// event reports what happened to a stream.
func (a *Analyzer) event(kind trace.EventKind, s *stream, value float64, why string) {
	id := trace.ObjectID(0)
	if s != nil {
		id = s.object
	}
	a.eventOn(kind, id, -1, value, why)
}

func (a *Analyzer) eventOn(kind trace.EventKind, id trace.ObjectID, prio int8, value float64, why string) {
	if a.opt.Sink == nil {
		return
	}
	if a.events++; a.events > maxEvents {
		return
	}
	a.opt.Sink.Event(trace.Event{Time: a.now, Kind: kind, Object: id, Prio: prio, Value: value, Cause: why})
}

// finishMessage takes a message off the list of a requester and reports it.
func (a *Analyzer) finishMessage(s *stream, i int, status string) {
	m := s.out.list[i]
	s.out.list = append(s.out.list[:i], s.out.list[i+1:]...)
	a.waiting--
	s.messages++
	if !m.headed || !m.complete && status == statusSuccess {
		s.partial++
	}
	end := a.now
	got := sim.Bytes(m.bytes())
	if status == statusSuccess {
		s.delivered++
		s.payload += m.bytes()
	}
	if status == statusUnfinished {
		end = -1
		got = 0
		if s.una > m.first {
			got = sim.Bytes(min((s.una-m.first)*uint64(m.mtu), m.bytes()))
		}
	}
	a.flowID++
	if end < 0 {
		a.open++
	}
	if a.flowID > maxFlows || end < 0 && a.open > maxOpen {
		a.unlisted++
	} else if a.opt.Sink != nil {
		a.opt.Sink.Flow(trace.Flow{ID: a.flowID, Src: s.from.name, Dst: s.to.name, QP: s.key.qp, Workload: "capture", Verb: m.verbName(),
			Bytes: sim.Bytes(m.bytes()), Start: m.start, End: end, Delivered: got, Retransmits: m.retx, Status: status})
	}
	if m.complete && a.keep != nil {
		a.keep(s, &m)
	}
}

// abandon ends the messages of a connection that another one has replaced.
func (a *Analyzer) abandon(s *stream) {
	for len(s.out.list) > 0 {
		a.finishMessage(s, 0, statusUnfinished)
	}
	clear(s.stamps)
}
