package simnic

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// embark loads the bytes and addresses of a request's packet; false, with the
// reason in the message, if the memory of its own side does not allow it.
func (n *NIC) embark(q *qp, m *message, offset sim.Bytes, k *packet.Packet) bool {
	w, f := m.work, q.full
	if m.bad != verbs.StatusSuccess {
		return false
	}
	c := cargo{addr: w.remote + uint64(offset), rkey: w.rkey, compare: w.compare, swap: w.swap, qkey: w.qkey, solicited: w.solicited}
	ok := true
	switch {
	case m.responds():
		ok = n.pieces(f.pd, w.sg, 0, m.length, verbs.LocalWrite, func([]byte) {})
	case w.isInline:
		c.data = w.inline[offset : offset+sim.Bytes(k.Payload)]
	default:
		c.data, ok = n.gather(f.pd, w.sg, offset, sim.Bytes(k.Payload))
	}
	if !ok {
		m.bad = verbs.StatusLocalProtection
		return false
	}
	if q.service == verbs.UD {
		k.Dst, k.DstQP = w.ah.endpoint, w.qpn
		if tc := w.ah.attr.TrafficClass; tc != 0 {
			k.DSCP = tc >> 2
		}
	}
	k.Aux = n.load(c)
	return true
}

// from reports whether a packet comes from the queue pair's peer.
func (f *fullQP) from(q *qp, m *packet.Packet) bool { return m.Src == q.peer && m.SrcQP == q.peerQP }

// listens reports whether a queue pair takes requests, and this one.
func (n *NIC) listens(q *qp, m *packet.Packet) bool {
	f := q.full
	if serviceOf(m) != q.service || m.Flags&packet.FlagConnect != 0 {
		return false
	}
	switch q.state {
	case verbs.StateRTR, verbs.StateRTS, verbs.StateSQD, verbs.StateSQE:
	default:
		return false
	}
	if q.service == verbs.UD {
		c, ok := n.unload(m)
		if !ok || c.qkey != f.attr.QKey {
			n.qkeyFails++
			return false
		}
	} else if !f.from(q, m) {
		return false
	}
	if q.state == verbs.StateRTR && !f.heard {
		f.heard = true
		f.pd.ctx.tell(verbs.AsyncEvent{Kind: verbs.AsyncCommEst, QPN: f.qpn})
	}
	return true
}

func (f *fullQP) hasReceive(q *qp) bool {
	if f.hasRecv {
		return true
	}
	if f.srq != nil {
		return f.srq.head < len(f.srq.list)
	}
	return q.recvHead < len(q.recvs)
}

// receive takes the oldest receive.
func (f *fullQP) receive(q *qp) posted {
	if f.srq != nil {
		return f.srq.take()
	}
	r := q.recvs[q.recvHead]
	q.recvHead++
	return r
}

// admit checks a request packet that has arrived in order, and puts its bytes
// where they belong. A packet that is refused is answered as the standard has it
// (InfiniBand Architecture, volume 1, tables 58 and 59).
func (n *NIC) admit(port int, q *qp, m *packet.Packet) bool {
	f := q.full
	c, ok := n.unload(m)
	if !ok {
		n.stat.discarded++
		return false
	}
	op := verbs.Opcode(m.Op())
	first, last := m.Flags&packet.FlagFirst != 0, m.Flags&packet.FlagLast != 0
	size := sim.Bytes(m.Payload)
	if q.service == verbs.RC && first == f.inMessage || size > q.mtu || !last && size != q.mtu || sim.Bytes(len(c.data)) != size ||
		q.service == verbs.RC && last && !first && size == 0 {
		return n.refuse(port, q, m, packet.SyndromeInvalid)
	}
	f.solicited, f.srcQP = c.solicited, m.SrcQP
	switch {
	case op.IsSend():
		ok = n.admitSend(port, q, m, &c, first)
	case op.IsWrite():
		ok = n.admitWrite(port, q, m, &c, first, last)
	default:
		ok = n.admitRead(port, q, m, &c, op)
	}
	if ok {
		f.inMessage = !last
	}
	return ok
}

// admitSend puts a packet of a SEND into the receive of its message.
func (n *NIC) admitSend(port int, q *qp, m *packet.Packet, c *cargo, first bool) bool {
	f := q.full
	var at sim.Bytes
	switch {
	case !first:
		at = q.recvLen
	case !f.hasRecv: // else that of a message that broke off
		f.recv, f.hasRecv = f.receive(q), true
	}
	if q.service == verbs.UD {
		at = verbs.GRHBytes
	}
	if !f.hasRecv {
		return n.refuse(port, q, m, packet.SyndromeInvalid)
	}
	if at+sim.Bytes(len(c.data)) > f.recv.length {
		if q.service == verbs.UD { // too long for its buffer: silently dropped
			n.endReceive(q, verbs.StatusLocalLength)
			return false
		}
		return n.refuseReceive(port, q, m, packet.SyndromeInvalid, verbs.StatusLocalLength)
	}
	if q.service == verbs.UD {
		h := routingHeader(m)
		if !n.scatter(f.pd, f.recv.sg, 0, h[:]) {
			return n.refuse(port, q, m, packet.SyndromeOperation)
		}
	}
	if len(c.data) > 0 && !n.scatter(f.pd, f.recv.sg, at, c.data) {
		return n.refuseReceive(port, q, m, packet.SyndromeOperation, verbs.StatusLocalProtection)
	}
	return true
}

// admitWrite puts a packet of a WRITE into the memory that its first packet names.
func (n *NIC) admitWrite(port int, q *qp, m *packet.Packet, c *cargo, first, last bool) bool {
	f := q.full
	if first {
		if f.attr.Access&verbs.RemoteWrite == 0 {
			return n.refuse(port, q, m, packet.SyndromeAccess)
		}
		length := uint64(m.Ext)
		if last {
			length = uint64(m.Payload)
		}
		f.target = nil
		if length > 0 {
			if f.target = n.remote(f, c.rkey, c.addr, length, verbs.RemoteWrite); f.target == nil {
				return n.refuse(port, q, m, packet.SyndromeAccess)
			}
		}
		f.key, f.to = c.rkey, c.addr
	} else if left := uint64(len(f.target)); left > 0 && n.remote(f, f.key, f.to, left, verbs.RemoteWrite) == nil {
		return n.refuse(port, q, m, packet.SyndromeAccess) // the key has ended meanwhile
	}
	if len(c.data) > len(f.target) || last && len(c.data) != len(f.target) {
		return n.refuse(port, q, m, packet.SyndromeInvalid)
	}
	k := copy(f.target, c.data)
	f.target, f.to = f.target[k:], f.to+uint64(k)
	return true
}

// admitRead checks a READ or atomic request.
func (n *NIC) admitRead(port int, q *qp, m *packet.Packet, c *cargo, op verbs.Opcode) bool {
	f := q.full
	if q.resp != nil && len(q.resp.list)-q.resp.head >= int(f.attr.MaxDestRDAtomic) || f.attr.MaxDestRDAtomic == 0 {
		return n.refuse(port, q, m, packet.SyndromeInvalid)
	}
	if op == verbs.OpRead {
		if f.attr.Access&verbs.RemoteRead == 0 || m.Ext > 0 && n.remote(f, c.rkey, c.addr, uint64(m.Ext), verbs.RemoteRead) == nil {
			return n.refuse(port, q, m, packet.SyndromeAccess)
		}
		return true
	}
	if c.addr%8 != 0 {
		return n.refuse(port, q, m, packet.SyndromeInvalid)
	}
	if f.attr.Access&verbs.RemoteAtomic == 0 || n.remote(f, c.rkey, c.addr, 8, verbs.RemoteAtomic) == nil {
		return n.refuse(port, q, m, packet.SyndromeAccess)
	}
	return true
}

// refuse answers a request with a NAK and takes the queue pair to ERROR;
// unreliable services drop it.
func (n *NIC) refuse(port int, q *qp, m *packet.Packet, syndrome uint32) bool {
	if q.service != verbs.RC {
		return false // its receive serves the next message
	}
	f := q.full
	if syndrome == packet.SyndromeAccess && verbs.Opcode(m.Op()) == verbs.OpWriteImm && m.Flags&packet.FlagLast != 0 && f.hasReceive(q) {
		// The receive that the immediate data would have taken ends with it:
		// InfiniBand Architecture, volume 1, section 11.6.2.
		if !f.hasRecv {
			f.recv, f.hasRecv = f.receive(q), true
		}
		n.endReceive(q, verbs.StatusLocalAccess)
	}
	n.stat.discarded++
	n.stat.naks++
	n.event(trace.EventNAK, q, nakStatus(syndrome).String())
	n.sendAck(port, q, m, packet.Nak, q.epsn, syndrome)
	kind := verbs.AsyncQPRequest
	if syndrome == packet.SyndromeAccess {
		kind = verbs.AsyncQPAccess
	}
	q.full.pd.ctx.tell(verbs.AsyncEvent{Kind: kind, QPN: q.full.qpn})
	n.fail(q, verbs.StatusWRFlush)
	return false
}

// refuseReceive refuses a request because of the receive that it met, which
// completes with the status.
func (n *NIC) refuseReceive(port int, q *qp, m *packet.Packet, syndrome uint32, status verbs.Status) bool {
	if q.service == verbs.RC {
		n.endReceive(q, status)
	}
	return n.refuse(port, q, m, syndrome)
}

// endReceive completes the receive of the arriving message with an error.
func (n *NIC) endReceive(q *qp, status verbs.Status) {
	f := q.full
	f.hasRecv = false
	f.recvCQ.push(entry{wc: verbs.WorkCompletion{WRID: f.recv.wrid, Status: status, Recv: true, QPN: f.qpn}, q: f}, false)
}

// receivedFull completes the receive of a message that has arrived.
func (n *NIC) receivedFull(q *qp, m *packet.Packet, op verbs.Opcode) {
	f := q.full
	if op == verbs.OpWriteImm && !f.hasRecv {
		f.recv, f.hasRecv = f.receive(q), true
	}
	if !f.hasRecv {
		return
	}
	f.hasRecv = false
	wc := verbs.WorkCompletion{WRID: f.recv.wrid, Status: verbs.StatusSuccess, Opcode: op, Recv: true, Length: q.recvLen, QPN: f.qpn}
	switch {
	case op.HasImm():
		wc.Imm, wc.HasImm = m.Ext, true
	case op == verbs.OpSendInv:
		wc.HasInv, wc.InvalidatedKey = true, m.Ext
		n.invalidate(f, m.Ext)
	}
	if q.service == verbs.UD {
		wc.Length += verbs.GRHBytes
		wc.HasGRH, wc.SrcQP = true, f.srcQP
	}
	f.recvCQ.push(entry{wc: wc, q: f}, f.solicited)
}

// completedFull puts the completion of a request into its queue.
func (n *NIC) completedFull(q *qp, m *message, wc verbs.WorkCompletion) {
	wc.QPN = q.full.qpn
	q.full.sendCQ.push(entry{wc, q.full, m.work.place}, false)
}

// flushFull completes all receives of a queue pair, the one in use first.
func (n *NIC) flushFull(q *qp, status verbs.Status) {
	f := q.full
	if f.hasRecv {
		n.endReceive(q, status)
		status = verbs.StatusWRFlush
	}
	f.inMessage = false
	if f.srq != nil {
		f.pd.ctx.tell(verbs.AsyncEvent{Kind: verbs.AsyncQPLastWQE, QPN: f.qpn})
	}
	for q.recvHead < len(q.recvs) {
		r := q.recvs[q.recvHead]
		q.recvHead++
		f.recvCQ.push(entry{wc: verbs.WorkCompletion{WRID: r.wrid, Status: status, Recv: true, QPN: f.qpn}, q: f}, false)
		status = verbs.StatusWRFlush
	}
}
