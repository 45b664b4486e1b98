package simnic

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// more reports whether a packet may be sent as far as the send queue and the
// window are concerned.
func (n *NIC) more(q *qp, now sim.Time) bool {
	if n.responding(q, now) {
		return true
	}
	if q.state != verbs.StateRTS && !q.finishing() {
		return false
	}
	if q.irn != nil && q.irn.pending(q) {
		return true
	}
	if q.nxt >= q.end {
		return false
	}
	if q.special && !n.mayStart(q) {
		return false
	}
	if q.nxt == q.una {
		return true
	}
	w := q.rp.Window(now)
	if w > 0 && q.special && n.feedsBack() && q.msgs[q.cur].responds() {
		w = 0 // a request: what answers it is the responder's to hold back
	}
	if n.cfg.Window > 0 && (w == 0 || n.cfg.Window < w) {
		w = n.cfg.Window
	}
	if q.irn != nil && (w == 0 || q.irn.bdp < w) {
		w = q.irn.bdp
	}
	return w == 0 || sim.Bytes(q.nxt-q.una)*q.mtu < w
}

// finishing reports whether a queue pair in SQD still has to complete what it
// has begun to send.
func (q *qp) finishing() bool {
	if q.state != verbs.StateSQD || q.nxt >= q.end {
		return false
	}
	return q.nxt < q.sent || q.msgs[q.find(q.nxt)].first < q.sent
}

// startAt is when a queue pair that has something to send may send it.
func (n *NIC) startAt(q *qp, now sim.Time) sim.Time {
	if n.responding(q, now) {
		return max(q.availAt, q.resp.list[q.resp.head].ready)
	}
	at := max(q.availAt, q.holdAt)
	if q.hosted && q.nxt < q.end {
		at = max(at, q.msgs[q.find(q.nxt)].ready)
	}
	return at
}

// mayStart reports whether the request that comes next may begin: READs and
// atomics within max_rd_atomic, fenced requests after them, and none after one
// that has failed locally.
func (n *NIC) mayStart(q *qp) bool {
	if q.dialling {
		return false
	}
	for q.nxt > q.msgs[q.cur].last {
		if m := &q.msgs[q.cur]; m.op.IsLocal() && (m.fence && q.rd > 0 || !n.carryOut(q, m)) {
			return false
		}
		q.cur++
	}
	m := &q.msgs[q.cur]
	if m.bad != verbs.StatusSuccess {
		return false
	}
	if m.fence && q.rd > 0 && !m.started {
		return false
	}
	return !m.responds() || m.started || q.rd < int(q.maxRD)
}

// offer puts a queue pair that may send into the schedule of its port.
func (n *NIC) offer(q *qp) {
	now := n.node.Now()
	if q.sched == schedReady || !n.more(q, now) {
		return
	}
	at := n.startAt(q, now)
	if q.sched == schedWaiting && q.waitAt <= at {
		return
	}
	p := &n.ports[q.port]
	n.schedule(p, q, at, now)
	n.transmit(int(q.port))
}

// schedule enters a queue pair that may send at the time given.
func (n *NIC) schedule(p *nicPort, q *qp, at, now sim.Time) {
	if at <= now {
		p.ready(n, q)
		return
	}
	q.sched, q.waitAt = schedWaiting, at
	p.wait(at, q.slot)
}

// sendData sends the next packet of a queue pair.
//
//nolint:funlen // steps in their order
func (n *NIC) sendData(port int, p *nicPort, q *qp) {
	now := n.node.Now()
	if n.responding(q, now) {
		n.sendResponse(port, p, q)
		return
	}
	seq := q.nxt
	if q.irn != nil {
		seq = q.irn.next(q)
	}
	for seq > q.msgs[q.cur].last {
		q.cur++
	}
	i := q.cur
	if seq < q.msgs[i].first {
		i = q.find(seq)
	}
	m := &q.msgs[i]
	payload := q.mtu
	flags := uint8(0)
	first, last := seq == m.first, seq == m.last
	ext := uint32(m.length)
	if first {
		flags |= packet.FlagFirst
	}
	if last {
		payload = m.length - sim.Bytes(m.last-m.first)*q.mtu
		flags |= packet.FlagLast | packet.FlagAckReq
		ext = m.imm
		if q.closing && seq == q.end-1 {
			flags |= packet.FlagClose
		}
	}
	if q.rp.Window(now) > 0 {
		// A window that shrinks must never wait for an ACK that the responder
		// still coalesces.
		flags |= packet.FlagAckReq
	}
	if seq < q.sent { // has been sent before
		flags |= packet.FlagRetx
		m.retx++
		n.stat.retransmitted++
	}
	size := n.cfg.Sizes.data(int(payload), first, m.op, last)
	k := packet.Packet{Kind: packet.Data, Sent: now, Src: n.cfg.Endpoints[port], Dst: q.peer, SrcQP: q.wireQPN(), DstQP: q.peerQP,
		PSN: uint32(seq) & psnMask, Size: uint16(size), Payload: uint16(payload), SrcPort: q.srcPort, DstPort: q.dstPort,
		Opcode: uint8(m.op), Prio: q.prio, DSCP: q.dscp, ECN: n.ecn, TTL: n.cfg.TTL, Flags: flags, Ext: ext}
	next := seq + 1
	if q.peerQP == 0 && q.full == nil {
		k.Aux, k.DstQP, k.Classes = uint32(q.private), uint32(q.private>>32), uint8(q.client)
		k.Flags |= packet.FlagConnect
	}
	if q.special {
		next = n.dress(q, m, seq, &k)
		if next == 0 {
			n.failLocally(q, m)
			return
		}
	}
	if q.una == q.nxt {
		n.arm(q, now)
	}
	if seq == q.nxt {
		q.nxt = next
	}
	q.sent = max(q.sent, next)
	n.stat.sent++
	p.Send(n.node, port, &k)
	if n.dma != nil {
		n.dma.sent(q, now, sim.Bytes(k.Payload), first)
	}
	if n.cfg.Account {
		n.sent(q, p, m, now, k.Flags&packet.FlagRetx != 0, next > m.last)
	}
	n.pace(p, q, sim.Bytes(k.Size)+p.Cfg.Overhead)
	if q.service != verbs.RC && last {
		q.una = next
		n.node.At(p.FreeAt, kindSent, 0, uint64(q.qpn)<<24|uint64(q.slot))
	}
	n.requeue(p, q)
}

// pace says when a queue pair that has just sent so many bytes may send again.
func (n *NIC) pace(p *nicPort, q *qp, wire sim.Bytes) {
	now := n.node.Now()
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
}

// requeue puts a queue pair that has just sent back into the schedule.
func (n *NIC) requeue(p *nicPort, q *qp) {
	now := n.node.Now()
	if q.sched == schedReady || q.handle == nil || !n.more(q, now) {
		return
	}
	if at := n.startAt(q, now); at <= p.FreeAt {
		p.ready(n, q)
	} else if q.sched != schedWaiting || at < q.waitAt {
		q.sched, q.waitAt = schedWaiting, at
		p.wait(at, q.slot)
	}
}

// goBack makes packet seq the next one to send.
func (n *NIC) goBack(q *qp, seq uint64) {
	if n.cfg.GoBack0 {
		m := &q.msgs[q.find(seq)]
		if m.op == verbs.OpRead && q.una > m.first { // what has arrived of it is worth nothing
			got := q.una - m.first
			n.stat.delivered -= got
			n.stat.discarded += got
			n.stat.payload -= got * uint64(q.mtu)
		}
		seq = m.first
		q.una = seq
	}
	q.nxt = seq
	q.cur = q.find(seq)
	for i := q.cur; q.rd > 0 && i < len(q.msgs); i++ {
		if m := &q.msgs[i]; m.started {
			m.started = false
			q.rd--
		}
	}
}

// find returns the index of the message that a packet belongs to.
func (q *qp) find(seq uint64) int {
	i := q.head
	for i < len(q.msgs)-1 && q.msgs[i].last < seq {
		i++
	}
	return i
}

// failLocally ends a request that its own side cannot carry out, once all
// before it have completed; nothing behind it is sent.
func (n *NIC) failLocally(q *qp, m *message) {
	if q.una >= m.first {
		n.fail(q, m.bad)
	}
}

// fail ends a queue pair: the oldest request completes with the status, all
// others are flushed in order. An unreliable one goes on receiving.
func (n *NIC) fail(q *qp, status verbs.Status) {
	q.state = verbs.StateError
	if q.service != verbs.RC && status != verbs.StatusWRFlush {
		q.state = verbs.StateSQE
	}
	n.event(trace.EventQPState, q, status.String())
	n.flushSends(q, status)
	if q.state == verbs.StateError {
		n.flushReceives(q, verbs.StatusWRFlush)
	}
}

func (n *NIC) flushSends(q *qp, status verbs.Status) {
	q.rd = 0
	for q.head < len(q.msgs) {
		m := q.msgs[q.head]
		q.head++
		n.finish(q, &m, status)
		n.completed(q, &m, verbs.WorkCompletion{WRID: m.wrid, Status: status, Opcode: m.op, QPN: q.qpn})
		status = verbs.StatusWRFlush
	}
	q.nxt, q.una = q.end, q.end
}

// flushReceives completes the receives that are posted, the first one with the
// status.
func (n *NIC) flushReceives(q *qp, status verbs.Status) {
	if q.full != nil {
		n.flushFull(q, status)
		return
	}
	for q.recvHead < len(q.recvs) {
		r := q.recvs[q.recvHead]
		q.recvHead++
		n.complete(q, verbs.WorkCompletion{WRID: r.wrid, Status: status, Recv: true, QPN: q.qpn})
		status = verbs.StatusWRFlush
	}
}
