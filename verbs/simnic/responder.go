package simnic

import (
	"rdmasim/congestion"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// onData is the responder: it takes packets in order, answers the rest with
// one NAK per episode, and reports CE marks.
func (n *NIC) onData(port int, m *packet.Packet) {
	q := n.responder(port, m)
	if q == nil || q.full != nil && !n.listens(q, m) {
		n.stat.discarded++
		return
	}
	if m.ECN == packet.CE {
		n.marked(port, q)
	}
	seq := expand(q.epsn, m.PSN)
	switch {
	case seq == q.epsn:
		n.inOrder(port, q, m)
		if q.irn != nil && q.irn.held > 0 {
			n.release(port, q)
		}
	case seq > q.epsn:
		n.outOfOrder(port, q, m, seq)
	default:
		n.duplicate(port, q, m, seq)
	}
}

// marked handles a CE mark as the reaction point wants to hear of it.
func (n *NIC) marked(port int, q *qp) {
	n.stat.marked++
	switch n.fb {
	case congestion.CNPPackets:
		if q.np.OnMarked(n.node.Now()) {
			n.sendCNP(port, q)
		}
	case congestion.EchoOnAck:
		q.echo = true
	}
}

// duplicate answers a packet that has been taken before: READs and atomics
// again, everything else with an ACK.
func (n *NIC) duplicate(port int, q *qp, m *packet.Packet, seq uint64) {
	if op := verbs.Opcode(m.Op()); op == verbs.OpRead || op.IsAtomic() {
		n.execute(q, m, seq, true)
		return
	}
	n.stat.discarded++
	// Where single packets are repeated, every one may be the last that is missing.
	if !n.cfg.NoDupAck && (m.Flags&packet.FlagAckReq != 0 || q.irn != nil) {
		n.sendAck(port, q, m, packet.Ack, q.epsn-1, packet.SyndromeAck)
	}
}

// responder finds the queue pair of a packet, or accepts a new connection.
func (n *NIC) responder(port int, m *packet.Packet) *qp {
	if m.Flags&packet.FlagConnect == 0 {
		q := n.lookup(m.DstQP)
		if q != nil && q.peer != m.Src && q.service != verbs.UD {
			return nil
		}
		return q
	}
	key := uint64(uint32(m.Src))<<32 | uint64(m.SrcQP)
	if slot, ok := n.accept[key]; ok {
		return n.qps[slot]
	}
	if int(m.Classes) >= len(n.clients) {
		return nil
	}
	q := n.create(int(m.Classes), port, m.Src, serviceOf(m))
	q.accepted = true
	q.peerQP = m.SrcQP
	q.srcPort, q.dstPort = m.DstPort, m.SrcPort
	if m.DstPort == RoCEv2Port {
		q.srcPort, q.dstPort = m.SrcPort, RoCEv2Port
	}
	q.prio, q.dscp = n.ackClass(m)
	n.accept[key] = q.slot
	n.clients[m.Classes].OnAccept(q.handle, uint64(m.Aux)|uint64(m.DstQP)<<32)
	return q
}

// ackClass returns the priority and DSCP by which a connection is answered:
// those of its requests, where the NIC knows their DSCP. Priorities without a
// DSCP of their own have that of the NIC's, which means the NIC's.
func (n *NIC) ackClass(m *packet.Packet) (uint8, uint8) {
	if c, ok := n.priorityOf(m.DSCP); ok {
		return c, m.DSCP
	}
	return n.cfg.Priority, n.cfg.DSCP
}

// priorityOf returns the priority that is sent with a DSCP.
func (n *NIC) priorityOf(dscp uint8) (uint8, bool) {
	if dscp == n.cfg.DSCP {
		return n.cfg.Priority, true
	}
	for c, d := range n.cfg.PriorityDSCP {
		if d == dscp {
			return uint8(c), true
		}
	}
	return 0, false
}

func (n *NIC) inOrder(port int, q *qp, m *packet.Packet) {
	op := verbs.Opcode(m.Op())
	first, last := m.Flags&packet.FlagFirst != 0, m.Flags&packet.FlagLast != 0
	if (op.IsSend() && first || op == verbs.OpWriteImm && last) && !n.hasReceive(q) {
		n.stat.discarded++
		if !q.nakSent || q.nakFor != q.epsn || m.Flags&packet.FlagRetx != 0 {
			q.nakSent, q.nakFor = true, q.epsn
			n.stat.rnrs++
			n.event(trace.EventRNR, q, "no receive is posted")
			n.sendAck(port, q, m, packet.Nak, q.epsn, packet.SyndromeRNR|uint32(q.rnrTimer))
		}
		return
	}
	if q.full != nil && !n.admit(port, q, m) {
		return
	}
	if op == verbs.OpRead || op.IsAtomic() {
		q.nakSent = false
		n.stat.delivered++
		n.execute(q, m, q.epsn, false)
		return
	}
	if first {
		q.msgStart = q.epsn
		q.recvLen = 0
	}
	q.epsn++
	q.nakSent = false
	q.unacked++
	q.recvLen += sim.Bytes(m.Payload)
	n.stat.delivered++
	n.stat.payload += uint64(m.Payload)
	if q.epsn == 1 {
		n.follow(q, m)
	}
	if q.inbound != nil {
		q.inbound.payload += uint64(m.Payload)
	}
	if last {
		q.msn = (q.msn + 1) & psnMask
		q.msgStart = q.epsn
	}
	if m.Flags&packet.FlagAckReq != 0 || q.unacked >= n.cfg.AckEvery {
		n.sendAck(port, q, m, packet.Ack, q.epsn-1, packet.SyndromeAck)
	}
	if m.Flags&packet.FlagClose != 0 {
		key := uint64(uint32(m.Src))<<32 | uint64(m.SrcQP)
		n.closed = append(n.closed, closedQP{n.node.Now(), key, q.slot, q.qpn})
	}
	if last && (op.Receives() || q.watch) {
		n.received(q, m, op)
	}
}

// hasReceive reports whether a receive is posted.
func (n *NIC) hasReceive(q *qp) bool {
	if q.full != nil {
		return q.full.hasReceive(q)
	}
	return q.recvHead < len(q.recvs)
}

// received tells the owner of a queue pair that a message has arrived.
func (n *NIC) received(q *qp, m *packet.Packet, op verbs.Opcode) {
	if q.full != nil {
		n.receivedFull(q, m, op)
		return
	}
	wc := verbs.WorkCompletion{Status: verbs.StatusSuccess, Opcode: op, Recv: true, Length: q.recvLen, QPN: q.qpn}
	if op.HasImm() {
		wc.Imm, wc.HasImm = m.Ext, true
	}
	if op.Receives() {
		r := q.recvs[q.recvHead]
		q.recvHead++
		wc.WRID = r.wrid
		if r.length < q.recvLen && op.IsSend() {
			wc.Status = verbs.StatusLocalLength
		}
	}
	n.complete(q, wc)
}

// outOfOrder discards a packet that came too early, or keeps it where lost
// packets are repaired one by one.
func (n *NIC) outOfOrder(port int, q *qp, m *packet.Packet, seq uint64) {
	if q.irn != nil && n.hold(port, q, m, seq) {
		return
	}
	n.stat.discarded++
	n.stat.early++
	now := n.node.Now()
	if n.cfg.GoBack0 && !q.nakSent && q.msgStart < q.epsn {
		// The message begins anew: what has arrived of it is worth nothing.
		n.stat.payload -= uint64(q.recvLen)
		n.stat.delivered -= q.epsn - q.msgStart
		n.stat.discarded += q.epsn - q.msgStart
		q.epsn, q.recvLen, q.unacked = q.msgStart, 0, 0
		if q.full != nil {
			q.full.inMessage = false
		}
	}
	again := n.cfg.NackInterval > 0 && now.Sub(q.nakAt) >= n.cfg.NackInterval
	if q.nakSent && q.nakFor == q.epsn && !again {
		return
	}
	q.nakSent, q.nakFor, q.nakAt = true, q.epsn, now
	n.stat.naks++
	n.event(trace.EventNAK, q, "PSN sequence error")
	n.sendAck(port, q, m, packet.Nak, q.epsn, packet.SyndromeSequence)
}

// sendAck answers a packet with an ACK up to seq, or with a NAK that expects seq.
func (n *NIC) sendAck(port int, q *qp, m *packet.Packet, kind packet.Kind, seq uint64, syndrome uint32) {
	flags := uint8(0)
	if q.echo {
		flags |= packet.FlagEcho
		q.echo = false
	}
	if kind == packet.Nak && syndrome&0xe0 == packet.SyndromeRNR {
		flags |= packet.FlagRNR
	}
	q.unacked = 0
	prio, dscp := m.Prio, m.DSCP
	if n.cfg.AckPriority >= 0 {
		prio = uint8(n.cfg.AckPriority)
	}
	if n.cfg.AckDSCP >= 0 {
		dscp = uint8(n.cfg.AckDSCP)
	}
	a := packet.Packet{Kind: kind, Sent: m.Sent, Src: n.cfg.Endpoints[port], Dst: m.Src, SrcQP: q.wireQPN(), DstQP: m.SrcQP,
		PSN: uint32(seq) & psnMask, Aux: q.msn, Size: uint16(n.cfg.Sizes.Ack), SrcPort: q.srcPort, DstPort: q.dstPort,
		Prio: prio, DSCP: dscp, ECN: n.ecn, TTL: n.cfg.TTL, Flags: flags, Opcode: m.Opcode, Ext: syndrome}
	if r := q.resp; r != nil && r.waiting() { // one answer stands for those before it
		if !r.hold || r.answer.Kind == packet.Ack {
			r.answer, r.hold = a, true
		}
		return
	}
	n.stat.acks++
	n.control(port, &a)
}

func (n *NIC) sendCNP(port int, q *qp) {
	n.stat.cnpSent++
	c := packet.Packet{Kind: packet.CNP, Sent: n.node.Now(), Src: n.cfg.Endpoints[port], Dst: q.peer, SrcQP: q.wireQPN(), DstQP: q.peerQP,
		Size: uint16(n.cfg.Sizes.CNP), SrcPort: q.srcPort, DstPort: q.dstPort,
		Prio: n.cfg.CNPPriority, DSCP: n.cfg.CNPDSCP, ECN: packet.NotECT, TTL: n.cfg.TTL}
	n.control(port, &c)
}

func (n *NIC) control(port int, m *packet.Packet) {
	p := &n.ports[port]
	p.ctrl[m.Prio&7].push(m)
	p.ctrlMask |= 1 << (m.Prio & 7)
	n.transmit(port)
}

// complete hands a completion to the application.
func (n *NIC) complete(q *qp, wc verbs.WorkCompletion) {
	if q.handle == nil {
		return
	}
	if n.dma != nil {
		n.dma.completed(n.node.Now())
	}
	if n.cfg.Host.Poll > 0 || n.cfg.Host.Moderation > 0 {
		n.later(q, wc)
	} else {
		n.clients[q.client].OnCompletion(q.handle, wc)
	}
}

// completed hands over the completion of a request.
func (n *NIC) completed(q *qp, m *message, wc verbs.WorkCompletion) {
	if q.full != nil {
		n.completedFull(q, m, wc)
		return
	}
	n.complete(q, wc)
}
