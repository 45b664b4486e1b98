package fabric

import (
	"fmt"
	"math/bits"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Switch is an output-queued switch with a shared buffer. Frames are charged to
// the port and class by which they came, and wait in the queue of the port and
// class by which they go.
type Switch struct {
	Cfg      SwitchConfig
	node     *sim.Node[packet.Packet]
	ports    []swPort
	mmu      sharedBuffer
	full     *mmu       // the buffer manager in full; nil = mmu
	pool     *chunkPool // unused pieces of queues, shared by the switches of a worker
	seed     uint64
	pick     *sim.Rand
	flows    []flowlet
	start    sim.Time // of the measurement
	sampling bool     // the end of a bin is scheduled, or there are no series
	acts     []func(sim.Time) sim.Time
}

// swPort is a port of a switch; what every frame needs comes first.
type swPort struct {
	alpha    int64 // dynamic threshold of its groups
	nonEmpty uint8
	waking   bool
	turn     uint8 // class whose turn it is
	stopped  uint8 // queues that pauses stop
	slow     uint8 // queues of which no frame goes straight through
	Port
	class    [8]*class // nil until a frame or a pause of the class comes by
	ecnRand  *sim.Rand
	maps     *Maps      // nil = plain
	sched    *scheduler // nil = that of the switch
	dog      *dog       // nil = no watchdog
	id       trace.ObjectID
	binBytes uint64
	lastBps  float64
	logged   uint8 // classes whose pause episode has been reported
	stuck    uint8 // classes of the peer that stay paused whatever the buffer
}

// class is what a port has of one priority: the queue of frames that leave by
// it, and the group of frames that came by it.
type class struct {
	EgressQueue
	PriorityGroup
	*managed // nil without a buffer manager in full
	queueID  trace.ObjectID
	groupID  trace.ObjectID
	binPause sim.Duration
	lastFrac float64
	lastMark float64
}

// managed is what a buffer manager in full knows of a class besides.
type managed struct {
	config     *GroupConfig // of the group
	holds      bool         // the group has asked for a pause
	maxShared  int64        // largest shared use of the group
	maxQueue   int64        // largest shared use of the queue
	sent       uint64       // frames from the queue
	sentBefore uint64       // of those, before the counters were reset
	wredDrops  [3]uint64    // frames that WRED has dropped, by colour
}

// of returns a class of a port.
func (s *Switch) of(port int, c uint8) *class {
	if k := s.ports[port].class[c]; k != nil {
		return k
	}
	return s.newClass(port, c)
}

func (s *Switch) newClass(port int, c uint8) *class {
	k := &class{}
	if m := s.Cfg.Ports[port].MMU; m != nil {
		k.managed = &managed{config: &m.Groups[c]}
	}
	k.ecn = &marksNothing
	if ecn := s.Cfg.Ports[port].ECN; ecn != nil {
		k.ecn = &ecn[c]
	}
	k.queueID = s.Cfg.Names.Lookup(queueName(s.Cfg.Name, port, c))
	k.groupID = s.Cfg.Names.Lookup(groupName(s.Cfg.Name, port, c))
	now := s.node.Now()
	k.EgressQueue.level.start(now)
	k.PriorityGroup.level.start(now)
	s.ports[port].class[c] = k
	return k
}

// marksNothing is the marking of queues for which none is configured.
var marksNothing ECNConfig

func queueName(node string, port int, c uint8) string { return fmt.Sprintf("%s:%d/q%d", node, port, c) }
func groupName(node string, port int, c uint8) string {
	return fmt.Sprintf("%s:%d/pg%d", node, port, c)
}

// NewSwitch returns a switch and adds it to the engine.
func NewSwitch(e *sim.Engine[packet.Packet], cfg SwitchConfig, pod int) *Switch {
	s := &Switch{Cfg: cfg, ports: make([]swPort, len(cfg.Ports))}
	s.node = e.AddNode(s, len(cfg.Ports), pod)
	s.seed = sim.Mix64(cfg.HashSeed)
	if cfg.Balance != BalanceECMP {
		s.pick = cfg.Rand(cfg.Name + "/balance")
		s.flows = make([]flowlet, flowlets)
	}
	for i := range s.ports {
		p, c := &s.ports[i], &cfg.Ports[i]
		p.Port = NewPort(c.PortConfig)
		p.ecnRand = cfg.Rand(fmt.Sprintf("%s/port%d/ecn", cfg.Name, i))
		p.alpha = c.Alpha
		p.maps = c.Maps
		if c.Scheduler != nil {
			p.sched = newScheduler(c.Scheduler, c.Rate)
		}
		if c.Watchdog.Watchdog != nil {
			p.dog = newDog(c.Watchdog, c.Lossless)
		}
		p.slow = p.slowQueues()
		p.Lose(cfg.Rand, cfg.Name, i)
		p.id = cfg.Names.ID(fmt.Sprintf("%s:%d", cfg.Name, i))
		for k := range uint8(8) {
			if cfg.Queues&(1<<k) != 0 {
				cfg.Names.ID(queueName(cfg.Name, i, k))
			}
			if cfg.Lossless&(1<<k) != 0 {
				cfg.Names.ID(groupName(cfg.Name, i, k))
			}
		}
	}
	if cfg.MMU != nil {
		s.full = newMMU(&s.Cfg)
	} else {
		s.mmu.init(&cfg)
	}
	s.startWatchdogs()
	s.sampling = cfg.Interval == 0
	s.node.Done() // a switch starts nothing
	return s
}

// Node returns the switch's handle on the engine.
func (s *Switch) Node() *sim.Node[packet.Packet] { return s.node }

// OnMessage handles a frame that has arrived (or, in a cut-through switch, its header).
func (s *Switch) OnMessage(in int, m *packet.Packet) {
	p := &s.ports[in]
	if !s.sampling {
		s.wake()
	}
	if p.lossy != nil && p.Loses(m) {
		s.dropped(in, m, "link loss")
		return
	}
	if m.Kind >= packet.PFC {
		for c := m.Classes & p.Cfg.Lossless; c != 0; c &= c - 1 {
			s.of(in, uint8(bits.TrailingZeros8(c)))
		}
		p.OnPFC(s.node, in, m)
		s.paused(in)
		s.logPause(in)
		return
	}
	s.forward(in, m, 0)
}

// forward routes a frame and queues it. slot is that of a parked frame whose
// last bit has come, 0 for a message that has just arrived.
func (s *Switch) forward(in int, m *packet.Packet, slot int32) {
	if m.TTL <= 1 { // RFC 1812, section 5.3.1: a router that takes the last hop away discards
		s.ports[in].Stat.DropFault++
		s.dropped(in, m, "TTL expired")
		s.discard(slot)
		return
	}
	out := s.route(in, m)
	if out < 0 {
		s.ports[in].Stat.DropFault++
		s.dropped(in, m, "no route")
		s.discard(slot)
		return
	}
	o := &s.ports[out]
	now := s.node.Now()
	if s.Cfg.CutThrough && slot == 0 && sim.Bytes(m.Size) > headerBytes {
		idle := !o.busy(now) && o.nonEmpty == 0 && !o.Pending() && o.slow&(1<<m.Prio) == 0 && (s.full == nil || o.slow == 0)
		if !idle || o.Cfg.Rate > s.ports[in].Cfg.RxRate {
			s.park(in, m)
			return
		}
	}
	m.TTL--
	m.InPort = uint16(in)
	if s.Cfg.VTEP {
		s.encapsulate(in, out, m)
	}
	if s.full != nil {
		s.forwardFull(in, out, m)
		s.discard(slot)
		return
	}
	c := s.classOf(m)
	m.Prio = c
	if s.Cfg.Bypass&(1<<c) == 0 {
		q := &s.of(out, c).EgressQueue
		if !o.busy(now) && o.nonEmpty == 0 && o.slow&(1<<c) == 0 && !o.Pending() && s.mmu.passes(s, in, m) &&
			(q.ecn.At == MarkAtDequeue || int64(m.Size) <= q.ecn.Kmin) {
			s.sendNow(out, q, m)
			s.discard(slot)
			return
		}
		if !s.admit(in, q, m) {
			s.discard(slot)
			return
		}
		if q.ecn.On && q.ecn.At == MarkAtEnqueue {
			s.mark(o, q, m, q.Bytes+int64(m.Size))
		}
	}
	s.enqueue(out, c, m)
	s.discard(slot)
	s.transmit(out)
}

// discard frees the slot of a parked frame.
func (s *Switch) discard(slot int32) {
	if slot != 0 {
		s.node.Free(slot)
	}
}

// sendNow puts a frame on an idle port without queueing it.
func (s *Switch) sendNow(out int, q *EgressQueue, m *packet.Packet) {
	if q.ecn.On && m.ECN != packet.NotECT {
		q.Eligible++
	}
	s.ports[out].Send(s.node, out, m)
}

// busy reports whether a frame occupies the port. Frames that arrive at the
// instant at which it leaves are queued before the next one is chosen, whatever
// their order.
func (p *swPort) busy(now sim.Time) bool { return p.FreeAt > now || p.waking }

// chunks returns the pool of unused pieces of queues.
func (s *Switch) chunks() *chunkPool {
	if s.pool == nil {
		shared := s.node.Shared()
		if *shared == nil {
			*shared = new(chunkPool)
		}
		s.pool = (*shared).(*chunkPool)
	}
	return s.pool
}

func (s *Switch) enqueue(out int, c uint8, m *packet.Packet) {
	q := &s.of(out, c).EgressQueue
	q.fifo.push(s.chunks(), m)
	q.Bytes += int64(m.Size)
	q.level.follow(q.Bytes, s.node.Now())
	s.ports[out].nonEmpty |= 1 << c
}

// transmit sends the next frame of a port if the port is free, and sees to it
// that the port is looked at again when it becomes free with work waiting.
func (s *Switch) transmit(out int) {
	o := &s.ports[out]
	now := s.node.Now()
	if o.busy(now) {
		if !o.waking {
			o.waking = true
			s.node.At(o.FreeAt, KindTxDone, out, 0)
		}
		return
	}
	if o.Pending() {
		o.SendPFC(s.node, out)
	} else if ready := o.nonEmpty &^ o.stopped; ready != 0 {
		if o.sched != nil {
			if !s.schedule(out, o, ready) {
				return
			}
		} else {
			s.dequeue(out, o, s.next(o, ready))
		}
	} else {
		return
	}
	if !o.waking && (o.nonEmpty&^o.stopped != 0 || o.Pending()) {
		o.waking = true
		s.node.At(o.FreeAt, KindTxDone, out, 0)
	}
}

// next picks the class to serve: strict ones first, the highest first, then
// deficit round robin, or one packet per turn where there is no quantum.
func (s *Switch) next(o *swPort, ready uint8) uint8 {
	if st := ready & s.Cfg.Strict; st != 0 {
		return uint8(bits.Len8(st) - 1)
	}
	return o.roundRobin(ready, s.Cfg.Quantum, &s.Cfg.Weights)
}

// roundRobin picks by deficit round robin (Shreedhar and Varghese,
// SIGCOMM'95), or by weighted round robin, in packets, where there is no quantum.
func (o *swPort) roundRobin(ready uint8, quantum int64, weights *[8]int64) uint8 {
	if ready&(ready-1) == 0 {
		return uint8(bits.TrailingZeros8(ready))
	}
	if quantum == 0 {
		return o.weightedTurns(ready, weights)
	}
	for {
		c := o.turn
		if ready&(1<<c) != 0 {
			q := o.class[c]
			if size := int64(q.fifo.front().Size); q.Deficit >= size {
				q.Deficit -= size
				return c
			}
		}
		for {
			o.turn = (o.turn + 1) & 7
			if ready&(1<<o.turn) != 0 {
				break
			}
		}
		o.class[o.turn].Deficit += quantum * max(weights[o.turn], 1)
	}
}

// weightedTurns picks by weighted round robin: each turn, a class may send as
// many packets as its weight.
func (o *swPort) weightedTurns(ready uint8, weights *[8]int64) uint8 {
	if c := o.turn; ready&(1<<c) != 0 && o.class[c].Deficit > 0 {
		o.class[c].Deficit--
		return c
	}
	for i := uint8(1); ; i++ {
		if c := (o.turn + i) & 7; ready&(1<<c) != 0 {
			o.turn = c
			o.class[c].Deficit = max(weights[c], 1) - 1
			return c
		}
	}
}

// dequeue sends the first frame of a class.
func (s *Switch) dequeue(out int, o *swPort, c uint8) {
	if s.full != nil {
		s.dequeueFull(out, o, c)
		return
	}
	q := &o.class[c].EgressQueue
	m := q.fifo.front()
	q.fifo.pop(s.chunks())
	q.Bytes -= int64(m.Size)
	q.level.follow(q.Bytes, s.node.Now())
	if q.fifo.empty() {
		q.Deficit = 0
		o.nonEmpty &^= 1 << c
	}
	if s.Cfg.Bypass&(1<<c) == 0 {
		if q.ecn.On {
			if q.ecn.At == MarkAtDequeue {
				s.mark(o, q, m, q.Bytes)
			}
			if m.ECN != packet.NotECT {
				q.Eligible++
			}
		}
		s.release(int(m.InPort), c, int64(m.Size))
	}
	o.Send(s.node, out, m)
}

// mark sets CE with the probability of the marking curve at a queue length.
func (s *Switch) mark(o *swPort, q *EgressQueue, m *packet.Packet, length int64) {
	e := q.ecn
	if length <= e.Kmin || m.ECN == packet.NotECT {
		return
	}
	if length <= e.Kmax {
		p := e.Pmax * (float64(length-e.Kmin) / float64(e.Kmax-e.Kmin))
		if o.ecnRand.Float64() >= p {
			return
		}
	} else if e.KeepPmax && o.ecnRand.Float64() >= e.Pmax {
		return
	}
	if m.ECN != packet.CE {
		m.ECN = packet.CE
	}
	q.Marked++
	if o.tap != nil && e.At == MarkAtDequeue {
		o.tap.Marked(length)
	}
}

// classOf maps a frame to its priority on this hop.
func (s *Switch) classOf(m *packet.Packet) uint8 {
	if s.Cfg.TrustPCP {
		return m.Prio
	}
	return s.Cfg.ClassOf[m.DSCP&63]
}

// headerBytes is what a cut-through switch must have of a frame before it can
// forward it: Ethernet, IPv4, UDP and BTH headers in one 64-byte slot.
const headerBytes = 64

// HeaderBytes is what the peer of a cut-through switch sets in its PortConfig.
const HeaderBytes = headerBytes

// park keeps a frame whose header is here until its last bit is.
func (s *Switch) park(in int, m *packet.Packet) {
	p := &s.ports[in]
	rest := p.Cfg.RxRate.TxTime(sim.Bytes(m.Size) - headerBytes)
	s.node.At(s.node.Now().Add(rest), KindTail, in, uint64(s.node.Keep()))
}

// OnTimer handles the switch's own timers.
func (s *Switch) OnTimer(kind sim.Kind, port int, arg uint64) {
	if !s.sampling {
		s.wake()
	}
	switch kind {
	case KindTxDone:
		s.ports[port].waking = false
		s.transmit(port)
	case KindSample:
		s.sample()
	case KindTail:
		s.forward(port, s.node.Message(int32(arg)), int32(arg))
	case KindShape:
		s.transmit(port)
	case KindWatchdog:
		s.poll(port)
	case KindFault:
		s.act(arg)
	default:
		p := &s.ports[port]
		p.OnTimer(s.node, kind, port, arg)
		s.paused(port)
		s.logPause(port)
		if p.Pending() {
			s.transmit(port)
		}
	}
}

// paused brings what a port may send in line with the pauses that it has
// received, and lets it go on where one has ended.
func (s *Switch) paused(port int) {
	p := &s.ports[port]
	stopped := p.Paused
	if p.maps != nil {
		stopped = p.maps.stops(stopped)
	}
	if p.dog != nil {
		stopped &^= p.dog.ignores
	}
	up := p.stopped &^ stopped
	p.stopped = stopped
	p.slow = p.slowQueues()
	if p.nonEmpty&up != 0 {
		s.transmit(port)
	}
}

// slowQueues returns the queues of which no frame goes straight through.
func (p *swPort) slowQueues() uint8 {
	q := p.stopped
	if p.sched != nil {
		q |= p.sched.slow
	}
	return q
}
