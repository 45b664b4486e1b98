package simnic

import (
	"fmt"

	"rdmasim/congestion"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// fullQP is a queue pair with memory, keys, completion queues and states: what
// a qp has besides being a connection.
type fullQP struct {
	n              *NIC
	q              *qp
	pd             *protectionDomain
	sendCQ, recvCQ *cq
	srq            *srq
	params         verbs.QPParams
	attr           verbs.QPAttr
	qpn            uint32

	posted, released uint64 // requests, and those whose places are free again
	notifySQD        bool
	heard            bool // a packet has arrived in RTR

	recv      posted // receive of the message that is arriving
	hasRecv   bool
	inMessage bool
	target    []byte // memory that the arriving WRITE goes to
	key       uint32 // by which it got there
	to        uint64 // address of target
	solicited bool
	srcQP     uint32 // of the datagram that is arriving
	dead      bool
}

var _ verbs.QueuePair = (*fullQP)(nil)

// work is what a request with memory has besides a message.
type work struct {
	sg        []verbs.SGE
	inline    []byte
	remote    uint64
	rkey      uint32
	compare   uint64
	swap      uint64
	ah        *addressHandle
	qpn, qkey uint32
	bind      verbs.WindowBind
	done      bool   // a local request has been carried out
	place     uint64 // in the order of posting, from 1
	solicited bool
	isInline  bool
}

func (p *protectionDomain) CreateQP(a verbs.QPParams) (verbs.QueuePair, error) {
	n := p.ctx.dev.n
	c := &a.Capacity
	send, ok1 := a.SendCQ.(*cq)
	recv, ok2 := a.RecvCQ.(*cq)
	var shared *srq
	if a.SRQ != nil {
		var ok bool
		if shared, ok = a.SRQ.(*srq); !ok || shared.dead {
			return nil, fmt.Errorf("%w: a shared receive queue of another device", verbs.ErrInvalid)
		}
	}
	switch {
	case p.dead:
		return nil, errGone("protection domain")
	case a.Service != verbs.RC && a.Service != verbs.UC && a.Service != verbs.UD:
		return nil, fmt.Errorf("%w: service %v: want RC, UC or UD", verbs.ErrInvalid, a.Service)
	case !ok1 || !ok2 || send.dead || recv.dead:
		return nil, fmt.Errorf("%w: a queue pair needs two completion queues of its device", verbs.ErrInvalid)
	case c.SendWR < 0 || c.SendWR > maxQPWR || c.RecvWR < 0 || c.RecvWR > maxQPWR:
		return nil, fmt.Errorf("%w: %d send and %d receive requests: want 0..%d", verbs.ErrInvalid, c.SendWR, c.RecvWR, maxQPWR)
	case c.SendSGE < 0 || c.SendSGE > maxSGE || c.RecvSGE < 0 || c.RecvSGE > maxSGE:
		return nil, fmt.Errorf("%w: %d and %d pieces: want 0..%d", verbs.ErrInvalid, c.SendSGE, c.RecvSGE, maxSGE)
	case c.Inline < 0 || c.Inline > maxInline:
		return nil, fmt.Errorf("%w: %d inline bytes: want 0..%d", verbs.ErrInvalid, c.Inline, maxInline)
	case len(n.qps) >= 1<<16-2 && len(n.freeQPs) == 0:
		return nil, fmt.Errorf("%w: %d queue pairs", verbs.ErrNoMemory, len(n.qps))
	}
	c.SendWR, c.SendSGE, c.RecvSGE = max(c.SendWR, 1), max(c.SendSGE, 1), max(c.RecvSGE, 1)
	if shared != nil {
		c.RecvWR = 0
	}
	q := n.create(0, 0, -1, a.Service)
	q.state, q.special = verbs.StateReset, true
	f := &fullQP{n: n, q: q, pd: p, sendCQ: send, recvCQ: recv, srq: shared, params: a, qpn: q.wireQPN()}
	q.full = f
	p.uses++
	send.uses++
	recv.uses++
	if shared != nil {
		shared.uses++
	}
	return f, nil
}

func (f *fullQP) QPN() uint32            { return f.qpn }
func (f *fullQP) Service() verbs.Service { return f.params.Service }

func (f *fullQP) State() verbs.State {
	if f.dead {
		return verbs.StateReset
	}
	return f.q.state
}

func (f *fullQP) Query() verbs.QPAttr {
	a := f.attr
	a.State, a.CurState, a.Capacity = f.State(), f.State(), f.params.Capacity
	return a
}

// Modify checks everything before it changes anything.
func (f *fullQP) Modify(a verbs.QPAttr, mask verbs.AttrMask) error {
	if f.dead {
		return errGone("queue pair")
	}
	if err := verbs.CheckModify(f.params.Service, f.q.state, &a, mask); err != nil {
		return err
	}
	peer := int32(-1)
	switch {
	case mask&verbs.AttrPort != 0 && a.Port != 1:
		return f.pd.ctx.checkPort(a.Port)
	case mask&verbs.AttrPKeyIndex != 0 && a.PKeyIndex != 0:
		return fmt.Errorf("%w: PKEY_INDEX %d: the table has one entry", verbs.ErrInvalid, a.PKeyIndex)
	case mask&verbs.AttrPathMTU != 0 && a.PathMTU > f.pd.ctx.mtu():
		return fmt.Errorf("%w: PATH_MTU %v: the port has %v", verbs.ErrInvalid, a.PathMTU.Bytes(), f.pd.ctx.mtu().Bytes())
	case mask&verbs.AttrMaxRDAtomic != 0 && a.MaxRDAtomic > maxResources, mask&verbs.AttrMaxDestRD != 0 && a.MaxDestRDAtomic > maxResources:
		return fmt.Errorf("%w: %d READs outstanding, %d as responder: the limit is %d", verbs.ErrInvalid, a.MaxRDAtomic, a.MaxDestRDAtomic, maxResources)
	case mask&(verbs.AttrAltPath|verbs.AttrPathMigration) != 0:
		return fmt.Errorf("%w: RoCE has no alternate path", verbs.ErrInvalid)
	case mask&verbs.AttrAccess != 0 && a.Access&^(verbs.LocalWrite|verbs.RemoteWrite|verbs.RemoteRead|verbs.RemoteAtomic|verbs.MWBind) != 0:
		return fmt.Errorf("%w: access %#x of a queue pair", verbs.ErrInvalid, uint32(a.Access))
	case mask&verbs.AttrAV != 0:
		if err := f.pd.ctx.checkPort(a.AH.Port); err != nil {
			return err
		}
		if peer = f.n.endpointOf(a.AH.DGID); peer < 0 {
			return fmt.Errorf("%w: nobody has the address %x", verbs.ErrInvalid, a.AH.DGID)
		}
	}
	f.take(a, mask)
	if peer >= 0 {
		f.aim(peer)
	}
	if mask&verbs.AttrSQDNotify != 0 {
		f.notifySQD = true
	}
	if mask&verbs.AttrState != 0 {
		f.enter(a.State)
	}
	return nil
}

// take stores the attributes of a mask.
func (f *fullQP) take(a verbs.QPAttr, mask verbs.AttrMask) {
	t, q := &f.attr, f.q
	has := func(b verbs.AttrMask) bool { return mask&b != 0 }
	if has(verbs.AttrAccess) {
		t.Access = a.Access
	}
	if has(verbs.AttrPort) {
		t.Port = a.Port
	}
	if has(verbs.AttrQKey) {
		t.QKey = a.QKey
	}
	if has(verbs.AttrAV) {
		t.AH = a.AH
	}
	if has(verbs.AttrPathMTU) {
		t.PathMTU, q.mtu = a.PathMTU, a.PathMTU.Bytes()
	}
	if has(verbs.AttrDestQPN) {
		t.DestQPN, q.peerQP = a.DestQPN, a.DestQPN
	}
	if has(verbs.AttrRQPSN) { // counted from one lap on, so that no number lies before 0
		t.RQPSN, q.epsn = a.RQPSN, uint64(a.RQPSN)+1<<24
	}
	if has(verbs.AttrSQPSN) {
		t.SQPSN = a.SQPSN
		q.una = uint64(a.SQPSN) + 1<<24
		q.nxt, q.end, q.sent = q.una, q.una, q.una
	}
	if has(verbs.AttrMaxRDAtomic) {
		t.MaxRDAtomic, q.maxRD = a.MaxRDAtomic, a.MaxRDAtomic
	}
	if has(verbs.AttrMaxDestRD) {
		t.MaxDestRDAtomic = a.MaxDestRDAtomic
	}
	if has(verbs.AttrMinRNRTimer) {
		t.MinRNRTimer, q.rnrTimer = a.MinRNRTimer, a.MinRNRTimer
	}
	if has(verbs.AttrTimeout) {
		t.Timeout, q.timeout = a.Timeout, verbs.AckTimeout(a.Timeout)
	}
	if has(verbs.AttrRetryCount) {
		t.RetryCount, q.retryMax = a.RetryCount, a.RetryCount
	}
	if has(verbs.AttrRNRRetry) {
		t.RNRRetry, q.rnrMax = a.RNRRetry, a.RNRRetry
	}
	q.rto = f.n.timeoutOf(q)
}

// aim sets the peer of a connected queue pair and looks up its way.
func (f *fullQP) aim(peer int32) {
	n, q := f.n, f.q
	q.peer, q.handle.peer, q.dstPort = peer, peer, RoCEv2Port
	q.srcPort = n.cfg.SourcePort(n.cfg.Endpoints[0], peer, n.peers[peer])
	n.peers[peer]++
	if tc := f.attr.AH.TrafficClass; tc != 0 {
		q.dscp = tc >> 2
		if c, ok := n.priorityOf(q.dscp); ok {
			q.prio = c
		}
	}
	n.route(q)
}

// enter carries out a change of state.
func (f *fullQP) enter(to verbs.State) {
	n, q := f.n, f.q
	from := q.state
	switch {
	case to == verbs.StateReset:
		f.reset()
	case to == verbs.StateError:
		if from != verbs.StateError {
			n.fail(q, verbs.StatusWRFlush)
		}
	case to == verbs.StateRTR && f.params.Service == verbs.UD:
		q.mtu = f.pd.ctx.mtu().Bytes()
		q.dstPort, q.srcPort = RoCEv2Port, 0xc000
		// Datagrams have no connection whose rate could be controlled.
		none, _ := congestion.NewNone(congestion.NoneParams{})
		q.rp = none.NewReactionPoint(n.ports[q.port].Cfg.Rate, 0)
	}
	if to != verbs.StateReset {
		q.state = to
	}
	if to == verbs.StateRTS {
		n.offer(q)
	}
	if to == verbs.StateSQD {
		n.drained(q)
	}
}

// reset forgets everything that was posted, without completions.
func (f *fullQP) reset() {
	n, q := f.n, f.q
	for q.head < len(q.msgs) {
		m := q.msgs[q.head]
		q.head++
		n.finish(q, &m, verbs.StatusWRFlush)
	}
	f.sendCQ.drop(f)
	f.recvCQ.drop(f)
	q.state, q.msgs, q.head, q.cur = verbs.StateReset, q.msgs[:0], 0, 0
	q.una, q.nxt, q.end, q.sent, q.rd, q.ackHigh, q.asked = 0, 0, 0, 0, 0, 0, 0
	q.recvs, q.recvHead, q.resp, q.msn, q.nakSent, q.receives = q.recvs[:0], 0, nil, 0, false, false
	q.retries, q.rnr, q.holdAt, q.unacked = 0, 0, 0, 0
	f.attr = verbs.QPAttr{}
	f.posted, f.released, f.notifySQD, f.heard, f.hasRecv, f.inMessage = 0, 0, false, false, false, false
}

// abort takes the queue pair to ERROR because its device cannot go on with it.
func (f *fullQP) abort() {
	if !f.dead && f.q.state != verbs.StateError && f.q.state != verbs.StateReset {
		f.n.fail(f.q, verbs.StatusWRFlush)
		f.q.state = verbs.StateError
	}
}

// Fail ends the oldest request with a status and takes the queue pair to
// ERROR: a failure of the device itself, for tests and faults. With nothing
// posted it is an AsyncQPFatal.
func Fail(qp verbs.QueuePair, status verbs.Status) error {
	f, ok := qp.(*fullQP)
	if !ok || f.dead {
		return fmt.Errorf("%w: not a queue pair of a simulated NIC", verbs.ErrInvalid)
	}
	if f.q.head == len(f.q.msgs) {
		f.pd.ctx.tell(verbs.AsyncEvent{Kind: verbs.AsyncQPFatal, QPN: f.qpn})
	}
	f.n.fail(f.q, status)
	return nil
}

func (f *fullQP) Destroy() error {
	if f.dead {
		return errGone("queue pair")
	}
	f.reset()
	f.dead = true
	f.n.destroy(f.q)
	f.pd.uses--
	f.sendCQ.uses--
	f.recvCQ.uses--
	if f.srq != nil {
		f.srq.uses--
	}
	return nil
}

// drained tells that the send queue of a queue pair in SQD is empty, once.
func (n *NIC) drained(q *qp) {
	f := q.full
	if q.state == verbs.StateSQD && f.notifySQD && q.una >= q.sent {
		f.notifySQD = false
		f.pd.ctx.tell(verbs.AsyncEvent{Kind: verbs.AsyncSQDrained, QPN: f.qpn})
	}
}

// PostRecv adds receives.
func (f *fullQP) PostRecv(rs ...verbs.RecvRequest) (int, error) {
	for i := range rs {
		q := f.q
		switch {
		case f.dead:
			return i, errGone("queue pair")
		case f.srq != nil:
			return i, fmt.Errorf("%w: the queue pair takes its receives from a shared queue", verbs.ErrInvalid)
		case q.state == verbs.StateReset:
			return i, fmt.Errorf("%w: receives cannot be posted in state RESET", verbs.ErrInvalid)
		case len(rs[i].SGList) > f.params.Capacity.RecvSGE:
			return i, fmt.Errorf("%w: %d pieces: the limit is %d", verbs.ErrInvalid, len(rs[i].SGList), f.params.Capacity.RecvSGE)
		case q.state == verbs.StateError:
			f.recvCQ.push(entry{wc: verbs.WorkCompletion{WRID: rs[i].WRID, Status: verbs.StatusWRFlush, Recv: true, QPN: f.qpn}, q: f}, false)
			continue
		case len(q.recvs)-q.recvHead >= f.params.Capacity.RecvWR:
			return i, fmt.Errorf("%w: %d receives are posted", verbs.ErrNoMemory, f.params.Capacity.RecvWR)
		}
		if q.recvHead > 64 && q.recvHead*2 > len(q.recvs) {
			q.recvs = append(q.recvs[:0], q.recvs[q.recvHead:]...)
			q.recvHead = 0
		}
		q.recvs = append(q.recvs, receiveOf(&rs[i]))
	}
	return len(rs), nil
}

// PostSend adds requests.
func (f *fullQP) PostSend(wrs ...verbs.WorkRequest) (int, error) {
	for i := range wrs {
		if err := f.checkSend(&wrs[i]); err != nil {
			return i, err
		}
		f.postOne(&wrs[i])
	}
	return len(wrs), nil
}

func (f *fullQP) checkSend(wr *verbs.WorkRequest) error {
	q := f.q
	if f.dead {
		return errGone("queue pair")
	}
	c := &f.params.Capacity
	switch q.state {
	case verbs.StateReset, verbs.StateInit, verbs.StateRTR:
		return fmt.Errorf("%w: requests cannot be posted in state %v", verbs.ErrInvalid, q.state)
	}
	ah, _ := wr.AH.(*addressHandle)
	switch {
	case !q.service.Allows(wr.Opcode):
		return fmt.Errorf("%w: opcode %v on a queue pair of %v", verbs.ErrInvalid, wr.Opcode, q.service)
	case q.service == verbs.UD && (ah == nil || ah.dead):
		return fmt.Errorf("%w: a datagram needs an address handle", verbs.ErrInvalid)
	case wr.Opcode.IsLocal() && (len(wr.SGList) > 0 || wr.Inline):
		return fmt.Errorf("%w: %v with memory to send", verbs.ErrInvalid, wr.Opcode)
	case len(wr.SGList) > c.SendSGE:
		return fmt.Errorf("%w: %d pieces: the limit is %d", verbs.ErrInvalid, len(wr.SGList), c.SendSGE)
	case wr.Length != 0:
		return fmt.Errorf("%w: a length of its own: the pieces of memory say how long the message is", verbs.ErrInvalid)
	case wr.Inline && wr.Bytes() > sim.Bytes(c.Inline):
		return fmt.Errorf("%w: %d bytes inline: the limit is %d", verbs.ErrInvalid, wr.Bytes(), c.Inline)
	case wr.Inline && !wr.Opcode.IsSend() && !wr.Opcode.IsWrite():
		return fmt.Errorf("%w: %v has nothing to send inline", verbs.ErrInvalid, wr.Opcode)
	case f.posted-f.released >= uint64(c.SendWR):
		return fmt.Errorf("%w: the %d places of the send queue are taken until completions are polled", verbs.ErrNoMemory, c.SendWR)
	}
	return f.n.checkLength(q, wr)
}

func (f *fullQP) postOne(wr *verbs.WorkRequest) {
	n, q := f.n, f.q
	f.posted++
	w := &work{remote: wr.RemoteAddr, rkey: wr.RKey, compare: wr.CompareAdd, swap: wr.Swap, qpn: wr.RemoteQPN, qkey: wr.RemoteQKey,
		place: f.posted, solicited: wr.Solicited, isInline: wr.Inline}
	w.ah, _ = wr.AH.(*addressHandle)
	m := message{wrid: wr.WRID, op: wr.Opcode, signaled: wr.Signaled || f.params.SignalAll, fence: wr.Fence, imm: wr.Imm, length: wr.Bytes(), tag: wr.Tag, work: w}
	if wr.Opcode == verbs.OpSendInv || wr.Opcode == verbs.OpLocalInv {
		m.imm = wr.InvalidateKey
	}
	w.bind = wr.Bind
	if wr.Inline {
		w.inline = n.copyInline(wr.SGList)
		if w.inline == nil {
			m.bad = verbs.StatusLocalProtection
		}
	} else {
		w.sg = append([]verbs.SGE(nil), wr.SGList...)
	}
	switch {
	case q.service == verbs.UD && m.length > q.mtu:
		m.bad = verbs.StatusLocalLength
	case q.service == verbs.UD && w.ah.pd != f.pd, m.responds() && q.maxRD == 0:
		// An address handle of another domain, or a READ where none may be
		// outstanding: InfiniBand Architecture, volume 1, section 11.6.2.
		m.bad = verbs.StatusLocalQPOperation
	}
	if q.state == verbs.StateError || q.state == verbs.StateSQE {
		f.sendCQ.push(entry{verbs.WorkCompletion{WRID: m.wrid, Status: verbs.StatusWRFlush, Opcode: m.op, QPN: f.qpn}, f, w.place}, false)
		return
	}
	n.post(q, m)
	if m.op.IsLocal() {
		n.retire(q, q.una) // where nothing is in front of it, it is done
		return
	}
	if at := q.head; m.bad != verbs.StatusSuccess && at < len(q.msgs) && q.msgs[at].work == w {
		n.failLocally(q, &q.msgs[at])
	}
}

// copyInline copies bytes whose keys nobody looks at.
func (n *NIC) copyInline(sg []verbs.SGE) []byte {
	out := []byte{}
	for _, s := range sg {
		if s.Length == 0 {
			continue
		}
		b := n.memoryAt(s.Addr, uint64(s.Length))
		if b == nil {
			return nil
		}
		out = append(out, b...)
	}
	return out
}

// memoryAt returns the memory at an address, whatever its key.
func (n *NIC) memoryAt(addr, length uint64) []byte {
	for _, r := range n.regions {
		if r != nil && addr >= r.addr && length <= uint64(len(r.mem)) && addr-r.addr <= uint64(len(r.mem))-length {
			return r.mem[addr-r.addr:][:length]
		}
	}
	return nil
}
