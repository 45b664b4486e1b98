package fabric

import "rdmasim/sim"

// Shape bounds a rate, counted in bytes on the wire, preamble and gap
// included. A rest of any length lets Burst bytes and a frame leave at once.
type Shape struct {
	Rate  sim.Rate // 0 = none
	Burst sim.Bytes
}

// shaper is a token bucket as the virtual scheduling algorithm has it: a frame
// may leave no earlier than its theoretical time less what the burst lasts.
// Source: ITU-T I.371, annex A.
type shaper struct {
	Shape
	slack sim.Duration
	next  sim.Time // theoretical time of the next frame
}

func newShaper(s Shape) shaper {
	h := shaper{Shape: s}
	if h.on() {
		h.slack = s.Rate.TxTime(s.Burst)
	}
	return h
}

func (h *shaper) on() bool { return h.Rate > 0 }

// opens returns when the next frame may leave.
func (h *shaper) opens() sim.Time {
	if !h.on() {
		return 0
	}
	return h.next.Add(-h.slack)
}

// sent books a frame that leaves now.
func (h *shaper) sent(now sim.Time, wire sim.Bytes) {
	if h.on() {
		h.next = max(h.next, now).Add(h.Rate.TxTime(wire))
	}
}
