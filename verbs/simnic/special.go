package simnic

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// dress makes a packet what its operation and service ask for beyond a WRITE or
// SEND of a sized connection, and returns the packet number that comes after
// it; 0 if the request cannot be carried out here.
func (n *NIC) dress(q *qp, m *message, seq uint64, k *packet.Packet) uint64 {
	next := seq + 1
	offset := sim.Bytes(seq-m.first) * q.mtu
	k.Opcode |= serviceBits(q.service)
	switch {
	case m.op == verbs.OpRead: // one packet asks for all that is still to come
		next = m.last + 1
		k.Flags |= packet.FlagFirst | packet.FlagLast | packet.FlagAckReq
		k.Payload, k.Ext = 0, uint32(m.length-offset)
		k.Size = uint16(n.cfg.Sizes.Request(m.op))
	case m.op.IsAtomic():
		k.Payload, k.Ext = 0, 0
		k.Size = uint16(n.cfg.Sizes.Request(m.op))
	case q.service == verbs.UD:
		k.Size += SizeDETH
	}
	if q.service != verbs.RC {
		k.Flags &^= packet.FlagAckReq
	}
	if q.full != nil && !n.embark(q, m, offset, k) {
		return 0
	}
	if m.responds() && !m.started {
		m.started = true
		q.rd++
	}
	return next
}
