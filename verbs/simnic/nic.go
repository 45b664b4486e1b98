package simnic

import (
	"fmt"

	"rdmasim/congestion"
	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// Kinds of a NIC's own timers.
const (
	kindStart         = fabric.KindNICFirst + iota // applications begin
	kindTimeout                                    // local ACK timer of a queue pair
	kindDrain                                      // a slow host has taken a packet
	kindClient                                     // an application's timer
	kindSent                                       // the last packet of a message has left that nobody acknowledges
	kindDeliver                                    // a host takes a completion
	kindCM                                         // a message of connection management is not answered
	kindReceive                                    // a receive that was posted late is ready
	kindPauseWatchdog                              // a pause of the NIC's own has lasted for long
	kindSetup                                      // nobody has answered a wish to connect
	kindAccept                                     // a host has accepted a connection
)

// Client is an application on a host.
type Client interface {
	OnStart()
	OnAccept(qp *QP, private uint64)
	OnCompletion(qp *QP, wc verbs.WorkCompletion)
	OnTimer(token uint64)
}

// NIC is a host's network adapter with one or more ports.
type NIC struct {
	cfg     Config
	node    *sim.Node[packet.Packet]
	ports   []nicPort
	dog     *pauseWatchdog // nil = none
	dma     *dma           // nil = memory is as near as can be
	qps     []*qp
	freeQPs []int32
	nextQPN uint32
	accept  map[uint64]int32
	closed  []closedQP // accepted queue pairs whose peers have closed
	clients []Client
	working []bool // clients that are not done
	peers   map[int32]int
	ecn     uint8
	fb      congestion.Feedback
	cnpGap  sim.Duration

	outstanding int
	flowID      uint64
	rx          rxBuffer
	stat        nicStat
	watched     []*qp
	inbound     []*inbound
	binCNP      uint64
	lastCNP     float64
	id          trace.ObjectID
	jitter      *sim.Rand
	cm          *cmNIC
	coreAt      sim.Time // the host's core is busy until then
	heardAt     sim.Time // the host hears of completions
	deliveries  []delivery
	delivered   int // of deliveries
	windows     []*window
	regions     []*mr // by key
	keys        int
	nextAddr    uint64
	qkeyFails   uint32
	sampling    bool // the end of a bin is scheduled, or there are no series
	acts        []func(sim.Time) sim.Time
	setups      uint32 // messages of connection management sent
	acceptAt    sim.Time
	accepting   []accepting
	late        sim.Duration // by which receives are posted late
	lateRecvs   []lateReceive
}

type closedQP struct {
	at   sim.Time
	key  uint64
	slot int32
	qpn  uint32
}

type nicStat struct {
	sent, delivered, retransmitted, discarded uint64
	payload                                   uint64
	acks, naks, rnrs, timeouts                uint64
	cnpSent, cnpHandled, marked               uint64
	early, naksGot                            uint64 // packets out of sequence, NAKs received
}

// nicPort is a port with the queue pairs and control packets that want to use it.
type nicPort struct {
	readyMask uint8
	ctrlMask  uint8
	turn      uint8
	wakeAt    sim.Time
	heap      []waiting
	fabric.Port
	head [8]int32
	tail [8]int32
	ctrl [8]fifo

	id       trace.ObjectID
	queueID  [8]trace.ObjectID
	binBytes uint64
	lastBps  float64
	binPause [8]sim.Duration
	lastFrac [8]float64
	logged   uint8
	stuck    uint8 // classes of the peer that stay paused whatever the buffer
}

// fifo is a queue of control packets.
type fifo struct {
	buf  []packet.Packet
	head int
}

func (f *fifo) push(m *packet.Packet) { f.buf = append(f.buf, *m) }

func (f *fifo) empty() bool { return f.head == len(f.buf) }

func (f *fifo) pop() packet.Packet {
	m := f.buf[f.head]
	f.head++
	if f.head == len(f.buf) {
		f.buf, f.head = f.buf[:0], 0
	} else if f.head >= 256 && f.head*2 >= len(f.buf) {
		f.buf = append(f.buf[:0], f.buf[f.head:]...)
		f.head = 0
	}
	return m
}

// New returns a NIC and adds it to the engine.
func New(e *sim.Engine[packet.Packet], cfg Config, pod int) *NIC {
	n := &NIC{cfg: cfg, ports: make([]nicPort, len(cfg.Ports)), accept: map[uint64]int32{}, peers: map[int32]int{}}
	n.node = e.AddNode(n, len(cfg.Ports), pod)
	n.fb, n.cnpGap = cfg.Algorithm.Feedback()
	if cfg.Algorithm.ECT() {
		n.ecn = packet.ECT0 // what mlx5 sends
	}
	n.id = cfg.Names.ID(cfg.Name)
	n.nextAddr = 1 << 32 // a choice: addresses need more than 32 bits
	for i := range n.ports {
		p := &n.ports[i]
		p.Port = fabric.NewPort(cfg.Ports[i])
		p.Lose(cfg.Rand, cfg.Name, i)
		for c := range p.head {
			p.head[c], p.tail[c] = -1, -1
		}
		name := fmt.Sprintf("%s:%d", cfg.Name, i)
		p.id = cfg.Names.ID(name)
		for c := range p.queueID {
			if cfg.Ports[i].Lossless&(1<<c) != 0 {
				p.queueID[c] = cfg.Names.ID(fmt.Sprintf("%s/q%d", name, c))
			}
		}
	}
	if cfg.PauseWatchdog > 0 {
		n.dog = &pauseWatchdog{limit: cfg.PauseWatchdog}
	}
	n.dma = newDMA(&n.cfg)
	n.rx.init(n)
	n.node.At(0, kindStart, 0, 0)
	if cfg.Interval > 0 {
		for i := range cfg.SeriesQPs {
			cfg.Names.ID(fmt.Sprintf("%s/qp%d", cfg.Name, i+1))
		}
	}
	n.sampling = cfg.Interval == 0
	return n
}

// Node returns the NIC's handle on the engine.
func (n *NIC) Node() *sim.Node[packet.Packet] { return n.node }

// LineRate returns the rate of a port.
func (n *NIC) LineRate(port int) sim.Rate { return n.ports[port].Cfg.Rate }

// Attach adds an application and returns its number, at most 255.
func (n *NIC) Attach(c Client) int {
	n.clients = append(n.clients, c)
	n.working = append(n.working, true)
	return len(n.clients) - 1
}

// After calls the application's OnTimer after d.
func (n *NIC) After(client int, d sim.Duration, token uint64) {
	n.node.At(n.node.Now().Add(max(d, 0)), kindClient, client, token)
}

// Done says that an application will post nothing more of itself.
func (n *NIC) Done(client int) {
	n.working[client] = false
	n.activity()
}

// activity tells the engine whether the host has work left.
func (n *NIC) activity() {
	busy := n.outstanding > 0
	for _, w := range n.working {
		busy = busy || w
	}
	if busy {
		n.node.Resume()
	} else {
		n.node.Done()
	}
}

// Conn describes a connection that an application wants.
type Conn struct {
	Client           int
	Port             int   // of this NIC
	Peer             int32 // endpoint
	Priority         int   // -1 = the NIC's default
	SrcPort, DstPort uint16
	Private          uint64
	Depth            int
	Service          verbs.Service // zero = RC
}

// Connect returns a queue pair in state RTS.
func (n *NIC) Connect(c Conn) *QP {
	if c.Service == 0 {
		c.Service = verbs.RC
	}
	q := n.create(c.Client, c.Port, c.Peer, c.Service)
	q.private, q.depth = c.Private, c.Depth
	if q.depth == 0 {
		q.depth = n.cfg.MaxMessages
	}
	if c.Priority >= 0 && c.Priority != int(n.cfg.Priority) {
		q.prio, q.dscp = uint8(c.Priority), n.cfg.PriorityDSCP[c.Priority&7]
	}
	q.srcPort, q.dstPort = c.SrcPort, c.DstPort
	if q.dstPort == 0 {
		q.dstPort = RoCEv2Port
	}
	if q.srcPort == 0 {
		q.srcPort = n.cfg.SourcePort(n.cfg.Endpoints[c.Port], c.Peer, n.peers[c.Peer])
	}
	n.peers[c.Peer]++
	n.route(q)
	if n.cfg.Setup != nil && c.Service != verbs.UD {
		n.dial(q)
	}
	return q.handle
}

// create takes a slot for a queue pair.
func (n *NIC) create(client, port int, peer int32, service verbs.Service) *qp {
	n.reap()
	var q *qp
	if k := len(n.freeQPs); k > 0 {
		q = n.qps[n.freeQPs[k-1]]
		n.freeQPs = n.freeQPs[:k-1]
	} else {
		q = &qp{slot: int32(len(n.qps))}
		n.qps = append(n.qps, q)
	}
	n.nextQPN++
	*q = qp{slot: q.slot, qpn: n.nextQPN, client: int32(client), port: int32(port), peer: peer, state: verbs.StateRTS,
		prio: n.cfg.Priority, dscp: n.cfg.DSCP, next: -1, msgs: q.msgs[:0], recvs: q.recvs[:0],
		service: service, special: service != verbs.RC, mtu: sim.Bytes(n.cfg.Sizes.Payload), timeout: n.cfg.Timeout,
		retryMax: uint8(n.cfg.RetryCount), rnrMax: uint8(n.cfg.RNRRetry), rnrTimer: n.cfg.RNRTimer, maxRD: maxResources, account: q.account.recycled()}
	if n.cfg.MaxRDAtomic > 0 {
		q.maxRD = uint8(min(n.cfg.MaxRDAtomic, maxResources))
	}
	if n.cfg.IRN != nil && service == verbs.RC {
		q.irn = newSelective(n.cfg.IRN, q.mtu)
	}
	q.rto = n.timeoutOf(q)
	q.np.Interval = n.cnpGap
	q.handle = &QP{n: n, q: q, qpn: q.qpn, peer: peer}
	if int(q.qpn) <= n.cfg.SeriesQPs && n.cfg.Interval > 0 {
		q.series = n.cfg.Names.Lookup(fmt.Sprintf("%s/qp%d", n.cfg.Name, q.qpn))
		n.watched = append(n.watched, q)
	}
	return q
}

// route looks up the path of a queue pair and gives it a reaction point.
func (n *NIC) route(q *qp) {
	q.path = n.cfg.Path(n.cfg.Endpoints[q.port], q.peer, q.srcPort, q.dstPort, q.prio)
	rate := n.ports[q.port].Cfg.Rate
	q.rp = n.cfg.Algorithm.NewReactionPoint(rate, q.path.BaseRTT)
	if q.irn != nil {
		q.irn.fit(rate, q.path.BaseRTT, q.mtu)
	}
	if n.cfg.Account {
		n.cfg.Sink.QueuePair(trace.QueuePair{Time: n.node.Now(), Host: n.cfg.Name, QP: q.qpn, Peer: n.cfg.EndpointName(q.peer), Prio: q.prio,
			SrcPort: q.srcPort, There: q.path.There, Back: q.path.Back, Spread: q.path.Spread})
	}
}

// destroy frees a queue pair.
func (n *NIC) destroy(q *qp) {
	if q.sched == schedWaiting {
		p := &n.ports[q.port]
		for i := range p.heap {
			if p.heap[i].slot == q.slot {
				p.heap[i].slot = -1
			}
		}
	}
	if q.series != 0 {
		for i, w := range n.watched {
			if w == q {
				n.watched = append(n.watched[:i], n.watched[i+1:]...)
				break
			}
		}
	}
	n.hangUp(q)
	q.handle = nil
	q.state = verbs.StateReset
	if q.sched != schedReady { // the ready list lets go of it when it comes up
		n.freeQPs = append(n.freeQPs, q.slot)
	}
	q.qpn = 0
}

// lingering is how long an accepted queue pair stays after its peer has closed,
// for packets that are still on their way.
const lingering = 10 * sim.Millisecond

// reap frees accepted queue pairs whose time is over.
func (n *NIC) reap() {
	now := n.node.Now()
	i := 0
	for ; i < len(n.closed) && now.Sub(n.closed[i].at) > lingering; i++ {
		c := &n.closed[i]
		if q := n.qps[c.slot]; q.qpn == c.qpn && n.accept[c.key] == c.slot && q.head == len(q.msgs) {
			delete(n.accept, c.key)
			n.destroy(q)
		}
	}
	if i > 0 {
		n.closed = append(n.closed[:0], n.closed[i:]...)
	}
}

// lookup returns the queue pair of a number in a packet, nil if it is gone.
func (n *NIC) lookup(qpn uint32) *qp {
	slot := int(qpn&(packet.AcceptedQP-1)>>generationBits) - 1 // see wireQPN
	if slot < 0 || slot >= len(n.qps) {
		return nil
	}
	q := n.qps[slot]
	if (q.qpn^qpn)&(1<<generationBits-1) != 0 || q.qpn == 0 {
		return nil
	}
	return q
}

// generationBits of a queue pair's number tell successive owners of a slot apart.
const generationBits = 7

// wireQPN is what packets carry: who made the queue pair, the slot, and the low
// bits of the number. It is never 0 or 1.
func (q *qp) wireQPN() uint32 {
	w := uint32(q.slot+1)<<generationBits | q.qpn&(1<<generationBits-1)
	if q.accepted {
		w |= packet.AcceptedQP
	}
	return w
}

// OnMessage handles a frame that has arrived.
func (n *NIC) OnMessage(port int, m *packet.Packet) {
	if !n.sampling {
		n.beginSampling()
	}
	if p := &n.ports[port]; p.Loses(m) {
		n.cfg.Sink.Event(trace.Event{Time: n.node.Now(), Kind: trace.EventDrop, Object: p.id, Prio: int8(m.Prio), Value: float64(m.Size), Cause: "link loss"})
		return
	}
	if m.Kind >= packet.PFC {
		p := &n.ports[port]
		if up := p.OnPFC(n.node, port, m); up != 0 {
			n.transmit(port)
		}
		n.logPause(port)
		return
	}
	n.rx.arrive(n, port, m)
}

// handle is what happens to a packet once the host has taken it.
func (n *NIC) handle(port int, m *packet.Packet) {
	switch m.Kind {
	case packet.Data:
		switch {
		case m.Opcode < packet.OpResponse:
			n.onData(port, m)
		case m.IsResponse():
			n.onResponse(port, m)
		default:
			n.onUnreliable(port, m)
		}
	case packet.Ack, packet.Nak:
		n.onAck(m)
	case packet.CNP:
		n.stat.cnpHandled++
		if q := n.lookup(m.DstQP); q != nil && q.rp != nil {
			q.rp.OnCNP(n.node.Now())
		}
	case packet.Corrupt:
		n.corrupt(port, m)
	}
}

// OnTimer handles the NIC's timers.
func (n *NIC) OnTimer(kind sim.Kind, port int, arg uint64) {
	switch kind {
	case fabric.KindTxDone:
		p := &n.ports[port]
		if p.wakeAt == n.node.Now() {
			p.wakeAt = 0
		}
		n.transmit(port)
	case kindTimeout:
		n.onTimeout(int32(arg&0xffffff), uint32(arg>>24))
	case kindClient:
		n.clients[port].OnTimer(arg)
	case kindSent:
		if q := n.qps[arg&0xffffff]; q.qpn == uint32(arg>>24) {
			n.retire(q, q.nxt)
			if q.handle != nil {
				n.offer(q)
			}
		}
	case kindDeliver:
		n.deliver()
	case kindCM:
		n.onCMTimer(uint32(arg))
	case kindDrain:
		n.rx.drained(n)
	case fabric.KindFault:
		n.act(arg)
	case kindPauseWatchdog:
		n.pauseTooLong(port, arg)
	case kindReceive:
		n.receiveReady()
	case kindSetup:
		n.setupTimer(uint32(arg&0xffffff), uint32(arg>>24))
	case kindAccept:
		n.accepted()
	case kindStart:
		for _, c := range n.clients {
			c.OnStart()
		}
		n.activity()
	case fabric.KindSample:
		n.sample()
	default:
		if !n.sampling {
			n.beginSampling()
		}
		p := &n.ports[port]
		p.OnTimer(n.node, kind, port, arg)
		n.logPause(port)
		n.transmit(port)
	}
}
