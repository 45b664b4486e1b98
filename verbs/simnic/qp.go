package simnic

import (
	"rdmasim/congestion"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// Where a queue pair stands in its port's schedule.
const (
	schedIdle    = iota // nothing to send, or held back by its window
	schedReady          // in the list of its class
	schedWaiting        // in the heap, until its pacing lets it
)

// message is one work request of a send queue.
type message struct {
	id       uint64
	wrid     uint64
	op       verbs.Opcode
	signaled bool
	length   sim.Bytes
	first    uint64 // packet numbers, counted over the life of the queue pair
	last     uint64
	posted   sim.Time
	retx     uint64
	time     *messageTime // nil until its first packet leaves
	tag      string
}

// qp is a queue pair: requester and responder half.
type qp struct {
	qpn     uint32
	slot    int32
	client  int32
	port    int32
	peer    int32 // endpoint
	peerQP  uint32
	private uint64
	srcPort uint16
	dstPort uint16
	prio    uint8
	dscp    uint8
	state   verbs.State
	sched   uint8
	next    int32 // in the ready list
	handle  *QP
	depth   int
	closing bool

	// Requester.
	msgs    []message
	head    int // of msgs: the oldest message that is not complete
	cur     int // of msgs: the message that nxt belongs to
	una     uint64
	nxt     uint64
	end     uint64 // packets posted
	sent    uint64 // one past the highest packet ever sent
	availAt sim.Time
	rp      congestion.ReactionPoint
	path    Path
	rtoAt   sim.Time
	rtoSet  bool
	retries int
	rnr     int
	holdAt  sim.Time // RNR: nothing is sent before

	// Responder.
	epsn     uint64
	msgStart uint64 // first packet of the message being received
	msn      uint32
	nakAt    sim.Time
	nakFor   uint64
	nakSent  bool
	echo     bool
	unacked  int
	np       congestion.NotificationPoint
	recvs    []posted
	recvHead int
	recvLen  sim.Bytes

	series  trace.ObjectID // of the requester: rate and alpha
	last    [2]float64
	inbound *inbound
	account *account // nil where none is kept
}

type posted struct {
	wrid   uint64
	length sim.Bytes
}

var _ verbs.Connection = (*QP)(nil)

// more reports whether a packet may be sent as far as the send queue and the
// window are concerned.
func (n *NIC) more(q *qp, now sim.Time) bool {
	if q.nxt >= q.end || q.state != verbs.StateRTS {
		return false
	}
	if q.nxt == q.una {
		return true
	}
	w := q.rp.Window(now)
	if n.cfg.Window > 0 && (w == 0 || n.cfg.Window < w) {
		w = n.cfg.Window
	}
	return w == 0 || sim.Bytes(q.nxt-q.una)*sim.Bytes(n.cfg.Sizes.Payload) < w
}

// offer puts a queue pair that may send into the schedule of its port.
func (n *NIC) offer(q *qp) {
	now := n.node.Now()
	if q.sched != schedIdle || !n.more(q, now) {
		return
	}
	p := &n.ports[q.port]
	n.schedule(p, q, max(q.availAt, q.holdAt), now)
	n.transmit(int(q.port))
}

// schedule enters a queue pair that may send at the time given.
func (n *NIC) schedule(p *nicPort, q *qp, at, now sim.Time) {
	if at <= now {
		p.ready(n, q)
		return
	}
	q.sched = schedWaiting
	p.wait(at, q.slot)
}

// sendData sends the next packet of a queue pair.
func (n *NIC) sendData(port int, p *nicPort, q *qp) {
	now := n.node.Now()
	for q.nxt > q.msgs[q.cur].last {
		q.cur++
	}
	m := &q.msgs[q.cur]
	mtu := sim.Bytes(n.cfg.Sizes.Payload)
	payload := mtu
	flags := uint8(0)
	first, last := q.nxt == m.first, q.nxt == m.last
	if first {
		flags |= packet.FlagFirst
	}
	if last {
		payload = m.length - sim.Bytes(m.last-m.first)*mtu
		flags |= packet.FlagLast | packet.FlagAckReq
		if q.closing && q.nxt == q.end-1 {
			flags |= packet.FlagClose
		}
	}
	if q.rp.Window(now) > 0 {
		// A window that shrinks must never wait for an ACK that the responder
		// still coalesces.
		flags |= packet.FlagAckReq
	}
	if q.nxt < q.sent { // has been sent before
		flags |= packet.FlagRetx
		m.retx++
		n.stat.retransmitted++
	}
	size := n.cfg.Sizes.data(int(payload), first, m.op, last)
	k := packet.Packet{Kind: packet.Data, Sent: now, Src: n.cfg.Endpoints[port], Dst: q.peer, SrcQP: q.wireQPN(), DstQP: q.peerQP,
		PSN: uint32(q.nxt) & psnMask, Size: uint16(size), Payload: uint16(payload), SrcPort: q.srcPort, DstPort: q.dstPort,
		Opcode: uint8(m.op), Prio: q.prio, DSCP: q.dscp, ECN: n.ecn, TTL: n.cfg.TTL, Flags: flags}
	if q.peerQP == 0 {
		k.Aux, k.DstQP, k.Classes = uint32(q.private), uint32(q.private>>32), uint8(q.client)
		k.Flags |= packet.FlagConnect
	}
	wire := sim.Bytes(size) + p.Cfg.Overhead
	if q.una == q.nxt {
		n.arm(q, now)
	}
	q.nxt++
	q.sent = max(q.sent, q.nxt)
	n.stat.sent++
	if first && !last && p.Tapped() != nil {
		p.Tapped().Message(now, k, m.length)
	}
	p.Send(n.node, port, &k)
	if n.cfg.Account {
		n.sent(q, p, m, now, flags&packet.FlagRetx != 0, last)
	}
	rate := q.rp.Rate(now)
	q.rp.OnSend(now, wire)
	q.availAt = p.FreeAt
	if rate < p.Cfg.Rate {
		d := rate.TxTime(wire)
		if p.Cfg.Truncate {
			d -= d % sim.Nanosecond
		}
		q.availAt = max(q.availAt, now.Add(d))
	}
	if n.more(q, now) {
		if q.availAt <= p.FreeAt {
			p.ready(n, q)
		} else {
			q.sched = schedWaiting
			p.wait(q.availAt, q.slot)
		}
	}
}

// arm starts the local ACK timer.
func (n *NIC) arm(q *qp, now sim.Time) {
	if n.cfg.Timeout == 0 {
		return
	}
	q.rtoAt = now.Add(n.cfg.Timeout)
	if !q.rtoSet {
		q.rtoSet = true
		n.node.At(q.rtoAt, kindTimeout, 0, uint64(q.qpn)<<24|uint64(q.slot))
	}
}

// timeout handles the local ACK timer: it goes on sleeping where the deadline
// has moved, and retransmits or gives up where it has not.
func (n *NIC) timeout(slot int32, qpn uint32) {
	q := n.qps[slot]
	if q == nil || q.qpn != qpn {
		return
	}
	q.rtoSet = false
	now := n.node.Now()
	if q.una >= q.sent || q.state != verbs.StateRTS {
		return
	}
	if now < q.rtoAt {
		q.rtoSet = true
		n.node.At(q.rtoAt, kindTimeout, 0, uint64(q.qpn)<<24|uint64(q.slot))
		return
	}
	n.stat.timeouts++
	n.event(trace.EventTimeout, q, "local ACK timeout")
	q.retries++
	if q.retries > n.cfg.RetryCount {
		n.lost(q, q.una, trace.DelayTimeout, now)
		n.fail(q, verbs.StatusRetryExceeded)
		return
	}
	n.lost(q, q.una, trace.DelayTimeout, now)
	q.rp.OnLoss(now)
	n.goBack(q, q.una)
	n.arm(q, now)
	n.offer(q)
}

// goBack makes packet seq the next one to send.
func (n *NIC) goBack(q *qp, seq uint64) {
	if n.cfg.GoBack0 {
		seq = q.msgs[n.find(q, seq)].first
		q.una = seq
	}
	q.nxt = seq
	q.cur = n.find(q, seq)
}

// find returns the index of the message that a packet belongs to.
func (n *NIC) find(q *qp, seq uint64) int {
	i := q.head
	for i < len(q.msgs)-1 && q.msgs[i].last < seq {
		i++
	}
	return i
}

// fail ends a queue pair: the oldest request completes with the status, all
// others are flushed in order.
func (n *NIC) fail(q *qp, status verbs.Status) {
	q.state = verbs.StateError
	n.event(trace.EventQPState, q, status.String())
	for q.head < len(q.msgs) {
		m := q.msgs[q.head]
		q.head++
		n.finish(q, &m, status)
		n.complete(q, verbs.WorkCompletion{WRID: m.wrid, Status: status, Opcode: m.op, QPN: q.qpn})
		status = verbs.StatusWRFlush
	}
	q.nxt, q.una = q.end, q.end
	for q.recvHead < len(q.recvs) {
		r := q.recvs[q.recvHead]
		q.recvHead++
		n.complete(q, verbs.WorkCompletion{WRID: r.wrid, Status: verbs.StatusWRFlush, Recv: true, QPN: q.qpn})
	}
}

// onAck advances the send queue to the acknowledged packet.
func (n *NIC) onAck(m *packet.Packet) {
	q := n.lookup(m.DstQP)
	if q == nil {
		return
	}
	now := n.node.Now()
	q.peerQP = m.SrcQP
	if m.Kind == packet.Nak {
		n.stat.naksGot++
		n.onNak(q, m, now)
		return
	}
	seq := expand(q.una, m.PSN) + 1
	if seq <= q.una || seq > q.sent {
		if m.Flags&packet.FlagEcho != 0 {
			q.rp.OnAck(now, congestion.Ack{RTT: now.Sub(m.Sent), Marked: true})
		}
		return
	}
	n.answered(q, now.Sub(m.Sent), now)
	n.advance(q, seq, m, now)
	n.offer(q)
}

func (n *NIC) advance(q *qp, seq uint64, m *packet.Packet, now sim.Time) {
	bytes := sim.Bytes(seq-q.una) * sim.Bytes(n.cfg.Sizes.Payload)
	q.una = seq
	if q.nxt < seq { // an ACK overtook a go-back
		q.nxt = seq
	}
	q.retries, q.rnr = 0, 0
	q.rtoAt = now.Add(n.cfg.Timeout)
	q.rp.OnAck(now, congestion.Ack{RTT: now.Sub(m.Sent), Bytes: bytes, Marked: m.Flags&packet.FlagEcho != 0})
	for q.head < len(q.msgs) && q.msgs[q.head].last < seq {
		d := q.msgs[q.head]
		q.head++
		n.finish(q, &d, verbs.StatusSuccess)
		if d.signaled {
			n.complete(q, verbs.WorkCompletion{WRID: d.wrid, Status: verbs.StatusSuccess, Opcode: d.op, Length: d.length, QPN: q.qpn})
		}
		if q.handle == nil {
			return // closed by its owner
		}
	}
	if q.head > 32 && q.head*2 > len(q.msgs) || q.head == len(q.msgs) {
		q.msgs = append(q.msgs[:0], q.msgs[q.head:]...)
		q.cur = max(q.cur-q.head, 0)
		q.head = 0
	}
	if q.closing && len(q.msgs) == 0 {
		n.destroy(q)
	}
}

// onNak goes back to the packet that the responder expects.
func (n *NIC) onNak(q *qp, m *packet.Packet, now sim.Time) {
	if m.Flags&packet.FlagEcho != 0 {
		q.rp.OnAck(now, congestion.Ack{RTT: now.Sub(m.Sent), Marked: true})
	}
	seq := expand(q.una, m.PSN)
	if n.cfg.GoBack0 {
		seq = expand(q.nxt, m.PSN)
	}
	if seq >= q.sent || q.state != verbs.StateRTS || q.head == len(q.msgs) {
		return
	}
	if seq >= q.una || n.cfg.GoBack0 {
		n.lost(q, seq, nakDelay(m), now)
	}
	if seq > q.una {
		n.advance(q, seq, m, now)
		if q.handle == nil || q.state != verbs.StateRTS {
			return
		}
	} else if seq < q.una && !n.cfg.GoBack0 {
		return
	}
	if m.Flags&packet.FlagRNR != 0 {
		q.rnr++
		if n.cfg.RNRRetry < 7 && q.rnr > n.cfg.RNRRetry {
			n.fail(q, verbs.StatusRNRRetryExceeded)
			return
		}
		q.holdAt = now.Add(n.cfg.RNRDelay)
	} else {
		q.rp.OnLoss(now)
	}
	n.arm(q, now)
	n.goBack(q, seq)
	n.offer(q)
}

// psnMask is the width of packet sequence numbers.
const psnMask = 1<<24 - 1

// expand returns the packet number nearest to ref that has the given PSN.
func expand(ref uint64, psn uint32) uint64 {
	d := int32((psn-uint32(ref))<<8) >> 8
	if d < 0 && uint64(-d) > ref {
		return 0
	}
	return ref + uint64(int64(d))
}
