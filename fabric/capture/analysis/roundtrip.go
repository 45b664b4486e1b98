package analysis

import "rdmasim/sim"

// stamp is when a packet was sent.
type stamp struct {
	number uint32 // the lower bits
	again  bool   // more than once: its ACK is of nobody knows which
	asks   bool   // for an ACK
	at     sim.Time
}

// stamp remembers when a packet was sent that an ACK may name.
func (a *Analyzer) stamp(s *stream, number uint64, again, asks bool) {
	if s.stamps == nil {
		if a.timed >= maxTimed {
			return
		}
		a.timed++
		s.stamps = make([]stamp, maxStamps)
	}
	t := &s.stamps[number%maxStamps]
	if t.at != 0 && t.number == uint32(number) {
		again = true
	}
	*t = stamp{uint32(number), again, asks, max(a.now, 1)}
}

// stampOf returns the stamp of a packet, nil if there is none.
func (s *stream) stampOf(number uint64) *stamp {
	if s.stamps == nil {
		return nil
	}
	if t := &s.stamps[number%maxStamps]; t.at != 0 && t.number == uint32(number) {
		return t
	}
	return nil
}

// acknowledged times the first answer to a packet.
func (a *Analyzer) acknowledged(s *stream, number uint64) {
	t := s.stampOf(number)
	if t == nil || t.again {
		return
	}
	d := a.now.Sub(t.at)
	s.rtt.add(d)
	a.rtt.add(d)
	t.again = true // a second answer is of a duplicate
}
