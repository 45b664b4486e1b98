package simnic

import (
	"rdmasim/congestion"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// onAck advances the send queue to the acknowledged packet.
func (n *NIC) onAck(m *packet.Packet) {
	if m.IsResponse() && verbs.Opcode(m.Op()) == verbs.OpRead {
		n.onFeedback(m)
		return
	}
	q := n.lookup(m.DstQP)
	if q == nil || q.full != nil && !q.full.from(q, m) {
		return
	}
	now := n.node.Now()
	q.peerQP = m.SrcQP
	if m.Kind == packet.Nak {
		n.stat.naksGot++
		n.onNak(q, m, now)
		return
	}
	if m.IsResponse() {
		n.onAtomicAck(q, m, now)
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

// advance takes everything before seq as acknowledged.
func (n *NIC) advance(q *qp, seq uint64, m *packet.Packet, now sim.Time) {
	if q.special {
		if seq = n.untilResponse(q, seq, now); seq <= q.una {
			return
		}
	}
	bytes := sim.Bytes(seq-q.una) * q.mtu
	n.progress(q, seq, now)
	q.rp.OnAck(now, congestion.Ack{RTT: now.Sub(m.Sent), Bytes: bytes, Marked: m.Flags&packet.FlagEcho != 0})
	n.retire(q, seq)
}

// progress moves the oldest packet that is not acknowledged.
func (n *NIC) progress(q *qp, seq uint64, now sim.Time) {
	q.una = seq
	if q.nxt < seq { // an ACK overtook a go-back
		q.nxt = seq
	}
	if q.retries > 0 {
		q.retries = 0
		q.rto = n.timeoutOf(q)
	}
	q.rnr, q.extended = 0, false
	if q.irn != nil {
		q.irn.advance(q)
	}
	q.rtoAt = now.Add(q.rto)
	if q.wakeAt > q.rtoAt && q.una < q.sent { // the timer has become shorter
		n.sleep(q)
	}
}

// retire completes the requests whose last packet lies before seq.
func (n *NIC) retire(q *qp, seq uint64) {
	for q.head < len(q.msgs) && q.msgs[q.head].last < seq {
		if m := &q.msgs[q.head]; m.op.IsLocal() && !n.carryOut(q, m) {
			n.fail(q, m.bad)
			break
		}
		d := q.msgs[q.head]
		q.head++
		if d.started {
			q.rd--
		}
		n.finish(q, &d, verbs.StatusSuccess)
		if d.signaled {
			n.completed(q, &d, verbs.WorkCompletion{WRID: d.wrid, Status: verbs.StatusSuccess, Opcode: d.op, Length: d.length, QPN: q.qpn})
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
		return
	}
	if q.full != nil {
		n.drained(q)
	}
	if q.head < len(q.msgs) && q.msgs[q.head].bad != verbs.StatusSuccess {
		n.failLocally(q, &q.msgs[q.head])
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
	if seq >= q.sent || q.state != verbs.StateRTS && q.state != verbs.StateSQD || q.head == len(q.msgs) {
		return
	}
	if seq >= q.una || n.cfg.GoBack0 {
		n.lost(q, seq, nakDelay(m), now)
	}
	if seq > q.una {
		n.advance(q, seq, m, now)
		if q.handle == nil || q.state == verbs.StateError || q.head == len(q.msgs) {
			return
		}
	} else if seq < q.una && !n.cfg.GoBack0 {
		return
	}
	seq = max(q.una, seq)
	if q.special {
		seq = q.una // a READ before it may not have been answered
	}
	switch syndrome := m.Ext & packet.SyndromeMask; {
	case syndrome&0xe0 == packet.SyndromeRNR:
		q.rnr++
		if q.rnrMax < verbs.InfiniteRNR && q.rnr > int(q.rnrMax) {
			n.fail(q, verbs.StatusRNRRetryExceeded)
			return
		}
		q.holdAt = now.Add(verbs.RNRTimer(uint8(syndrome & 31)))
	case syndrome == packet.SyndromeSequence:
		q.rp.OnLoss(now)
		if q.irn != nil {
			n.onSack(q, m, now)
			return
		}
	default:
		if at := &q.msgs[q.head]; expand(q.una, m.PSN) >= at.first && expand(q.una, m.PSN) <= at.last {
			n.fail(q, nakStatus(syndrome))
			return
		}
	}
	n.arm(q, now)
	n.goBack(q, seq)
	n.offer(q)
}

// nakStatus returns how a request ends that the responder has refused.
// Source: InfiniBand Architecture, volume 1, table 46.
func nakStatus(syndrome uint32) verbs.Status {
	switch syndrome {
	case packet.SyndromeInvalid:
		return verbs.StatusRemoteInvalidRequest
	case packet.SyndromeAccess:
		return verbs.StatusRemoteAccess
	case packet.SyndromeOperation:
		return verbs.StatusRemoteOperation
	}
	return verbs.StatusBadResponse
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
