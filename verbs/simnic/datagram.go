package simnic

import (
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
