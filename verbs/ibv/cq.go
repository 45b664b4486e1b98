//go:build linux && (amd64 || arm64)

package ibv

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/ebitengine/purego"

	"rdmasim/sim"
	"rdmasim/verbs"
)

func (c *deviceContext) CreateCompletionChannel() (verbs.CompletionChannel, error) {
	ch, err := call("ibv_create_comp_channel", c.lib.createCompChannel, c.ctx)
	if err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(int(at[objChannel](ch).FD), true); err != nil {
		return nil, err
	}
	c.count(1)
	return &Channel{c: c, ch: ch}, nil
}

// Channel is a completion channel with a file descriptor to wait on.
type Channel struct {
	c  *deviceContext
	ch uintptr
}

// Event takes the oldest event.
func (h *Channel) Event() (cq verbs.CompletionQueue, ok bool) {
	_ = withC([2]uintptr{}, func(p *[2]uintptr, addr uintptr) error {
		if err := status("ibv_get_cq_event", h.c.lib.getCQEvent, h.ch, addr, addr+8); err != nil {
			return err
		}
		h.c.mu.Lock()
		defer h.c.mu.Unlock()
		if q := h.c.cqs[p[0]]; q != nil {
			cq, ok = q, true
		}
		return nil
	})
	return cq, ok
}

// Wait sleeps until there is an event, at most so long.
func (h *Channel) Wait(d time.Duration) error { return Wait([]verbs.CompletionChannel{h}, d) }

// AckEvents acknowledges events of a queue.
func (h *Channel) AckEvents(cq verbs.CompletionQueue, n int) {
	if q, ok := cq.(*completionQueue); ok && n > 0 {
		_, _, _ = purego.SyscallN(h.c.lib.ackCQEvents, q.cq, uintptr(n))
	}
}

// Destroy ends the channel.
func (h *Channel) Destroy() error {
	if err := status("ibv_destroy_comp_channel", h.c.lib.destroyCompChannel, h.ch); err != nil {
		return err
	}
	h.c.count(-1)
	return nil
}

func (c *deviceContext) CreateCQ(entries int, ch verbs.CompletionChannel) (verbs.CompletionQueue, error) {
	if entries <= 0 {
		return nil, fmt.Errorf("%w: a completion queue of %d entries", verbs.ErrInvalid, entries)
	}
	var channel uintptr
	if ch != nil {
		h, ok := ch.(*Channel)
		if !ok || h.c != c {
			return nil, fmt.Errorf("%w: the channel is of another device", verbs.ErrInvalid)
		}
		channel = h.ch
	}
	wc, mem, err := arenaOf[workCompletion](pollBatch)
	if err != nil {
		return nil, err
	}
	cq, err := call("ibv_create_cq", c.lib.createCQ, c.ctx, uintptr(entries), 0, channel, 0)
	if err != nil {
		return nil, errors.Join(err, mem.Free())
	}
	q := &completionQueue{c: c, cq: cq, wc: wc, mem: mem}
	c.mu.Lock()
	c.children++
	c.cqs[cq] = q
	c.mu.Unlock()
	return q, nil
}

// pollBatch is how many completions one call takes at most.
const pollBatch = 64

type completionQueue struct {
	c   *deviceContext
	cq  uintptr
	wc  []workCompletion
	mem *Memory
}

func (q *completionQueue) Entries() int { return int(at[objCQ](q.cq).CQE) }

func (q *completionQueue) Poll(out []verbs.WorkCompletion) (int, error) {
	n := 0
	for n < len(out) {
		want := min(len(out)-n, pollBatch)
		r, _, _ := purego.SyscallN(q.c.ops[opPollCQ], q.cq, uintptr(want), q.mem.Addr())
		got := int(int32(r))
		if got < 0 {
			return n, fmt.Errorf("%w (ibv_poll_cq returned %d)", verbs.ErrOverrun, got)
		}
		for i := range got {
			q.wc[i].to(&out[n])
			if out[n].Status != verbs.StatusSuccess {
				q.c.hasFailed(out[n].QPN)
			}
			if out[n].HasGRH { // Soft-RoCE says so of every receive
				_, out[n].HasGRH = q.c.datagrams.Load(out[n].QPN)
			}
			n++
		}
		if got < want {
			break
		}
	}
	return n, nil
}

// hasFailed notes that a queue pair is in ERROR.
func (c *deviceContext) hasFailed(number uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.qps {
		if q.QPN() == number && q.service == verbs.RC {
			q.failed.Store(true)
		}
	}
}

// Opcodes of completions and flags, ibv_wc_opcode and ibv_wc_flags.
const (
	wcRecv        = 1 << 7
	wcRecvImm     = wcRecv + 1
	wcFlagGRH     = 1
	wcFlagImm     = 2
	wcFlagWithInv = 8
)

var wcOpcodes = [...]verbs.Opcode{0: verbs.OpSend, 1: verbs.OpWrite, 2: verbs.OpRead, 3: verbs.OpCompareSwap, 4: verbs.OpFetchAdd}

// to translates a completion. Of a send-side completion the library says SEND
// for all kinds of SEND and RDMA_WRITE for both WRITEs.
func (w *workCompletion) to(o *verbs.WorkCompletion) {
	*o = verbs.WorkCompletion{WRID: w.ID, Status: verbs.Status(w.Status), QPN: w.QPNum}
	if w.Status != 0 {
		return
	}
	o.Length = sim.Bytes(w.ByteLen)
	if w.Opcode&wcRecv != 0 {
		o.Recv = true
		o.Opcode = verbs.OpSend
		o.SrcQP = w.SrcQP
		o.HasGRH = w.Flags&wcFlagGRH != 0
		switch {
		case w.Flags&wcFlagWithInv != 0:
			o.Opcode, o.HasInv, o.InvalidatedKey = verbs.OpSendInv, true, w.Imm
		case w.Opcode == wcRecvImm:
			o.Opcode = verbs.OpWriteImm
		case w.Flags&wcFlagImm != 0:
			o.Opcode = verbs.OpSendImm
		}
		if w.Flags&wcFlagImm != 0 {
			o.HasImm, o.Imm = true, networkOrder(w.Imm)
		}
		return
	}
	if int(w.Opcode) < len(wcOpcodes) {
		o.Opcode = wcOpcodes[w.Opcode]
	}
}

func (q *completionQueue) RequestNotify(solicitedOnly bool) error {
	var s uintptr
	if solicitedOnly {
		s = 1
	}
	return status("ibv_req_notify_cq", q.c.ops[opReqNotifyCQ], q.cq, s)
}

func (q *completionQueue) Destroy() error {
	if q.cq == 0 {
		return fmt.Errorf("%w: the completion queue is gone", verbs.ErrInvalid)
	}
	if err := status("ibv_destroy_cq", q.c.lib.destroyCQ, q.cq); err != nil {
		return err
	}
	q.c.mu.Lock()
	delete(q.c.cqs, q.cq)
	q.c.children--
	q.c.mu.Unlock()
	q.cq = 0
	return q.mem.Free()
}
