package analysis

import (
	"rdmasim/fabric/capture"
	"rdmasim/sim"
)

// arrival says how a packet stands to those that were seen before it.
type arrival uint8

const (
	inOrder   arrival = iota // the next one, or the first of all
	ahead                    // beyond the next one: something is missing
	late                     // seen for the first time, although later ones were seen before
	duplicate                // seen before
	restarted                // another connection under the same number
)

// again reports whether the sender had been at this PSN or beyond it.
func (a arrival) again() bool { return a == late || a == duplicate }

// jump is how far a PSN may be from what is expected before it is taken for
// another connection: a quarter of what the 24 bits tell apart.
const jump = 1 << 21

// hole is a range of packets that were not seen.
type hole struct {
	from, to uint64 // to excluded
	at       sim.Time
}

// sequence follows the packet numbers of one direction at one place. Numbers
// are PSNs counted on beyond 24 bits.
type sequence struct {
	begun bool
	next  uint64 // one past the highest number seen
	start uint64
	slack uint64 // numbers beyond next that a READ of unknown length may have taken
	holes []hole
	lost  uint64 // holes that had to be forgotten
}

// expand returns the number of a PSN nearest to ref.
func expand(ref uint64, psn uint32) uint64 {
	d := int64(capture.PSNDelta(psn, uint32(ref)))
	return uint64(int64(ref) + d)
}

// base keeps numbers of what came before the capture positive.
const base = 1 << 24

// take places a packet that takes n numbers; first says that it begins a
// message. missing is how many packets are missing in front of it.
func (s *sequence) take(psn uint32, n uint64, first bool, now sim.Time) (number uint64, a arrival, missing uint64) {
	if !s.begun {
		*s = sequence{begun: true, start: base + uint64(psn), holes: s.holes[:0]}
		s.next = s.start + n
		return s.start, inOrder, 0
	}
	number = expand(s.next, psn)
	switch {
	case number >= s.next+jump || number+jump < s.next:
		if !first && number >= s.next {
			break // a hole, if a large one
		}
		s.begun = false
		number, _, _ = s.take(psn, n, first, now)
		return number, restarted, 0
	case number < s.next:
		if s.fill(number, n) {
			return number, late, 0
		}
		if number+n > s.next { // a READ that is asked for again from its middle
			s.next = number + n
		}
		return number, duplicate, 0
	}
	a = inOrder
	if number > s.next+s.slack {
		a, missing = ahead, number-s.next
		s.open(hole{s.next, number, now})
	}
	s.slack = 0
	s.next = number + n
	return number, a, missing
}

// open remembers a hole, and forgets the oldest where there are too many.
func (s *sequence) open(h hole) {
	if len(s.holes) == maxGaps {
		s.lost += s.holes[0].to - s.holes[0].from
		s.holes = append(s.holes[:0], s.holes[1:]...)
	}
	s.holes = append(s.holes, h)
}

// fill takes numbers out of the holes; it is false if they were in none.
func (s *sequence) fill(number, n uint64) bool {
	for i := range s.holes {
		h := &s.holes[i]
		if number < h.from || number >= h.to {
			continue
		}
		end := min(number+n, h.to)
		switch {
		case number == h.from && end == h.to:
			s.holes = append(s.holes[:i], s.holes[i+1:]...)
		case number == h.from:
			h.from = end
		case end == h.to:
			h.to = number
		default:
			rest := hole{end, h.to, h.at}
			h.to = number
			if len(s.holes) < maxGaps {
				s.holes = append(s.holes, hole{})
				copy(s.holes[i+2:], s.holes[i+1:])
				s.holes[i+1] = rest
			} else {
				s.lost += rest.to - rest.from
			}
		}
		return true
	}
	return false
}

// missing reports whether a number is in a hole.
func (s *sequence) missing(number uint64) bool {
	for i := range s.holes {
		if number >= s.holes[i].from && number < s.holes[i].to {
			return true
		}
	}
	return false
}

// open returns how many packets the holes hold.
func (s *sequence) absent() (n uint64) {
	for i := range s.holes {
		n += s.holes[i].to - s.holes[i].from
	}
	return n + s.lost
}
