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
	if q == nil {
		n.stat.discarded++
		return
	}
	if m.ECN == packet.CE {
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
	seq := expand(q.epsn, m.PSN)
	switch {
	case seq == q.epsn:
		n.inOrder(port, q, m)
	case seq > q.epsn:
		n.outOfOrder(port, q, m)
	default:
		n.stat.discarded++
		if !n.cfg.NoDupAck && m.Flags&packet.FlagAckReq != 0 {
			n.sendAck(port, q, m, packet.Ack, q.epsn-1)
		}
	}
}

// responder finds the queue pair of a packet, or accepts a new connection.
func (n *NIC) responder(port int, m *packet.Packet) *qp {
	if m.Flags&packet.FlagConnect == 0 {
		q := n.lookup(m.DstQP)
		if q != nil && q.peer != m.Src {
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
	q := n.create(int(m.Classes), port, m.Src)
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

// ackClass returns the priority and DSCP by which a connection is answered.
func (n *NIC) ackClass(m *packet.Packet) (uint8, uint8) {
	for c, d := range n.cfg.PriorityDSCP {
		if d == m.DSCP && c != int(n.cfg.Priority) {
			return uint8(c), d
		}
	}
	return n.cfg.Priority, n.cfg.DSCP
}

func (n *NIC) inOrder(port int, q *qp, m *packet.Packet) {
	send := verbs.Opcode(m.Opcode) == verbs.OpSend || verbs.Opcode(m.Opcode) == verbs.OpSendImm
	if send && m.Flags&packet.FlagFirst != 0 && q.recvHead == len(q.recvs) {
		n.stat.discarded++
		if !q.nakSent || q.nakFor != q.epsn || m.Flags&packet.FlagRetx != 0 {
			q.nakSent, q.nakFor = true, q.epsn
			n.stat.rnrs++
			n.event(trace.EventRNR, q, "no receive is posted")
			n.sendAck(port, q, m, packet.Nak, q.epsn)
		}
		return
	}
	if m.Flags&packet.FlagFirst != 0 {
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
	last := m.Flags&packet.FlagLast != 0
	if last {
		q.msn = (q.msn + 1) & psnMask
	}
	if m.Flags&packet.FlagAckReq != 0 || q.unacked >= n.cfg.AckEvery {
		n.sendAck(port, q, m, packet.Ack, q.epsn-1)
	}
	if m.Flags&packet.FlagClose != 0 {
		key := uint64(uint32(m.Src))<<32 | uint64(m.SrcQP)
		n.closed = append(n.closed, closedQP{n.node.Now(), key, q.slot, q.qpn})
	}
	if send && last {
		r := q.recvs[q.recvHead]
		q.recvHead++
		n.complete(q, verbs.WorkCompletion{WRID: r.wrid, Status: verbs.StatusSuccess, Opcode: verbs.Opcode(m.Opcode), Recv: true, Length: q.recvLen, QPN: q.qpn})
	}
}

// outOfOrder discards a packet that came too early.
func (n *NIC) outOfOrder(port int, q *qp, m *packet.Packet) {
	n.stat.discarded++
	n.stat.early++
	now := n.node.Now()
	if n.cfg.GoBack0 && !q.nakSent {
		// The message begins anew: what has arrived of it is worth nothing.
		n.stat.payload -= uint64(q.recvLen)
		n.stat.delivered -= q.epsn - q.msgStart
		n.stat.discarded += q.epsn - q.msgStart
		q.epsn, q.recvLen, q.unacked = q.msgStart, 0, 0
	}
	again := n.cfg.NackInterval > 0 && now.Sub(q.nakAt) >= n.cfg.NackInterval
	if q.nakSent && q.nakFor == q.epsn && !again {
		return
	}
	q.nakSent, q.nakFor, q.nakAt = true, q.epsn, now
	n.stat.naks++
	n.event(trace.EventNAK, q, "PSN sequence error")
	n.sendAck(port, q, m, packet.Nak, q.epsn)
}

// sendAck answers a packet with an ACK up to seq, or with a NAK that expects seq.
func (n *NIC) sendAck(port int, q *qp, m *packet.Packet, kind packet.Kind, seq uint64) {
	flags := uint8(0)
	if q.echo {
		flags |= packet.FlagEcho
		q.echo = false
	}
	if kind == packet.Nak && !q.gap(m) {
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
		Prio: prio, DSCP: dscp, ECN: n.ecn, TTL: n.cfg.TTL, Flags: flags, Opcode: m.Opcode}
	n.stat.acks++
	n.control(port, &a)
}

// gap reports whether the packet that is answered came out of order.
func (q *qp) gap(m *packet.Packet) bool { return expand(q.epsn, m.PSN) != q.epsn }

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
	if q.handle != nil {
		n.clients[q.client].OnCompletion(q.handle, wc)
	}
}

// rxBuffer is the receive memory of a NIC whose host is slower than the line.
type rxBuffer struct {
	slow  bool
	q     fifo
	from  []int32 // port of each waiting packet
	head  int
	bytes int64
	max   int64
	busy  bool
}

func (r *rxBuffer) init(n *NIC) { r.slow = n.cfg.Drain > 0 }

// arrive takes a packet from the wire.
func (r *rxBuffer) arrive(n *NIC, port int, m *packet.Packet) {
	if !r.slow || m.Kind != packet.Data {
		n.handle(port, m)
		return
	}
	size := int64(m.Size)
	if r.bytes+size > n.cfg.RxBuffer {
		p := &n.ports[port]
		if p.Cfg.Lossless&(1<<m.Prio) != 0 {
			p.Stat.DropLossless++
		} else {
			p.Stat.DropLossy++
		}
		if t := p.Tapped(); t != nil {
			t.Dropped(n.node.Now(), port, *m, "receive buffer full")
		}
		n.cfg.Sink.Event(trace.Event{Time: n.node.Now(), Kind: trace.EventDrop, Object: p.id, Prio: int8(m.Prio), Value: float64(size), Cause: "receive buffer full"})
		return
	}
	r.bytes += size
	r.max = max(r.max, r.bytes)
	r.q.push(m)
	r.from = append(r.from, int32(port))
	if r.bytes >= n.cfg.RxXoff {
		n.pausePeers(m.Prio, true)
	}
	r.start(n)
}

// start begins to hand the oldest packet to the host, unless that is going on
// or the host has stopped.
func (r *rxBuffer) start(n *NIC) {
	if r.busy || r.q.empty() || n.cfg.Drain <= 0 {
		return
	}
	r.busy = true
	n.node.At(n.node.Now().Add(n.cfg.Drain.TxTime(sim.Bytes(r.q.buf[r.q.head].Size))), kindDrain, 0, 0)
}

// drained hands the oldest packet to the host.
func (r *rxBuffer) drained(n *NIC) {
	m := r.q.pop()
	port := r.from[r.head]
	r.head++
	if r.head == len(r.from) {
		r.from, r.head = r.from[:0], 0
	}
	r.bytes -= int64(m.Size)
	r.busy = false
	r.start(n)
	if r.bytes < n.cfg.RxXoff/2 || r.bytes == 0 {
		n.pausePeers(m.Prio, false)
	}
	n.handle(int(port), &m)
}

// pausePeers asks the switches to stop or resume a class.
func (n *NIC) pausePeers(c uint8, stop bool) {
	for i := range n.ports {
		p := &n.ports[i]
		if p.Cfg.Lossless&(1<<c) == 0 || p.Holds(int(c)) == stop || !stop && p.stuck&(1<<c) != 0 {
			continue
		}
		kind := trace.EventXoff
		if stop {
			p.Xoff(int(c))
		} else {
			p.Xon(int(c))
			kind = trace.EventXon
		}
		if n.cfg.PauseLog {
			n.cfg.Sink.Event(trace.Event{Time: n.node.Now(), Kind: kind, Object: p.id, Peer: n.cfg.PeerIDs[i], Prio: int8(c), Value: float64(n.rx.bytes), Cause: "receive buffer"})
		}
		n.transmit(i)
	}
}
