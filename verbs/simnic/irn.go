package simnic

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// IRN are the parameters of selective repeat as in R. Mittal et al., "Revisiting
// Network Support for RDMA", SIGCOMM 2018: receivers keep what arrives out of
// order and say what they have, senders repeat what is lost and have at most a
// bandwidth-delay product in flight. READ responses go back as ever.
type IRN struct {
	BDP     sim.Bytes    // cap of what is in flight; 0 = rate times round trip of the path
	RTOLow  sim.Duration // timeout while few packets are in flight
	RTOHigh sim.Duration
	Few     int // packets
}

// Defaults of IRN. Source: the paper, section 4.1.
const (
	IRNTimeoutLow  = 100 * sim.Microsecond
	IRNTimeoutHigh = 320 * sim.Microsecond
	IRNFew         = 3
)

// maxHeld bounds the packets that a receiver keeps and a sender has in flight.
const maxHeld = 1 << 14

// selective is the state of a queue pair with selective repeat.
type selective struct {
	cfg *IRN
	bdp sim.Bytes // cap

	// Requester.
	sacked    []uint64 // bit seq mod maxHeld: the responder has it
	cleared   uint64   // bits below are clear
	high      uint64   // one past the highest packet that the responder has
	scan      uint64   // next candidate for a repetition
	recover   uint64   // repairing ends when everything before is acknowledged
	repairing bool

	// Responder.
	kept map[uint64]packet.Packet
	held int
}

func newSelective(cfg *IRN, mtu sim.Bytes) *selective {
	s := &selective{cfg: cfg, bdp: maxHeld * mtu}
	if cfg.BDP > 0 {
		s.bdp = max(min(cfg.BDP, s.bdp), mtu)
	}
	return s
}

// fit derives the cap from the path where none is configured.
func (s *selective) fit(rate sim.Rate, rtt sim.Duration, mtu sim.Bytes) {
	if s.cfg.BDP == 0 {
		s.bdp = max(min(sim.Bytes(float64(rate)*rtt.Seconds()/8), maxHeld*mtu), mtu)
	}
}

func (s *selective) bit(seq uint64) (*uint64, uint64) {
	if s.sacked == nil {
		s.sacked = make([]uint64, maxHeld/64)
	}
	return &s.sacked[seq%maxHeld/64], 1 << (seq % 64)
}

// pending reports whether a lost packet waits to be repeated.
func (s *selective) pending(q *qp) bool {
	if !s.repairing {
		return false
	}
	s.scan = max(s.scan, q.una)
	for s.scan < min(s.high, q.sent) {
		word, b := s.bit(s.scan)
		if *word&b == 0 {
			return true
		}
		at := s.scan
		s.scan++
		if q.special {
			if m := &q.msgs[q.find(at)]; m.op == verbs.OpRead {
				s.scan = m.last + 1 // its request has arrived
			}
		}
	}
	return false
}

// next returns the packet to send now: a lost one, else the next one.
func (s *selective) next(q *qp) uint64 {
	if !s.pending(q) {
		return q.nxt
	}
	seq := s.scan
	s.scan++
	return seq
}

// advance forgets what lies before the oldest packet that is not acknowledged.
func (s *selective) advance(q *qp) {
	for ; s.cleared < q.una; s.cleared++ {
		if s.sacked != nil {
			word, b := s.bit(s.cleared)
			*word &^= b
		}
		if q.una-s.cleared > maxHeld {
			clear(s.sacked)
			s.cleared = q.una - 1
		}
	}
	if s.repairing && q.una >= s.recover {
		s.repairing = false
	}
	q.rto = s.timeout(q)
}

// repair begins an episode of repetitions with the oldest packet, even where the
// responder has had it: one that met no receive is thrown away.
func (s *selective) repair(q *qp) {
	s.repairing = true
	word, b := s.bit(q.una)
	*word &^= b
	s.recover, s.scan = q.sent, q.una
	s.high = max(s.high, q.una+1)
}

// timeout returns RTO low while few packets are in flight, else RTO high.
func (s *selective) timeout(q *qp) sim.Duration {
	if q.sent-q.una <= uint64(s.cfg.Few) {
		return s.cfg.RTOLow
	}
	return s.cfg.RTOHigh
}

// onSack notes what the responder has and repeats what it lacks.
func (n *NIC) onSack(q *qp, m *packet.Packet, now sim.Time) {
	s := q.irn
	seq := expand(q.una, m.Ext>>packet.SackShift)
	if seq < q.una || seq >= q.sent || seq-q.una >= maxHeld {
		return
	}
	word, b := s.bit(seq)
	*word |= b
	if !s.repairing {
		s.repair(q)
	}
	s.high = max(s.high, seq)
	n.arm(q, now)
	n.offer(q)
}

// hold keeps a packet that came too early and says so; false if there is no
// room for it.
func (n *NIC) hold(port int, q *qp, m *packet.Packet, seq uint64) bool {
	s := q.irn
	if seq-q.epsn >= maxHeld {
		return false
	}
	if s.kept == nil {
		s.kept = map[uint64]packet.Packet{}
	}
	if _, ok := s.kept[seq]; ok {
		n.stat.discarded++
	} else {
		s.kept[seq] = *m
		s.held++
	}
	n.stat.early++
	n.stat.naks++
	if !q.nakSent || q.nakFor != q.epsn {
		q.nakSent, q.nakFor = true, q.epsn
		n.event(trace.EventNAK, q, "PSN sequence error")
	}
	n.sendAck(port, q, m, packet.Nak, q.epsn, packet.SyndromeSequence|uint32(seq&psnMask)<<packet.SackShift)
	return true
}

// release takes the packets that were kept and are in order by now.
func (n *NIC) release(port int, q *qp) {
	s := q.irn
	for s.held > 0 && q.handle != nil {
		at := q.epsn
		m, ok := s.kept[at]
		if !ok {
			break
		}
		delete(s.kept, at)
		s.held--
		n.inOrder(port, q, &m)
		if q.epsn == at { // refused: it will be sent again
			return
		}
		if q.epsn > at+1 { // a READ request stands for all its responses
			continue
		}
		if _, more := s.kept[q.epsn]; !more && q.unacked > 0 {
			n.sendAck(port, q, &m, packet.Ack, q.epsn-1, packet.SyndromeAck)
		}
	}
}
