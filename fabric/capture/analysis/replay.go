package analysis

import (
	"rdmasim/sim"
)

// Replay collects the messages of a capture, so that a scenario can send them
// again. What is beyond Limit is counted and not kept.
type Replay struct {
	Limit    int
	Messages []Message
	Left     uint64
	MTU      int
}

// Message is one message of a capture.
type Message struct {
	Src, Dst string
	Verb     string
	Bytes    sim.Bytes
	Start    sim.Time
	SrcPort  uint16
	QPN      uint32
}

func (r *Replay) keep(s *stream, m *message) {
	if len(r.Messages) >= r.Limit {
		r.Left++
		return
	}
	r.MTU = max(r.MTU, s.mtu)
	r.Messages = append(r.Messages, Message{Src: s.from.name, Dst: s.to.name, Verb: m.verbName(), Bytes: sim.Bytes(m.bytes()), Start: m.start, SrcPort: s.sport, QPN: s.key.qp})
}
