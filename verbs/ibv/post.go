//go:build linux && (amd64 || arm64)

package ibv

import (
	"errors"
	"fmt"
	"unsafe"

	"rdmasim/verbs"
)

// wrOpcodes translates verbs.Opcode to ibv_wr_opcode.
var wrOpcodes = [...]uint32{verbs.OpWrite: 0, verbs.OpWriteImm: 1, verbs.OpSend: 2, verbs.OpSendImm: 3, verbs.OpRead: 4,
	verbs.OpCompareSwap: 5, verbs.OpFetchAdd: 6, verbs.OpSendInv: 9}

// Flags of a send request, ibv_send_flags.
const (
	sendFence     = 1
	sendSignaled  = 2
	sendSolicited = 4
	sendInline    = 8
)

// PostSend hands requests to the device, up to postBatch per call.
func (q *queuePair) PostSend(wrs ...verbs.WorkRequest) (int, error) {
	done := 0
	for done < len(wrs) {
		n := min(len(wrs)-done, postBatch)
		var bad error
		for i := range n {
			if bad = q.fill(i, &wrs[done+i]); bad != nil {
				n = i // what stands before a bad request is posted all the same
				break
			}
		}
		if n > 0 {
			q.swr[n-1].Next = 0
			if err := status("ibv_post_send", q.c.ops[opPostSend], q.qp, address(&q.swr[0]), address(q.bad)); err != nil {
				return done + q.badSend(n), err
			}
			done += n
		}
		if bad != nil {
			return done, bad
		}
	}
	return done, nil
}

// badSend returns which request of the batch the library did not take.
func (q *queuePair) badSend(n int) int {
	at := int((*q.bad - address(&q.swr[0])) / unsafe.Sizeof(sendWR{}))
	if *q.bad < address(&q.swr[0]) || at >= n {
		return 0
	}
	return at
}

// fill translates a request into the ith of the batch. It refuses what devices
// are known to take without a word although the standard forbids it.
func (q *queuePair) fill(i int, w *verbs.WorkRequest) error {
	switch {
	case int(w.Opcode) >= len(wrOpcodes) || !q.service.Allows(w.Opcode):
		return fmt.Errorf("%w: %v on a %v queue pair", verbs.ErrInvalid, w.Opcode, q.service)
	case len(w.SGList) > q.per:
		return fmt.Errorf("%w: %d pieces of memory, the queue pair takes %d", verbs.ErrInvalid, len(w.SGList), q.per)
	case q.service == verbs.UD && w.AH == nil:
		return fmt.Errorf("%w: a datagram needs an address handle", verbs.ErrInvalid)
	case w.Inline && int(w.Bytes()) > q.cap.Inline:
		return fmt.Errorf("%w: %d bytes inline, the queue pair takes %d", verbs.ErrInvalid, w.Bytes(), q.cap.Inline)
	case w.Opcode.IsAtomic() && (w.Bytes() != 8 || w.RemoteAddr%8 != 0):
		return fmt.Errorf("%w: an atomic works on 8 bytes at a multiple of 8", verbs.ErrInvalid)
	}
	c := &q.swr[i]
	*c = sendWR{ID: w.WRID, Opcode: wrOpcodes[w.Opcode], NumSGE: int32(len(w.SGList)), Imm: networkOrder(w.Imm)}
	if i+1 < postBatch {
		c.Next = address(&q.swr[i+1])
	}
	c.SGList = q.pieces(i, w.SGList)
	for _, f := range [...]struct {
		on  bool
		bit uint32
	}{{w.Fence, sendFence}, {w.Signaled, sendSignaled}, {w.Solicited, sendSolicited}, {w.Inline, sendInline}} {
		if f.on {
			c.Flags |= f.bit
		}
	}
	switch {
	case w.Opcode == verbs.OpSendInv:
		c.Imm = w.InvalidateKey
	case w.Opcode.IsAtomic():
		c.Words = [4]uint64{w.RemoteAddr, w.CompareAdd, w.Swap, uint64(w.RKey)}
	case q.service == verbs.UD:
		h, ok := w.AH.(*addressHandle)
		if !ok || h.ah == 0 {
			return fmt.Errorf("%w: the address handle is of another provider, or gone", verbs.ErrInvalid)
		}
		c.Words = [4]uint64{uint64(h.ah), uint64(w.RemoteQPN) | uint64(w.RemoteQKey)<<32}
	case !w.Opcode.IsSend():
		c.Words = [4]uint64{w.RemoteAddr, uint64(w.RKey)}
	}
	return nil
}

// pieces copies a list of memory and returns its address for C.
func (q *queuePair) pieces(i int, list []verbs.SGE) uintptr {
	if len(list) == 0 {
		return 0
	}
	s := q.sges[i*q.per : (i+1)*q.per]
	for k, p := range list {
		s[k] = sge{p.Addr, p.Length, p.LKey}
	}
	return address(&s[0])
}

// PostRecv adds receives. Soft-RoCE's library puts them where the kernel finds
// them without telling it, so that in ERROR they would never be flushed; entering
// ERROR once more makes the kernel look.
func (q *queuePair) PostRecv(rs ...verbs.RecvRequest) (int, error) {
	n, err := q.postRecv(q.c.ops[opPostRecv], q.qp, rs)
	if q.failed.Load() && n > 0 {
		err = errors.Join(err, q.Modify(verbs.QPAttr{State: verbs.StateError}, verbs.AttrState))
	}
	return n, err
}

func (q *queuePair) postRecv(fn, queue uintptr, rs []verbs.RecvRequest) (int, error) {
	done := 0
	for done < len(rs) {
		n := min(len(rs)-done, postBatch)
		for i := range n {
			r := &rs[done+i]
			if len(r.SGList) > q.per {
				return done, fmt.Errorf("%w: %d pieces of memory, the queue takes %d", verbs.ErrInvalid, len(r.SGList), q.per)
			}
			q.rwr[i] = recvWR{ID: r.WRID, NumSGE: int32(len(r.SGList)), SGList: q.pieces(i, r.SGList)}
			if i+1 < n {
				q.rwr[i].Next = address(&q.rwr[i+1])
			}
		}
		if err := status("ibv_post_recv", fn, queue, address(&q.rwr[0]), address(q.bad)); err != nil {
			at := int((*q.bad - address(&q.rwr[0])) / unsafe.Sizeof(recvWR{}))
			if *q.bad < address(&q.rwr[0]) || at >= n {
				at = 0
			}
			return done + at, err
		}
		done += n
	}
	return done, nil
}
