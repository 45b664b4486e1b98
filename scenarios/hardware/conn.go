package hardware

import (
	"errors"
	"fmt"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// conn is one end of a connection: a queue pair with the memory of its messages.
type conn struct {
	w     *world
	app   *app
	end   *endpoint
	peer  *conn
	qp    verbs.QueuePair
	depth int // of the workload, 0 = unlimited

	src, dst *region // memory that is sent from, and that peers write into
	hw       int     // requests in the hardware queue
	room     int     // of that queue
	sends    slots
	recvs    slots
	waiting  []verbs.WorkRequest // no place in the hardware queue yet
	number   int                 // among those that its host has made, from 1
	closed   bool
	failed   bool

	service  verbs.Service
	ah       verbs.AddressHandle // of datagrams: the way to the peer
	watches  bool                // its owner wants to know when a WRITE of the peer is in memory
	expected []stamp             // WRITEs of the peer that are not there yet
	progress sim.Time            // of the latest completion
	far      bool                // the peer is at another agent
	farQPN   uint32              // of the end that another agent has
}

// psn is the number of the first packet.
func (c *conn) psn() uint32 { return c.QPN() * 0x9e3779b1 & 0xffffff }

// maxQueue bounds the queues of one queue pair; what a workload posts beyond
// waits in software.
const maxQueue = 256

// connect makes a connection between two hosts.
func (w *world) connect(a *app, p workload.ConnParams) (here, there *conn, err error) {
	if err := w.checkPath(a.host, p.Peer); err != nil {
		return nil, nil, err
	}
	service := p.Service
	if service == 0 {
		service = verbs.RC
	}
	if w.endOf[p.Peer] < 0 {
		here, err = w.connectFar(a, p, service)
		return here, nil, err
	}
	if here, err = w.newConn(a, p.Depth, service); err != nil {
		return nil, nil, err
	}
	if there, err = w.newConn(w.apps[a.load][p.Peer], p.Depth, service); err != nil {
		return nil, nil, err
	}
	here.peer, there.peer = there, here
	mtu := min(here.end.mtu, there.end.mtu)
	for _, c := range [...]*conn{here, there} {
		if err := w.ready1(c, mtu, p.Priority); err != nil {
			return nil, nil, fmt.Errorf("%s to %s: %w", w.traffic.Hosts[a.host], w.traffic.Hosts[p.Peer], err)
		}
	}
	w.made[a.host]++
	here.number = w.made[a.host]
	return here, there, w.onConnect(here)
}

func (w *world) newConn(a *app, depth int, service verbs.Service) (*conn, error) {
	e := w.ends[w.endOf[a.host]]
	c := &conn{w: w, app: a, end: e, depth: depth, service: service, src: &region{}, dst: &region{}}
	queue := min(maxQueue, e.attr.MaxQPWR)
	var err error
	c.qp, err = e.pd.CreateQP(verbs.QPParams{Service: service, SendCQ: e.cq, RecvCQ: e.cq,
		Capacity: verbs.Capacity{SendWR: queue, RecvWR: queue, SendSGE: 1, RecvSGE: 1}})
	if err != nil {
		return nil, err
	}
	c.room = queue
	e.conns[c.qp.QPN()] = c
	return c, errors.Join(c.src.grow(e, 1), c.dst.grow(e, 1))
}

// ready1 brings one queue pair from RESET to RTS.
func (w *world) ready1(c *conn, mtu verbs.MTU, priority int) error {
	n := &w.spec.NIC
	psn, peerPSN := c.psn(), c.peer.psn()
	dscp := n.DSCP
	if priority >= 0 && priority != n.Priority {
		dscp = priority << 3
	}
	attr := verbs.QPAttr{Port: 1, Access: verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic | verbs.LocalWrite, QKey: qKey,
		PathMTU: mtu, DestQPN: c.peer.QPN(), RQPSN: peerPSN, MaxDestRDAtomic: uint8(min(c.end.attr.MaxDestRDAtomic, 16)), MinRNRTimer: uint8(n.RNRTimer),
		AH:    verbs.AHAttr{DGID: c.peer.end.gid, SGIDIndex: c.end.index, Port: 1, HopLimit: 64, TrafficClass: uint8(dscp<<2) | 2}, // ECT(0)
		SQPSN: psn, Timeout: uint8(n.Timeout), RetryCount: uint8(n.RetryCount), RNRRetry: uint8(n.RNRRetry),
		MaxRDAtomic: uint8(min(c.end.attr.MaxRDAtomic, c.peer.end.attr.MaxDestRDAtomic, 16))}
	if c.service == verbs.UD {
		ah, err := c.end.pd.CreateAH(attr.AH)
		if err != nil {
			return err
		}
		c.ah = ah
	}
	if c.service == verbs.UC {
		attr.Access &^= verbs.RemoteRead | verbs.RemoteAtomic
	}
	from := verbs.StateReset
	for _, to := range [...]verbs.State{verbs.StateInit, verbs.StateRTR, verbs.StateRTS} {
		need, _, _ := verbs.Masks(c.service, from, to)
		attr.State, from = to, to
		if err := c.qp.Modify(attr, need); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) QPN() uint32 {
	if c.qp == nil {
		return c.farQPN
	}
	return c.qp.QPN()
}

func (c *conn) State() verbs.State {
	if c.closed {
		return verbs.StateReset
	}
	return c.qp.State()
}

// PostSend posts a request, or keeps it until the hardware queue has room.
func (c *conn) PostSend(wr verbs.WorkRequest) error {
	n := wr.Bytes()
	outstanding := c.hw + len(c.waiting)
	switch {
	case c.closed:
		return fmt.Errorf("%w: the connection is closed", verbs.ErrInvalid)
	case wr.SGList != nil:
		return fmt.Errorf("%w: on a connection the provider finds the memory", verbs.ErrInvalid)
	case n < 0 || n > c.end.port.MaxMessage:
		return fmt.Errorf("%w: message of %v, the port takes %v", verbs.ErrInvalid, n, c.end.port.MaxMessage)
	case !c.service.Allows(wr.Opcode):
		return fmt.Errorf("%w: %v on a %v queue pair", verbs.ErrInvalid, wr.Opcode, c.service)
	case c.service == verbs.UD && n > min(c.end.mtu, c.peer.end.mtu).Bytes():
		return fmt.Errorf("%w: a datagram of %v: the path MTU is %v", verbs.ErrInvalid, n, min(c.end.mtu, c.peer.end.mtu).Bytes())
	case c.depth > 0 && outstanding >= c.depth:
		return verbs.ErrNoMemory
	}
	c.w.busy++
	c.waiting = append(c.waiting, wr)
	c.push()
	return nil
}

// push hands waiting requests to the hardware.
func (c *conn) push() {
	for len(c.waiting) > 0 && c.hw < c.room && c.w.err == nil {
		wr := c.waiting[0]
		c.waiting = c.waiting[1:]
		if err := c.post(wr); err != nil {
			c.w.fail(fmt.Errorf("posting %v on %s: %w", wr.Opcode, c.end.info.Name, err))
			return
		}
	}
}

func (c *conn) post(wr verbs.WorkRequest) error {
	n := wr.Length
	if err := errors.Join(c.src.grow(c.end, n), c.peer.dst.grow(c.peer.end, n)); err != nil {
		return err
	}
	c.w.flowID++
	id := c.sends.take(slot{wr: wr, length: n, posted: c.w.clock.now(), id: c.w.flowID})
	h := verbs.WorkRequest{WRID: id, Opcode: wr.Opcode, Signaled: true, Solicited: wr.Solicited, Fence: wr.Fence, Imm: wr.Imm,
		CompareAdd: wr.CompareAdd, Swap: wr.Swap, SGList: []verbs.SGE{{Addr: c.src.mr.Addr(), Length: uint32(n), LKey: c.src.mr.LKey()}}}
	if n == 0 {
		h.SGList = nil
	}
	if !wr.Opcode.IsSend() {
		h.RemoteAddr, h.RKey = c.peer.dst.remote()
	}
	if c.service == verbs.UD {
		h.AH, h.RemoteQPN, h.RemoteQKey = c.ah, c.peer.QPN(), qKey
	}
	if wr.Opcode == verbs.OpWrite && c.peer.watches {
		c.mark(n)
	}
	c.hw++
	_, err := c.qp.PostSend(h)
	return err
}

// PostRecv adds a receive, late where a fault says so.
func (c *conn) PostRecv(wrid uint64, length sim.Bytes) error {
	if c.closed {
		return fmt.Errorf("%w: the connection is closed", verbs.ErrInvalid)
	}
	if d := c.w.lateness(c.app.host); d > 0 {
		c.w.timers.add(c.w.clock.now().Add(d), func() {
			if err := c.postRecv(wrid, length); err != nil && !c.failed {
				c.w.fail(fmt.Errorf("a late receive on %s: %w", c.end.info.Name, err))
			}
		})
		return nil
	}
	return c.postRecv(wrid, length)
}

func (c *conn) postRecv(wrid uint64, length sim.Bytes) error {
	room := length
	if c.service == verbs.UD {
		room += verbs.GRHBytes
	}
	if err := c.dst.grow(c.end, room); err != nil {
		return err
	}
	id := c.recvs.take(slot{wr: verbs.WorkRequest{WRID: wrid}, length: length})
	_, err := c.qp.PostRecv(verbs.RecvRequest{WRID: id | recvBit, SGList: []verbs.SGE{{Addr: c.dst.mr.Addr(), Length: uint32(room), LKey: c.dst.mr.LKey()}}})
	if err != nil {
		c.recvs.give(id)
	}
	return err
}

// recvBit tells receives from sends in the number of a request.
const recvBit = 1 << 63

// completed handles a completion of the hardware.
func (c *conn) completed(wc *verbs.WorkCompletion, now sim.Time) {
	if wc.WRID&recvBit != 0 {
		s, ok := c.recvs.give(wc.WRID &^ recvBit)
		if !ok {
			return
		}
		out := *wc
		out.WRID, out.Recv = s.wr.WRID, true
		if wc.Status == verbs.StatusSuccess && c.service != verbs.RC {
			c.w.arrived[c.peer.app.host]++
			if c.service == verbs.UD {
				out.Length -= verbs.GRHBytes
			}
		}
		c.app.inst.OnCompletion(c.app, c, out)
		return
	}
	s, ok := c.sends.give(wc.WRID)
	if !ok {
		return
	}
	c.hw--
	c.w.busy--
	if c.w.remote != nil {
		c.w.remote.work++
	}
	if wc.Status == verbs.StatusRetryExceeded {
		c.w.gaveUp(c, &s, now)
	}
	if wc.Status == verbs.StatusSuccess && c.service != verbs.RC && s.wr.Opcode.IsSend() {
		c.w.sent[c.app.host]++
	}
	c.progress = now
	c.w.finish(c, &s, wc.Status, now)
	c.push()
	if s.wr.Signaled || wc.Status != verbs.StatusSuccess {
		out := *wc
		out.WRID, out.Opcode, out.Length = s.wr.WRID, s.wr.Opcode, s.length
		c.app.inst.OnCompletion(c.app, c, out)
	}
	if wc.Status != verbs.StatusSuccess {
		c.flush(now)
	}
}

// flush ends what waits in software behind a request that failed.
func (c *conn) flush(now sim.Time) {
	if !c.failed {
		c.failed = true
		c.w.sink.Event(trace.Event{Time: now, Kind: trace.EventQPState, Object: c.w.names.Lookup(c.w.traffic.Hosts[c.app.host]), Prio: -1, Cause: fmt.Sprintf("qp%d ERROR", c.QPN())})
	}
	for len(c.waiting) > 0 {
		wr := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.w.busy--
		c.w.flowID++
		s := slot{wr: wr, length: wr.Length, posted: now, id: c.w.flowID}
		c.w.finish(c, &s, verbs.StatusWRFlush, now)
		c.app.inst.OnCompletion(c.app, c, verbs.WorkCompletion{WRID: wr.WRID, Status: verbs.StatusWRFlush, Opcode: wr.Opcode, QPN: c.QPN()})
	}
}

// finish writes the row of a message.
func (w *world) finish(c *conn, s *slot, status verbs.Status, now sim.Time) {
	f := trace.Flow{ID: s.id, Src: w.traffic.Hosts[c.app.host], Dst: w.traffic.Hosts[c.peer.app.host], QP: c.QPN(), Workload: w.traffic.Kinds[c.app.load],
		Verb: s.wr.Opcode.String(), Bytes: s.length, Start: s.posted, End: now, Status: status.String(), Tag: s.wr.Tag, Retransmits: trace.RetransmitsUnknown}
	if status == verbs.StatusSuccess {
		f.Delivered = s.length
		w.payload[c.app.host] += int64(s.length)
		if now >= sim.Time(w.spec.Warmup) {
			w.total += int64(s.length)
		}
	}
	w.sink.Flow(f)
}

// Close lets outstanding requests finish; the queue pair goes with the run.
func (c *conn) Close() { c.closed = true }

func (c *conn) destroy() error {
	err := c.qp.Destroy()
	if c.ah != nil {
		err = errors.Join(err, c.ah.Destroy())
	}
	return errors.Join(err, c.src.free(), c.dst.free())
}
