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

// PostSend appends a request to the send queue.
func (h *QP) PostSend(wr verbs.WorkRequest) error {
	if !h.live() {
		return fmt.Errorf("%w: the queue pair is closed", verbs.ErrInvalid)
	}
	q, n := h.q, h.n
	switch wr.Opcode {
	case verbs.OpWrite, verbs.OpWriteImm, verbs.OpSend, verbs.OpSendImm:
	default:
		return fmt.Errorf("%w: opcode %v on the simulated NIC", verbs.ErrNotSupported, wr.Opcode)
	}
	if wr.Length < 0 || wr.Length > 1<<31 && !n.cfg.Sizes.Plain {
		return fmt.Errorf("%w: message of %d bytes, the limit is 2 GiB", verbs.ErrInvalid, wr.Length)
	}
	if q.depth > 0 && len(q.msgs)-q.head >= q.depth {
		return fmt.Errorf("%w: %d requests are outstanding on qp %d", verbs.ErrNoMemory, q.depth, q.qpn)
	}
	now := n.node.Now()
	if q.state != verbs.StateRTS {
		n.complete(q, verbs.WorkCompletion{WRID: wr.WRID, Status: verbs.StatusWRFlush, Opcode: wr.Opcode, QPN: q.qpn})
		return nil
	}
	if q.rp == nil { // accepted: it sends for the first time
		n.route(q)
	}
	if n.cfg.Account {
		n.posted(q, now)
	}
	mtu := sim.Bytes(n.cfg.Sizes.Payload)
	packets := uint64(max((wr.Length+mtu-1)/mtu, 1))
	n.flowID++
	q.msgs = append(q.msgs, message{id: n.flowID, wrid: wr.WRID, op: wr.Opcode, signaled: wr.Signaled, length: wr.Length,
		first: q.end, last: q.end + packets - 1, posted: now, tag: wr.Tag})
	q.end += packets
	n.outstanding++
	n.activity()
	n.offer(q)
	return nil
}

// PostRecv adds a receive buffer.
func (h *QP) PostRecv(wrid uint64, length sim.Bytes) error {
	if !h.live() {
		return fmt.Errorf("%w: the queue pair is closed", verbs.ErrInvalid)
	}
	q := h.q
	if q.recvHead > 64 && q.recvHead*2 > len(q.recvs) {
		q.recvs = append(q.recvs[:0], q.recvs[q.recvHead:]...)
		q.recvHead = 0
	}
	q.recvs = append(q.recvs, posted{wrid, length})
	return nil
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
