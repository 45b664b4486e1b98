package analysis

import (
	"net/netip"

	"rdmasim/fabric/capture"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// streamKey names what one host sends to one queue pair of another.
type streamKey struct {
	src, dst netip.Addr
	qp       uint32 // of the destination, as packets carry it
}

// stream is one direction of a queue pair: the requests of the source, and its
// answers to the requests of the destination.
type stream struct {
	key       streamKey
	from, to  *host
	object    trace.ObjectID // SRC/qpN: the requester's view of the connection
	transport capture.Transport
	sport     uint16
	reverse   *stream // the other direction, once it is known
	guesses   int     // answers that could not be paired
	views     []view  // by interface, in the order in which they first saw it
	begin     sim.Time
	end       sim.Time
	packets   uint64
	bytes     uint64 // frames

	// Of the requester, at the first view.
	out       outbox
	una       uint64 // one past the highest number acknowledged
	mtu       int
	stamps    []stamp
	rtt       spread
	fate      fate // of the last answer that asked for something again
	lastSent  sim.Time
	asked     uint64 // index of the last packet that asked for something again
	lastAgain uint64 // number of the last retransmission, if the run goes on
	running   bool   // a retransmission is going on
	restarts  uint64 // runs of retransmissions so far
	causes    [causes]uint64
	delivered uint64 // messages, when complete
	payload   uint64 // bytes of complete messages
	messages  uint64
	partial   uint64 // messages with packets that were never seen
	verbs     [capture.VerbUnknown]uint64
	requests  bool // it carries some
	number    int  // in the order of appearance
	goodput   bins // payload that the requester sent, or got by READ, for the first time

	// Of the responder, where its answers were first seen.
	answers answerStat
	bare    bareCNPs
	cnp     pace
}

// cause is why a requester sent again.
type cause uint8

const (
	causeUnknown cause = iota
	causeNak
	causeRNR
	causeTimeout
	causes
)

// fate is what the responder asked for last.
type fate struct {
	kind   cause
	number uint64
	at     sim.Time
}

// answerStat counts the answers of a responder.
type answerStat struct {
	acks, sequenceNaks, otherNaks, rnrs uint64
	readPackets, readBytes              uint64
	atomicAcks                          uint64
	codes                               [8]uint64 // sequence and other NAKs by code, 7 = reserved
	lastNak                             uint64    // number of the last sequence NAK
	nakOpen                             bool      // nothing was sent again since
	msn                                 uint32
	msnKnown                            bool
}

// view is a stream at one interface.
type view struct {
	iface    int
	arrives  bool // packets come in at the interface, as the capture says
	requests sequence
	counts   viewCounts
	got      receiver
	answers  viewAnswers
}

// viewCounts are what passed an interface.
type viewCounts struct {
	data, again, late, duplicates uint64
	gaps, missing                 uint64 // holes, and packets in them when they opened
	payload                       uint64
	ce, ect                       uint64
	damaged                       uint64 // with CRC errors, as the capture says
}

// viewAnswers are the answers that passed an interface.
type viewAnswers struct {
	acks, naks, rnrs, cnps uint64
	readPackets, readBytes uint64
	ce, ect                uint64 // of READ responses
}

// viewOf returns the view of an interface, nil where there are too many.
func (a *Analyzer) viewOf(s *stream, iface int) *view {
	for i := range s.views {
		if s.views[i].iface == iface {
			return &s.views[i]
		}
	}
	if len(s.views) == maxViews || a.views >= maxAllViews {
		return nil
	}
	a.views++
	s.views = append(s.views, view{iface: iface})
	return &s.views[len(s.views)-1]
}

// upstream is where the stream was seen first: nearest to the sender.
func (s *stream) upstream() *view { return &s.views[0] }

// downstream is where it was seen last: the interface of the receiver if that
// is among those captured, or else the last one that most of it passed.
func (s *stream) downstream() *view {
	if s.to.home >= 0 {
		for i := range s.views {
			if s.views[i].iface == s.to.home {
				return &s.views[i]
			}
		}
		if s.to.reached {
			return &view{iface: s.to.home} // all of it is still on its way
		}
	}
	v := s.upstream()
	for i := range s.views {
		if 2*s.views[i].counts.data >= v.counts.data && s.views[i].counts.data > 0 {
			v = &s.views[i]
		}
	}
	return v
}

// atReceiver reports whether what is seen at an interface has reached the host
// that it is for. Where each direction is captured at a place of its own, as by
// an optical tap, that is where it is seen.
func (s *stream) atReceiver(iface int) bool {
	if s.to.home < 0 || s.to.home == iface {
		return true
	}
	for i := range s.views {
		if s.views[i].iface == s.to.home {
			return false // it comes by there later, or came by
		}
	}
	r := s.reverse
	return iface == s.views[0].iface && (r == nil || len(r.views) == 1)
}

// receiver is what a responder must make of what it gets: go-back-N takes
// packets in order and nothing else.
type receiver struct {
	begun     bool
	next      uint64 // number expected
	message   uint64 // number at which the message that is coming began
	taken     uint64 // payload of it so far
	delivered uint64
	discarded uint64
	early     uint64
	payload   uint64
	marks     uint64 // CE, less the CNPs since
	sizes     [64]uint16
	gap       bool     // something is missing, and no NAK was seen yet
	gapAt     uint64   // number that is missing
	owed      []uint64 // gaps that ended before their NAK was seen: it may wait at a paused port
	silent    uint64   // gaps without a NAK
	asked     uint64   // number that a NAK has asked for, 0 = none
}

// maxOwed is how many gaps whose NAK is not there yet are remembered.
const maxOwed = 16

// take hands a packet to the model of the responder.
func (r *receiver) take(number, n uint64, payload int, first bool) {
	if !r.begun {
		r.begun, r.next = true, number
	}
	switch {
	case number == r.next:
		if r.gap && r.gapAt == number {
			r.gap = false
			r.owe(number)
		}
		if first {
			r.message, r.taken = number, 0
		}
		r.next += n
		r.delivered++
		r.payload += uint64(payload)
		r.taken += uint64(payload)
		r.sizes[number%uint64(len(r.sizes))] = uint16(payload)
	case number > r.next:
		r.discarded++
		r.early++
		if !r.gap && r.asked != r.next {
			r.gap, r.gapAt = true, r.next
		}
	default:
		r.discarded++
	}
}

// stretch takes it that the last request took more numbers than was known: a
// READ, of which the path MTU or the length was not.
func (r *receiver) stretch(was, next uint64) {
	if r.begun && r.next == was {
		r.next = next
	}
}

// owe remembers a gap that ended before a NAK was seen.
func (r *receiver) owe(number uint64) {
	if len(r.owed) == maxOwed {
		r.silent++
		r.owed = append(r.owed[:0], r.owed[1:]...)
	}
	r.owed = append(r.owed, number)
}

// answered takes note of an answer that asks for or acknowledges a number. A
// responder answers in order: gaps before it have got no NAK. It reports whether
// the answer is the NAK of a gap that has ended meanwhile.
func (r *receiver) answered(number uint64, nak bool) bool {
	for len(r.owed) > 0 && r.owed[0] <= number {
		due := r.owed[0]
		r.owed = append(r.owed[:0], r.owed[1:]...)
		if nak && due == number {
			return true
		}
		r.silent++
	}
	return false
}

// refused takes back what the responder turns out not to have taken: it asked
// for a number again.
func (r *receiver) refused(number uint64, mtu int) {
	if r.gap && number <= r.gapAt {
		r.gap = false
	}
	r.asked = number
	if !r.begun || number >= r.next || r.next-number > 1<<20 {
		return
	}
	n := r.next - number
	switch {
	case number == r.message: // all of the message, as go-back-0 does
		r.payload -= min(r.taken, r.payload)
		r.taken = 0
	default:
		for i := number; i < r.next; i++ {
			size := uint64(mtu)
			if r.next-i <= uint64(len(r.sizes)) {
				size = uint64(r.sizes[i%uint64(len(r.sizes))])
			}
			r.payload -= min(size, r.payload)
			r.taken -= min(size, r.taken)
		}
	}
	r.delivered -= min(n, r.delivered)
	r.discarded += n
	r.next = number
}

// restart begins another connection.
func (r *receiver) restart(number uint64) {
	r.begun, r.next, r.gap, r.owed = true, number, false, r.owed[:0]
}
