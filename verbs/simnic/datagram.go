package simnic

import (
	"encoding/binary"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// serviceBits are what packets of a service have in their opcode.
func serviceBits(s verbs.Service) uint8 {
	switch s {
	case verbs.UC:
		return packet.ServiceUC
	case verbs.UD:
		return packet.ServiceUD
	}
	return packet.ServiceRC
}

func serviceOf(m *packet.Packet) verbs.Service {
	switch m.Service() {
	case packet.ServiceUC:
		return verbs.UC
	case packet.ServiceUD:
		return verbs.UD
	}
	return verbs.RC
}

// onUnreliable is the responder of UC and UD: nothing is acknowledged, and a
// message with a gap is lost. Source: InfiniBand Architecture, volume 1,
// sections 9.8.2 and 9.8.3.
func (n *NIC) onUnreliable(port int, m *packet.Packet) {
	if m.DstQP == cmQP {
		if n.cfg.Memory != nil && m.Ext == 0 {
			n.onCM(m)
		} else {
			n.onSetup(port, m)
		}
		return
	}
	q := n.responder(port, m)
	if q == nil || serviceOf(m) != q.service || q.full != nil && !n.listens(q, m) {
		n.stat.discarded++
		return
	}
	if m.ECN == packet.CE {
		n.marked(port, q)
	}
	op := verbs.Opcode(m.Op())
	first, last := m.Flags&packet.FlagFirst != 0, m.Flags&packet.FlagLast != 0
	if q.service == verbs.UC {
		seq := expand(q.epsn, m.PSN)
		gap := seq != q.epsn
		if gap {
			n.stat.early++
		}
		if f := q.full; f != nil && f.srq != nil && f.hasRecv && (gap || first) {
			// The message that a receive of a shared queue was taken for has
			// broken off: InfiniBand Architecture, volume 1, section 11.6.2.
			n.endReceive(q, verbs.StatusRemoteAborted)
		}
		if first {
			q.receives = true
		} else if gap {
			q.receives = false
		}
		q.epsn = seq + 1
		if first {
			q.msgStart, q.recvLen = seq, 0
		}
	} else {
		q.recvLen, q.receives = 0, true
	}
	lacking := (op.IsSend() && first || op == verbs.OpWriteImm && last) && !n.hasReceive(q)
	if !q.receives || lacking || q.full != nil && !n.admit(port, q, m) {
		q.receives = false
		n.stat.discarded++
		return
	}
	q.recvLen += sim.Bytes(m.Payload)
	n.stat.delivered++
	n.stat.payload += uint64(m.Payload)
	if last {
		q.receives = false
		q.msn = (q.msn + 1) & psnMask
		if op.Receives() || q.watch {
			n.received(q, m, op)
		}
	}
}

// routingHeader is what stands in front of a datagram in the buffer of its
// receiver: with IPv4, an IPv4 header in the last 20 of the 40 bytes, and the
// others as they may be. Source: InfiniBand Architecture, annex A17.4.5.2;
// ibv_post_recv(3).
func routingHeader(m *packet.Packet) (h [verbs.GRHBytes]byte) {
	b := h[verbs.GRHBytes-SizeIPv4:]
	b[0], b[1] = 0x45, m.DSCP<<2|m.ECN
	binary.BigEndian.PutUint16(b[2:], uint16(SizeIPv4+SizeUDP+SizeBTH+SizeDETH+SizeICRC)+(m.Payload+3)&^3)
	b[6], b[8], b[9] = 0x40, m.TTL, 17 // do not fragment; UDP
	src, dst := GIDOf(m.Src), GIDOf(m.Dst)
	copy(b[12:], src[12:])
	copy(b[16:], dst[12:])
	sum := uint32(0)
	for i := 0; i < SizeIPv4; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	binary.BigEndian.PutUint16(b[10:], ^uint16(sum>>16+sum&0xffff))
	return h
}
