package simnic

import (
	"fmt"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// Connection management by messages of 256 bytes between the queue pairs with
// number 1 (InfiniBand Architecture, volume 1, chapter 12): REQ, REP and RTU make
// a connection, REJ refuses one, DREQ and DREP end it. Requests and replies are
// repeated until they are answered.

// cmQP is the general services interface, where such messages go.
const cmQP = 1

// sizeMAD is the payload of a management datagram.
const sizeMAD = 256

// Defaults of a request. Source: librdmacm's cma.c, CMA_MAX_CM_RETRIES, and a
// response timeout of 20 (4.096 us times 2^20).
const (
	cmTimeout = 4096 * sim.Nanosecond << 20
	cmRetries = 15
)

// Bounds of private data. Source: rdma_connect(3), rdma_accept(3), rdma_reject(3).
const (
	maxPrivateREQ = 56
	maxPrivateREP = 196
	maxPrivateREJ = 148
)

// cmKind is the kind of a message.
type cmKind uint8

const (
	cmREQ cmKind = iota
	cmREP
	cmRTU
	cmREJ
	cmDREQ
	cmDREP
)

// cmMessage is a message; it does not change once it has been sent.
type cmMessage struct {
	kind     cmKind
	from, to uint32 // numbers of the connection on both sides; to is 0 in a REQ
	service  uint64
	qpn, psn uint32
	params   verbs.CMParams
	reason   int
}

// cmState is where a connection stands.
type cmState uint8

const (
	cmRequested cmState = iota // REQ sent
	cmAsked                    // REQ received, not answered
	cmAccepted                 // REP sent
	cmConnected
	cmEnded
)

// manager is the connection management of a context.
type manager struct {
	ctx    *nicContext
	events []verbs.CMEvent
}

// cmID is a connection.
type cmID struct {
	m       *manager
	num     uint32
	remote  uint32
	peer    int32
	state   cmState
	qp      *fullQP
	params  verbs.CMParams
	request *cmMessage // of the peer
	sent    *cmMessage // what is repeated
	psn     uint32
	tries   int
}

// cmNIC is what a NIC keeps of its connections.
type cmNIC struct {
	listen map[uint64]*manager
	ids    []*cmID           // by number, from 1
	seen   map[uint64]uint32 // requests of peers: number of the connection
	rand   *sim.Rand
}

// Manager returns the connection management of a context of a simulated NIC.
func Manager(c verbs.Context) (verbs.ConnectionManager, error) {
	ctx, ok := c.(*nicContext)
	if !ok {
		return nil, fmt.Errorf("%w: not a context of a simulated NIC", verbs.ErrInvalid)
	}
	n := ctx.dev.n
	if n.cm == nil {
		n.cm = &cmNIC{listen: map[uint64]*manager{}, seen: map[uint64]uint32{}, rand: n.cfg.Rand(n.cfg.Name + "/cm")}
	}
	return &manager{ctx: ctx}, nil
}

func (m *manager) Listen(service uint64) error {
	cm := m.ctx.dev.n.cm
	if _, ok := cm.listen[service]; ok {
		return fmt.Errorf("%w: service %d is taken", verbs.ErrInvalid, service)
	}
	cm.listen[service] = m
	return nil
}

func (m *manager) Event() (verbs.CMEvent, bool) {
	if len(m.events) == 0 {
		return verbs.CMEvent{}, false
	}
	e := m.events[0]
	m.events = m.events[1:]
	return e, true
}

func (m *manager) tell(e verbs.CMEvent) { m.events = append(m.events, e) }

// newID makes a connection.
func (n *NIC) newCM(m *manager, peer int32) *cmID {
	id := &cmID{m: m, num: uint32(len(n.cm.ids) + 1), peer: peer, psn: uint32(n.cm.rand.Uint64()) & psnMask}
	n.cm.ids = append(n.cm.ids, id)
	return id
}

func (m *manager) Connect(peer verbs.GID, service uint64, qp verbs.QueuePair, p verbs.CMParams) (verbs.CMID, error) {
	n := m.ctx.dev.n
	f, err := m.usable(qp)
	if err != nil {
		return nil, err
	}
	to := n.endpointOf(peer)
	switch {
	case to < 0:
		return nil, fmt.Errorf("%w: nobody has the address %x", verbs.ErrInvalid, peer)
	case len(p.Private) > maxPrivateREQ:
		return nil, fmt.Errorf("%w: %d bytes of private data: want at most %d", verbs.ErrInvalid, len(p.Private), maxPrivateREQ)
	case p.Retries < 0 || p.Timeout < 0:
		return nil, fmt.Errorf("%w: %d retries after %v", verbs.ErrInvalid, p.Retries, p.Timeout)
	}
	if p.Timeout == 0 {
		p.Timeout = cmTimeout
	}
	id := n.newCM(m, to)
	id.qp, id.params = f, n.cmParams(m, p)
	if p.Retries == 0 {
		id.params.Retries = cmRetries
	}
	id.send(&cmMessage{kind: cmREQ, from: id.num, service: service, qpn: f.qpn, psn: id.psn, params: id.params}, true)
	return id, nil
}

// usable takes a queue pair that is fit to be connected to INIT.
func (m *manager) usable(qp verbs.QueuePair) (*fullQP, error) {
	f, ok := qp.(*fullQP)
	if !ok || f.dead || f.pd.ctx != m.ctx || f.params.Service == verbs.UD {
		return nil, fmt.Errorf("%w: want a connected queue pair of this context", verbs.ErrInvalid)
	}
	switch f.q.state {
	case verbs.StateReset:
		const all = verbs.LocalWrite | verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic
		return f, f.Modify(verbs.QPAttr{State: verbs.StateInit, Port: 1, Access: all}, verbs.AttrState|verbs.AttrPort|verbs.AttrPKeyIndex|verbs.AttrAccess)
	case verbs.StateInit:
		return f, nil
	}
	return nil, fmt.Errorf("%w: a queue pair in state %v cannot be connected", verbs.ErrInvalid, f.q.state)
}

// cmParams fills in what a program has left out.
func (n *NIC) cmParams(m *manager, p verbs.CMParams) verbs.CMParams {
	p.Private = append([]byte(nil), p.Private...)
	if most := m.ctx.mtu(); p.PathMTU == 0 || p.PathMTU > most {
		p.PathMTU = most
	}
	if p.AckTimeout == 0 {
		p.AckTimeout = 14 // 67 ms, as rdma-core's examples have it
	}
	p.ResponderResources, p.Depth = min(p.ResponderResources, maxResources), min(p.Depth, maxResources)
	return p
}

// send sends a message, and again until it is answered.
func (id *cmID) send(c *cmMessage, repeat bool) {
	n := id.m.ctx.dev.n
	n.sendCM(id.peer, c)
	if repeat {
		id.sent, id.tries = c, 0
		n.node.At(n.node.Now().Add(id.params.Timeout), kindCM, 0, uint64(id.num))
	}
}

func (n *NIC) sendCM(to int32, c *cmMessage) {
	m := packet.Packet{Kind: packet.Data, Sent: n.node.Now(), Src: n.cfg.Endpoints[0], Dst: to, SrcQP: cmQP, DstQP: cmQP,
		Size: uint16(n.cfg.Sizes.Header + SizeDETH + sizeMAD), Payload: sizeMAD, SrcPort: 0xc000, DstPort: RoCEv2Port,
		Opcode: uint8(verbs.OpSend) | packet.ServiceUD, Prio: n.cfg.Priority, DSCP: n.cfg.DSCP, ECN: n.ecn, TTL: n.cfg.TTL,
		Flags: packet.FlagFirst | packet.FlagLast, Aux: n.load(cargo{cm: c})}
	n.stat.sent++
	n.control(0, &m)
}

// onCMTimer repeats what has not been answered.
func (n *NIC) onCMTimer(num uint32) {
	id := n.cm.ids[num-1]
	if id.sent == nil {
		return
	}
	if id.tries++; id.tries > id.params.Retries {
		id.sent = nil
		id.end(verbs.CMUnreachable, nil, 0)
		return
	}
	n.sendCM(id.peer, id.sent)
	n.node.At(n.node.Now().Add(id.params.Timeout), kindCM, 0, uint64(num))
}

func (id *cmID) end(kind verbs.CMEventKind, private []byte, status int) {
	id.state = cmEnded
	id.m.tell(verbs.CMEvent{Kind: kind, ID: id, Private: private, Status: status})
}

// onCM handles a message.
func (n *NIC) onCM(m *packet.Packet) {
	cargo, ok := n.unload(m)
	c := cargo.cm
	if !ok || c == nil || n.cm == nil {
		n.stat.discarded++
		return
	}
	n.stat.delivered++
	n.stat.payload += sizeMAD
	if c.kind == cmREQ {
		n.onREQ(m.Src, c)
		return
	}
	if c.to == 0 || int(c.to) > len(n.cm.ids) || n.cm.ids[c.to-1].peer != m.Src {
		return
	}
	id := n.cm.ids[c.to-1]
	switch {
	case c.kind == cmREP && id.state == cmRequested:
		id.onREP(c)
	case c.kind == cmREP && id.state == cmConnected: // the RTU was lost
		n.sendCM(id.peer, &cmMessage{kind: cmRTU, from: id.num, to: id.remote})
	case c.kind == cmRTU && id.state == cmAccepted:
		id.sent, id.state = nil, cmConnected
		id.m.tell(verbs.CMEvent{Kind: verbs.CMEstablished, ID: id})
	case c.kind == cmREJ && id.state == cmRequested:
		id.sent = nil
		id.end(verbs.CMRejected, c.params.Private, c.reason)
	case c.kind == cmDREQ:
		id.onDREQ(c)
	case c.kind == cmDREP:
		id.sent = nil
	}
}

// onREQ handles a request, which may have come before.
func (n *NIC) onREQ(from int32, c *cmMessage) {
	key := uint64(uint32(from))<<32 | uint64(c.from)
	if num, ok := n.cm.seen[key]; ok {
		if id := n.cm.ids[num-1]; id.sent != nil {
			n.sendCM(from, id.sent)
		} else if id.state == cmEnded && id.request != nil {
			n.sendCM(from, &cmMessage{kind: cmREJ, from: num, to: c.from, reason: verbs.RejectByConsumer})
		}
		return
	}
	m, ok := n.cm.listen[c.service]
	if !ok {
		n.sendCM(from, &cmMessage{kind: cmREJ, to: c.from, reason: verbs.RejectInvalidService})
		return
	}
	id := n.newCM(m, from)
	id.state, id.remote, id.request = cmAsked, c.from, c
	n.cm.seen[key] = id.num
	m.tell(verbs.CMEvent{Kind: verbs.CMConnectRequest, ID: id, Private: append([]byte(nil), c.params.Private...), Params: c.params})
}

func (id *cmID) QP() verbs.QueuePair {
	if id.qp == nil {
		return nil
	}
	return id.qp
}

// Accept makes the queue pair ready and tells the peer.
func (id *cmID) Accept(qp verbs.QueuePair, p verbs.CMParams) error {
	if id.state != cmAsked {
		return fmt.Errorf("%w: there is no request to accept", verbs.ErrInvalid)
	}
	if len(p.Private) > maxPrivateREP {
		return fmt.Errorf("%w: %d bytes of private data: want at most %d", verbs.ErrInvalid, len(p.Private), maxPrivateREP)
	}
	f, err := id.m.usable(qp)
	if err != nil {
		return err
	}
	n, theirs := id.m.ctx.dev.n, &id.request.params
	if p.PathMTU == 0 || p.PathMTU > theirs.PathMTU {
		p.PathMTU = theirs.PathMTU
	}
	id.params = n.cmParams(id.m, p)
	id.params.Timeout, id.params.Retries = theirs.Timeout, theirs.Retries
	if id.params.RNRRetry == 0 {
		id.params.RNRRetry = theirs.RNRRetry
	}
	id.qp = f
	if err := id.connect(id.request.qpn, id.request.psn, theirs); err != nil {
		return err
	}
	id.state = cmAccepted
	id.send(&cmMessage{kind: cmREP, from: id.num, to: id.remote, qpn: f.qpn, psn: id.psn, params: id.params}, true)
	return nil
}

// connect takes the queue pair from INIT to RTS.
func (id *cmID) connect(qpn, psn uint32, theirs *verbs.CMParams) error {
	p := &id.params
	a := verbs.QPAttr{AH: verbs.AHAttr{DGID: GIDOf(id.peer), Port: 1, HopLimit: 64}, PathMTU: min(p.PathMTU, theirs.PathMTU), DestQPN: qpn, RQPSN: psn, SQPSN: id.psn,
		MaxDestRDAtomic: p.ResponderResources, MaxRDAtomic: min(p.Depth, theirs.ResponderResources), MinRNRTimer: p.MinRNRTimer,
		RNRRetry: p.RNRRetry, RetryCount: p.RetryCount, Timeout: p.AckTimeout}
	for _, s := range []verbs.State{verbs.StateRTR, verbs.StateRTS} {
		need, _, _ := verbs.Masks(id.qp.params.Service, id.qp.q.state, s)
		a.State = s
		if err := id.qp.Modify(a, need); err != nil {
			return err
		}
	}
	return nil
}

func (id *cmID) onREP(c *cmMessage) {
	n := id.m.ctx.dev.n
	id.sent, id.remote = nil, c.from
	if err := id.connect(c.qpn, c.psn, &c.params); err != nil {
		id.end(verbs.CMConnectError, nil, 0)
		n.sendCM(id.peer, &cmMessage{kind: cmDREQ, from: id.num, to: id.remote})
		return
	}
	id.state = cmConnected
	n.sendCM(id.peer, &cmMessage{kind: cmRTU, from: id.num, to: id.remote})
	id.m.tell(verbs.CMEvent{Kind: verbs.CMEstablished, ID: id, Private: append([]byte(nil), c.params.Private...), Params: c.params})
}

// Reject refuses a request.
func (id *cmID) Reject(private []byte) error {
	switch {
	case id.state != cmAsked:
		return fmt.Errorf("%w: there is no request to reject", verbs.ErrInvalid)
	case len(private) > maxPrivateREJ:
		return fmt.Errorf("%w: %d bytes of private data: want at most %d", verbs.ErrInvalid, len(private), maxPrivateREJ)
	}
	id.state = cmEnded
	id.m.ctx.dev.n.sendCM(id.peer, &cmMessage{kind: cmREJ, from: id.num, to: id.remote, reason: verbs.RejectByConsumer,
		params: verbs.CMParams{Private: append([]byte(nil), private...)}})
	return nil
}

// Disconnect takes the queue pair to ERROR and tells the peer.
func (id *cmID) Disconnect() error {
	if id.state != cmConnected && id.state != cmAccepted {
		return fmt.Errorf("%w: there is no connection", verbs.ErrInvalid)
	}
	id.state = cmEnded
	id.qp.abort()
	id.send(&cmMessage{kind: cmDREQ, from: id.num, to: id.remote}, true)
	return nil
}

func (id *cmID) onDREQ(c *cmMessage) {
	id.m.ctx.dev.n.sendCM(id.peer, &cmMessage{kind: cmDREP, from: id.num, to: c.from})
	if id.state == cmConnected || id.state == cmAccepted {
		id.sent = nil
		id.qp.abort()
		id.end(verbs.CMDisconnected, nil, 0)
	}
}
