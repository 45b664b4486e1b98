//go:build linux && (amd64 || arm64)

package ibv

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"rdmasim/verbs"
)

// qpTypes translates services, ibv_qp_type.
var qpTypes = map[verbs.Service]uint32{0: 2, verbs.RC: 2, verbs.UC: 3, verbs.UD: 4}

func (p *protectionDomain) CreateQP(a verbs.QPParams) (verbs.QueuePair, error) {
	typ, ok := qpTypes[a.Service]
	if !ok {
		return nil, fmt.Errorf("%w: service %v", verbs.ErrInvalid, a.Service)
	}
	send, ok1 := a.SendCQ.(*completionQueue)
	recv, ok2 := a.RecvCQ.(*completionQueue)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("%w: a queue pair needs two completion queues of its device", verbs.ErrInvalid)
	}
	k := a.Capacity
	if k.SendWR < 0 || k.RecvWR < 0 || k.SendSGE < 0 || k.RecvSGE < 0 || k.Inline < 0 {
		return nil, fmt.Errorf("%w: capacity %+v", verbs.ErrInvalid, k)
	}
	init := qpInitAttr{SendCQ: send.cq, RecvCQ: recv.cq, Type: typ, Cap: capOf(k)}
	if a.SRQ != nil {
		s, ok := a.SRQ.(*sharedQueue)
		if !ok {
			return nil, fmt.Errorf("%w: the shared receive queue is of another provider", verbs.ErrInvalid)
		}
		init.SRQ = s.srq
	}
	if a.SignalAll {
		init.SigAll = 1
	}
	q := &queuePair{c: p.c, service: a.Service}
	if q.service == 0 {
		q.service = verbs.RC
	}
	err := withC(init, func(i *qpInitAttr, addr uintptr) (err error) {
		q.qp, err = call("ibv_create_qp", p.c.lib.createQP, p.pd, addr)
		q.cap = capFrom(i.Cap)
		return err
	})
	if err != nil {
		if errors.Is(err, verbs.ErrNoMemory) {
			err = fmt.Errorf("ibv_create_qp: no memory for %+v on %s", k, p.c.name)
		}
		return nil, err
	}
	if err := q.allocate(); err != nil {
		return nil, errors.Join(err, q.Destroy())
	}
	if q.service == verbs.UD {
		p.c.datagrams.Store(q.QPN(), true)
	}
	p.c.mu.Lock()
	p.c.qps[q.qp] = q
	p.c.mu.Unlock()
	return q, nil
}

func capOf(k verbs.Capacity) qpCap {
	return qpCap{uint32(k.SendWR), uint32(k.RecvWR), uint32(k.SendSGE), uint32(k.RecvSGE), uint32(k.Inline)}
}

func capFrom(k qpCap) verbs.Capacity {
	return verbs.Capacity{SendWR: int(k.MaxSendWR), RecvWR: int(k.MaxRecvWR), SendSGE: int(k.MaxSendSGE), RecvSGE: int(k.MaxRecvSGE), Inline: int(k.MaxInlineData)}
}

// postBatch is how many requests one call of the library takes at most.
const postBatch = 32

type queuePair struct {
	c       *deviceContext
	qp      uintptr
	service verbs.Service
	cap     verbs.Capacity

	mem  *Memory // holds what follows
	swr  []sendWR
	rwr  []recvWR
	sges []sge // maxSGE for each request of a batch
	bad  *uintptr
	per  int

	failed atomic.Bool // in ERROR, as far as is known from Modify and from completions
}

// allocate lays out the memory through which requests are handed over.
func (q *queuePair) allocate() (err error) {
	q.per = max(q.cap.SendSGE, q.cap.RecvSGE, 1)
	const sw, rw, sg = int(unsafe.Sizeof(sendWR{})), int(unsafe.Sizeof(recvWR{})), int(unsafe.Sizeof(sge{}))
	q.mem, err = NewMemory(postBatch*(sw+rw+sg*q.per)+8, false)
	if err != nil {
		return err
	}
	base := unsafe.Pointer(unsafe.SliceData(q.mem.Bytes))
	q.bad = (*uintptr)(base)
	q.swr = unsafe.Slice((*sendWR)(unsafe.Add(base, 8)), postBatch)
	q.rwr = unsafe.Slice((*recvWR)(unsafe.Add(base, 8+postBatch*sw)), postBatch)
	q.sges = unsafe.Slice((*sge)(unsafe.Add(base, 8+postBatch*(sw+rw))), postBatch*q.per)
	return nil
}

func (q *queuePair) QPN() uint32            { return at[objQP](q.qp).Number }
func (q *queuePair) Service() verbs.Service { return q.service }

// State asks the device: a queue pair goes to ERROR on its own.
func (q *queuePair) State() verbs.State {
	var s verbs.State
	err := q.query(uint32(verbs.AttrState), func(a *qpAttr, _ *qpInitAttr) { s = verbs.State(a.State) })
	if err != nil {
		return verbs.StateError
	}
	return s
}

func (q *queuePair) query(mask uint32, f func(*qpAttr, *qpInitAttr)) error {
	type both struct {
		attr qpAttr
		init qpInitAttr
	}
	return withC(both{}, func(b *both, addr uintptr) error {
		err := status("ibv_query_qp", q.c.lib.queryQP, q.qp, addr, uintptr(mask), addr+unsafe.Offsetof(b.init))
		if err == nil {
			f(&b.attr, &b.init)
		}
		return err
	})
}

// Query returns the attributes as the device reports them.
func (q *queuePair) Query() (r verbs.QPAttr) {
	const all = 1<<21 - 1
	_ = q.query(all, func(a *qpAttr, i *qpInitAttr) {
		r = verbs.QPAttr{State: verbs.State(a.State), CurState: verbs.State(a.CurState), Access: verbs.Access(a.AccessFlags), PKeyIndex: a.PKeyIndex,
			Port: a.PortNum, QKey: a.QKey, AH: ahFrom(&a.AH), PathMTU: verbs.MTU(a.PathMTU), Timeout: a.Timeout, RetryCount: a.RetryCount,
			RNRRetry: a.RNRRetry, RQPSN: a.RQPSN, SQPSN: a.SQPSN, MaxRDAtomic: a.MaxRDAtomic, MaxDestRDAtomic: a.MaxDestRDAtomic,
			MinRNRTimer: a.MinRNRTimer, DestQPN: a.DestQPN, Capacity: q.cap}
	})
	return r
}

// Modify checks the call against the standard before the device sees it: what
// devices and kernels let pass differs.
func (q *queuePair) Modify(a verbs.QPAttr, mask verbs.AttrMask) error {
	if err := verbs.CheckModify(q.service, q.State(), &a, mask); err != nil {
		return err
	}
	c := qpAttr{State: uint32(a.State), CurState: uint32(a.CurState), PathMTU: uint32(a.PathMTU), QKey: a.QKey, RQPSN: a.RQPSN, SQPSN: a.SQPSN,
		DestQPN: a.DestQPN, AccessFlags: uint32(a.Access &^ verbs.HugePages), Cap: capOf(a.Capacity), AH: ahOf(&a.AH), PKeyIndex: a.PKeyIndex,
		MaxRDAtomic: a.MaxRDAtomic, MaxDestRDAtomic: a.MaxDestRDAtomic, MinRNRTimer: a.MinRNRTimer, PortNum: a.Port, Timeout: a.Timeout,
		RetryCount: a.RetryCount, RNRRetry: a.RNRRetry}
	if mask&verbs.AttrSQDNotify != 0 {
		c.SQDAsync = 1
	}
	return withC(c, func(_ *qpAttr, addr uintptr) error {
		err := status("ibv_modify_qp", q.c.lib.modifyQP, q.qp, addr, uintptr(mask))
		if err == nil && mask&verbs.AttrState != 0 {
			q.failed.Store(a.State == verbs.StateError)
		}
		if errors.Is(err, syscall.ETIMEDOUT) || errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EHOSTUNREACH) {
			return fmt.Errorf("%w: the peer's address cannot be resolved; check routes and the GID index", err)
		}
		return err
	})
}

func (q *queuePair) Destroy() error {
	if q.qp == 0 {
		return fmt.Errorf("%w: the queue pair is gone", verbs.ErrInvalid)
	}
	number := q.QPN()
	if err := status("ibv_destroy_qp", q.c.lib.destroyQP, q.qp); err != nil {
		return err
	}
	q.c.datagrams.Delete(number)
	q.c.mu.Lock()
	delete(q.c.qps, q.qp)
	q.c.mu.Unlock()
	q.qp = 0
	if q.mem == nil {
		return nil
	}
	return q.mem.Free()
}
