package simnic

import (
	"rdmasim/congestion"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// READ responses are not acknowledged, so that a responder whose reaction point
// lives on ACKs (DCTCP, TIMELY, Swift) would send them without any control. Of
// the ways out that an author of DCQCN lists (bobzhuyb/ns3-rdma, issue 7: an
// additional ACK in hardware, in software, no READs, no control, feedback of
// switches) this is the first: the requester answers responses with a feedback
// packet that carries what an ACK of data would, and that nobody repeats. CNPs
// need no such thing, and with Config.NoReadFeedback there is none.

// span is a run of responses that have been sent and not been heard of.
type span struct{ from, to uint64 }

// feedsBack reports whether READ responses are answered by feedback.
func (n *NIC) feedsBack() bool { return n.fb.ByAck() && !n.cfg.NoReadFeedback }

// inFlight is how many packets of responses have been sent and not been heard of.
func (r *responses) inFlight() (sum uint64) {
	for _, s := range r.spans {
		sum += s.to - s.from
	}
	return sum
}

// responding reports whether a queue pair has a response to send, and room for
// it in the window of its reaction point. Responses go before requests.
func (n *NIC) responding(q *qp, now sim.Time) bool {
	r := q.resp
	if r == nil || !r.waiting() {
		return false
	}
	if len(r.spans) == 0 || !n.feedsBack() {
		return true
	}
	w := q.rp.Window(now)
	return w == 0 || sim.Bytes(r.inFlight())*q.mtu < w
}

// responded notes that the response with a number leaves. It asks for feedback if
// it is the last of its READ, or if there is a window that must not wait for it.
func (n *NIC) responded(q *qp, seq uint64, last bool, k *packet.Packet) {
	r := q.resp
	if i := len(r.spans) - 1; i >= 0 && r.spans[i].to == seq {
		r.spans[i].to++
	} else {
		r.spans = append(r.spans, span{seq, seq + 1})
	}
	if last || q.rp.Window(n.node.Now()) > 0 {
		k.Flags |= packet.FlagAckReq
	}
}

// feedBack answers a response that has arrived in order.
func (n *NIC) feedBack(port int, q *qp, m *packet.Packet) {
	q.fedBytes += sim.Bytes(m.Payload)
	q.fedPackets++
	q.fedEcho = q.fedEcho || n.fb == congestion.EchoOnAck && m.ECN == packet.CE
	if m.Flags&packet.FlagAckReq == 0 && q.fedPackets < n.cfg.AckEvery {
		return
	}
	a := packet.Packet{Kind: packet.Ack, Sent: m.Sent, Src: n.cfg.Endpoints[port], Dst: m.Src, SrcQP: q.wireQPN(), DstQP: m.SrcQP,
		PSN: m.PSN, Size: uint16(n.cfg.Sizes.Ack), SrcPort: q.srcPort, DstPort: q.dstPort, Opcode: uint8(verbs.OpRead) | packet.OpResponse,
		Prio: m.Prio, DSCP: m.DSCP, ECN: n.ecn, TTL: n.cfg.TTL, Ext: packet.SyndromeAck, Aux: uint32(q.fedBytes)}
	if q.fedEcho {
		a.Flags |= packet.FlagEcho
	}
	if n.cfg.AckPriority >= 0 {
		a.Prio = uint8(n.cfg.AckPriority)
	}
	if n.cfg.AckDSCP >= 0 {
		a.DSCP = uint8(n.cfg.AckDSCP)
	}
	q.fedBytes, q.fedPackets, q.fedEcho = 0, 0, false
	n.stat.acks++
	n.control(port, &a)
}

// onFeedback hands feedback on READ responses to the responder's reaction point.
func (n *NIC) onFeedback(m *packet.Packet) {
	q := n.lookup(m.DstQP)
	if q == nil || q.resp == nil || q.rp == nil || q.full != nil && !q.full.from(q, m) {
		return
	}
	r := q.resp
	seq := expand(q.epsn, m.PSN)
	i := 0
	for ; i < len(r.spans) && r.spans[i].from <= seq; i++ {
		if r.spans[i].to > seq+1 {
			r.spans[i].from = seq + 1
			break
		}
	}
	r.spans = append(r.spans[:0], r.spans[i:]...)
	now := n.node.Now()
	q.rp.OnAck(now, congestion.Ack{RTT: now.Sub(m.Sent), Bytes: sim.Bytes(m.Aux), Marked: m.Flags&packet.FlagEcho != 0})
	n.offer(q)
}

// askedAgain forgets what was in flight: the requester wants it again.
func (n *NIC) askedAgain(q *qp) {
	q.resp.spans = q.resp.spans[:0]
	if n.feedsBack() {
		q.rp.OnLoss(n.node.Now())
	}
}
