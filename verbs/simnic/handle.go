package simnic

import (
	"fmt"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// QP is the handle of a queue pair that applications hold.
type QP struct {
	n    *NIC
	q    *qp
	qpn  uint32
	peer int32
}

func (h *QP) live() bool { return h.q != nil && h.q.handle == h }

// QPN returns the number of the queue pair.
func (h *QP) QPN() uint32 { return h.qpn }

// PeerEndpoint returns the endpoint at the other end.
func (h *QP) PeerEndpoint() int32 { return h.peer }

// State returns the state of the queue pair.
func (h *QP) State() verbs.State {
	if !h.live() {
		return verbs.StateReset
	}
	return h.q.state
}

// WatchWrites asks for a completion (Recv, OpWrite, no WRID) when a WRITE of
// the peer is in memory: what a program sees that polls the last byte.
func (h *QP) WatchWrites() { h.q.watch = true }

// PostSend appends a request to the send queue.
func (h *QP) PostSend(wr verbs.WorkRequest) error {
	if !h.live() {
		return fmt.Errorf("%w: the queue pair is closed", verbs.ErrInvalid)
	}
	q, n := h.q, h.n
	if !q.service.Allows(wr.Opcode) || wr.Opcode.IsLocal() {
		return fmt.Errorf("%w: opcode %v on a queue pair of %v", verbs.ErrInvalid, wr.Opcode, q.service)
	}
	if err := n.checkLength(q, &wr); err != nil {
		return err
	}
	if q.depth > 0 && len(q.msgs)-q.head >= q.depth {
		return fmt.Errorf("%w: %d requests are outstanding on qp %d", verbs.ErrNoMemory, q.depth, q.qpn)
	}
	if q.state != verbs.StateRTS {
		n.complete(q, verbs.WorkCompletion{WRID: wr.WRID, Status: verbs.StatusWRFlush, Opcode: wr.Opcode, QPN: q.qpn})
		return nil
	}
	n.post(q, message{wrid: wr.WRID, op: wr.Opcode, signaled: wr.Signaled, fence: wr.Fence, imm: wr.Imm, length: wr.Length, tag: wr.Tag})
	return nil
}

// checkLength checks the payload of a request against what its operation and
// service carry.
func (n *NIC) checkLength(q *qp, wr *verbs.WorkRequest) error {
	length := wr.Bytes()
	switch {
	case length < 0 || length > verbs.MaxMessage && !n.cfg.Sizes.Plain:
		return fmt.Errorf("%w: message of %d bytes, the limit is 2 GiB", verbs.ErrInvalid, length)
	case wr.Opcode.IsAtomic() && length != 8:
		return fmt.Errorf("%w: %v of %d bytes: atomic operations have 8", verbs.ErrInvalid, wr.Opcode, length)
	case q.service == verbs.UD && length > q.mtu && q.full == nil:
		return fmt.Errorf("%w: datagram of %v: the path MTU is %v", verbs.ErrInvalid, length, q.mtu)
	}
	return nil
}

// post appends a message to the send queue.
func (n *NIC) post(q *qp, m message) {
	if q.rp == nil { // accepted: it sends for the first time
		n.route(q)
	}
	count := packets(m.length, q.mtu)
	if m.op.IsLocal() {
		count, q.special = 0, true
	}
	n.flowID++
	m.id, m.posted = n.flowID, n.node.Now()
	m.first, m.last = q.end, q.end+count-1
	if n.cfg.Host.posts() {
		m.ready = n.ready(&m, m.posted)
		q.hosted = true
	}
	if m.fence || m.responds() {
		q.special = true
	}
	q.msgs = append(q.msgs, m)
	if n.cfg.Account {
		n.posted(q, &q.msgs[len(q.msgs)-1], m.posted)
	}
	q.end += count
	n.outstanding++
	n.activity()
	n.offer(q)
}

// PostRecv adds a receive buffer.
func (h *QP) PostRecv(wrid uint64, length sim.Bytes) error {
	if !h.live() {
		return fmt.Errorf("%w: the queue pair is closed", verbs.ErrInvalid)
	}
	q := h.q
	if h.n.late > 0 {
		h.n.postLate(q, posted{wrid: wrid, length: length})
		return nil
	}
	h.n.addReceive(q, posted{wrid: wrid, length: length})
	return nil
}

// addReceive makes a receive ready for the next SEND.
func (n *NIC) addReceive(q *qp, r posted) {
	if q.recvHead > 64 && q.recvHead*2 > len(q.recvs) {
		q.recvs = append(q.recvs[:0], q.recvs[q.recvHead:]...)
		q.recvHead = 0
	}
	q.recvs = append(q.recvs, r)
}

// Close destroys the queue pair once what it has posted is complete.
func (h *QP) Close() {
	if !h.live() {
		return
	}
	h.q.closing = true
	if h.q.head == len(h.q.msgs) {
		h.n.destroy(h.q)
	}
}
