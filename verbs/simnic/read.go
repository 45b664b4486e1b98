package simnic

import (
	"rdmasim/congestion"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// response is what a responder still has to send for one READ or atomic.
type response struct {
	op                verbs.Opcode
	first, next, last uint64    // packet numbers
	length            sim.Bytes // of the READ, from first on
	data              []byte    // nil without memory
	value             uint64    // of an atomic
	sent              sim.Time  // of the request, for the round trip
	ready             sim.Time  // its memory has been read
	msn               uint32
}

// responses is the responder's queue of answers; acknowledgements wait behind
// them, since an ACK stands for everything before it.
type responses struct {
	list    []response
	head    int
	answer  packet.Packet
	hold    bool // answer waits
	atomics [maxResources]atomicResult
	turn    int
	spans   []span // of responses in flight, where there is feedback
}

// maxResources bounds the READs and atomics that a responder keeps.
const maxResources = 16

type atomicResult struct {
	seq   uint64 // packet number plus one, 0 = none
	value uint64
}

func (r *responses) waiting() bool { return r.head < len(r.list) }

func (q *qp) responses() *responses {
	if q.resp == nil {
		q.resp = &responses{}
	}
	return q.resp
}

func (r *responses) push(a response) { r.list = append(r.list, a) }

// truncate forgets the responses from a packet number on.
func (r *responses) truncate(seq uint64) {
	for r.waiting() {
		a := &r.list[len(r.list)-1]
		if a.last < seq {
			return
		}
		if a.next < seq {
			a.last = seq - 1
			return
		}
		r.list = r.list[:len(r.list)-1]
	}
	r.list, r.head = r.list[:0], 0
}

// sendResponse sends the next packet of the responses of a queue pair.
func (n *NIC) sendResponse(port int, p *nicPort, q *qp) {
	r := q.resp
	a := &r.list[r.head]
	k := packet.Packet{Kind: packet.Data, Sent: n.node.Now(), Src: n.cfg.Endpoints[port], Dst: q.peer, SrcQP: q.wireQPN(), DstQP: q.peerQP,
		PSN: uint32(a.next) & psnMask, SrcPort: q.srcPort, DstPort: q.dstPort, Opcode: uint8(a.op) | packet.OpResponse,
		Prio: q.prio, DSCP: q.dscp, ECN: n.ecn, TTL: n.cfg.TTL, Ext: a.msn}
	if a.op.IsAtomic() {
		k.Kind, k.Size, k.Sent = packet.Ack, uint16(n.cfg.Sizes.Ack+SizeAtomicAck), a.sent
		k.Aux, k.Ext = a.msn, packet.SyndromeAck
		if q.full != nil {
			k.Aux = n.load(cargo{value: a.value})
		}
		n.stat.acks++
	} else {
		off := sim.Bytes(a.next-a.first) * q.mtu
		payload := min(q.mtu, a.length-off)
		if a.next == a.first {
			k.Flags |= packet.FlagFirst
		}
		if off+payload == a.length {
			k.Flags |= packet.FlagLast
		}
		size := n.cfg.Sizes.data(int(payload), k.Flags&packet.FlagFirst != 0, a.op, k.Flags&packet.FlagLast != 0)
		k.Size, k.Payload = uint16(size), uint16(payload)
		if q.full != nil {
			k.Aux = n.load(cargo{data: a.data[off : off+payload]})
		}
		n.stat.sent++
		if n.feedsBack() {
			n.responded(q, a.next, k.Flags&packet.FlagLast != 0, &k)
		}
	}
	a.next++
	if a.next > a.last {
		r.head++
		if !r.waiting() {
			r.list, r.head = r.list[:0], 0
		}
	}
	p.Send(n.node, port, &k)
	if n.dma != nil {
		n.dma.sent(q, n.node.Now(), sim.Bytes(k.Payload), false)
	}
	n.pace(p, q, sim.Bytes(k.Size)+p.Cfg.Overhead)
	if !r.waiting() && r.hold {
		r.hold = false
		n.stat.acks++
		n.control(port, &r.answer)
	}
	n.requeue(p, q)
}

// execute carries out a READ or atomic request that has arrived in order, or
// answers a duplicate of one.
func (n *NIC) execute(q *qp, m *packet.Packet, seq uint64, duplicate bool) {
	if q.rp == nil {
		n.route(q)
	}
	r := q.responses()
	a := response{op: verbs.Opcode(m.Op()), first: seq, next: seq, last: seq, sent: m.Sent, ready: n.node.Now().Add(n.readDelay())}
	if a.op == verbs.OpRead {
		a.length = sim.Bytes(m.Ext)
		a.last = seq + packets(a.length, q.mtu) - 1
		if duplicate {
			r.truncate(seq)
			r.hold = false
			n.askedAgain(q)
		}
		ok := a.length <= verbs.MaxMessage && (!duplicate || a.last < q.epsn)
		if ok && q.full != nil {
			a.data, ok = n.readFrom(q, m)
		}
		if !ok {
			n.stat.discarded++
			return
		}
	} else if duplicate {
		found := false
		for i := range r.atomics {
			if r.atomics[i].seq == seq+1 {
				a.value, found = r.atomics[i].value, true
			}
		}
		if !found { // older than the responder remembers: dropped
			n.stat.discarded++
			return
		}
	} else {
		if q.full != nil {
			a.value = n.atomic(q, m)
		}
		r.atomics[r.turn%maxResources] = atomicResult{seq + 1, a.value}
		r.turn++
	}
	if !duplicate {
		q.epsn = a.last + 1
		q.msgStart = q.epsn
		q.msn = (q.msn + 1) & psnMask
		q.unacked = 0
	}
	if r.hold && r.answer.Kind == packet.Ack { // the response stands for what is before it
		r.hold = false
	}
	a.msn = q.msn
	r.push(a)
	n.offer(q)
}

// packets returns how many packets a message of so many bytes has.
func packets(length, mtu sim.Bytes) uint64 { return uint64(max((length+mtu-1)/mtu, 1)) }

// onResponse takes a READ response: the requester's data, in order.
func (n *NIC) onResponse(port int, m *packet.Packet) {
	q := n.lookup(m.DstQP)
	if q == nil || q.service != verbs.RC || q.head == len(q.msgs) || q.full != nil && !q.full.from(q, m) {
		n.stat.discarded++
		return
	}
	now := n.node.Now()
	q.peerQP = m.SrcQP
	if m.ECN == packet.CE {
		n.stat.marked++
		if n.fb == congestion.CNPPackets && q.np.OnMarked(now) {
			n.sendCNP(port, q)
		}
	}
	seq := expand(q.una, m.PSN)
	d := n.asker(q, seq, now)
	switch {
	case d == nil:
		n.stat.discarded++
		return
	case d.op != verbs.OpRead:
		n.stat.discarded++
		n.fail(q, verbs.StatusBadResponse)
		return
	case seq != q.una:
		n.stat.discarded++
		n.stat.early++
		// Responses only go back in number when they answer what was asked
		// again: then the one that is missing has been lost again.
		if q.respSeen > 0 && seq <= q.respSeen {
			q.asked = 0
		}
		n.askAgain(q, now, "READ response out of sequence")
		q.respSeen = seq
		return
	}
	payload := min(q.mtu, d.length-sim.Bytes(seq-d.first)*q.mtu)
	if sim.Bytes(m.Payload) != payload || q.full != nil && !n.writeTo(q, d, sim.Bytes(seq-d.first)*q.mtu, m) {
		n.stat.discarded++
		if q.state == verbs.StateRTS || q.state == verbs.StateSQD {
			n.fail(q, verbs.StatusBadResponse)
		}
		return
	}
	n.stat.delivered++
	n.stat.payload += uint64(m.Payload)
	n.brought(q, uint64(m.Payload))
	last := seq == d.last
	q.respSeen = 0
	if n.feedsBack() {
		n.feedBack(port, q, m)
	}
	n.progress(q, seq+1, now)
	if last {
		n.beyond(q, now)
	}
	n.retire(q, q.una)
	if q.handle != nil {
		n.offer(q)
	}
}

// onAtomicAck takes the answer to an atomic operation.
func (n *NIC) onAtomicAck(q *qp, m *packet.Packet, now sim.Time) {
	if q.head == len(q.msgs) {
		return
	}
	seq := expand(q.una, m.PSN)
	d := n.asker(q, seq, now)
	if d == nil {
		return
	}
	if !d.op.IsAtomic() {
		n.fail(q, verbs.StatusBadResponse)
		return
	}
	if seq != q.una {
		n.askAgain(q, now, "atomic acknowledge out of sequence")
		return
	}
	if q.full != nil && !n.writeTo(q, d, 0, m) {
		return
	}
	q.rp.OnAck(now, congestion.Ack{RTT: now.Sub(m.Sent), Bytes: 8, Marked: m.Flags&packet.FlagEcho != 0})
	n.progress(q, seq+1, now)
	n.beyond(q, now)
	n.retire(q, q.una)
	if q.handle != nil {
		n.offer(q)
	}
}

// asker returns the request that a response to packet seq belongs to, nil
// for what has been answered before or was never asked. A response stands for
// everything before it, as far as that needs no response itself.
func (n *NIC) asker(q *qp, seq uint64, now sim.Time) *message {
	if seq < q.una || seq >= q.sent || q.state == verbs.StateError {
		return nil
	}
	i := q.find(seq)
	first := q.msgs[i].first
	if first > q.una {
		upto := n.unanswered(q, first)
		if upto > q.una {
			n.progress(q, upto, now)
			n.retire(q, upto)
			if q.handle == nil || q.head == len(q.msgs) {
				return nil
			}
		}
	}
	return &q.msgs[q.find(seq)]
}

// unanswered returns seq, or the first packet of a READ or atomic before it
// that is not answered.
func (n *NIC) unanswered(q *qp, seq uint64) uint64 {
	for i := q.head; i < len(q.msgs) && q.msgs[i].first < seq; i++ {
		if m := &q.msgs[i]; m.responds() {
			return max(m.first, q.una)
		}
	}
	return seq
}

// untilResponse returns how far an ACK up to seq goes: not beyond a READ or
// atomic that is not answered. An ACK behind one says that its answer is lost,
// where answers and ACKs travel alike.
func (n *NIC) untilResponse(q *qp, seq uint64, now sim.Time) uint64 {
	upto := n.unanswered(q, seq)
	if upto < seq {
		q.ackHigh = max(q.ackHigh, seq)
		if n.cfg.AckPriority < 0 && n.cfg.AckDSCP < 0 && upto == q.una {
			n.askAgain(q, now, "ACK behind an unanswered READ")
		}
	}
	return upto
}

// beyond goes on to what was acknowledged while a READ was not answered.
func (n *NIC) beyond(q *qp, now sim.Time) {
	if q.ackHigh <= q.una {
		return
	}
	// The request that ends here is complete; the next one that responds bounds.
	seq := q.ackHigh
	for i := q.head; i < len(q.msgs) && q.msgs[i].first < seq; i++ {
		if m := &q.msgs[i]; m.responds() && m.last >= q.una {
			seq = max(m.first, q.una)
			break
		}
	}
	if seq > q.una {
		n.progress(q, seq, now)
	}
}

// askAgain repeats everything from the oldest packet that is not answered, once
// per episode.
func (n *NIC) askAgain(q *qp, now sim.Time, cause string) {
	if q.asked == q.una+1 {
		return
	}
	n.event(trace.EventNAK, q, cause)
	n.lost(q, q.una, trace.DelayResend, now)
	q.rp.OnLoss(now)
	n.goBack(q, q.una)
	q.asked, q.respSeen = q.una+1, 0
	n.arm(q, now)
	n.offer(q)
}
