package fabric

import (
	"math/bits"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// KindFault is the kind of timers by which faults act on a node: before
// everything else of their instant.
const KindFault sim.Kind = 0

// Verdict is what faults do to a frame on its way over a link.
type Verdict struct {
	Drop   string       // why the frame is lost; empty = it is not
	Delay  sim.Duration // on top of the link's
	Copies int          // that arrive behind it, one frame time apart
}

// Tamper stands in the way of the frames that a port has put on its link. It
// may change the frame, which is a copy. It sees frames that another one has
// dropped already, so that it can count them.
type Tamper interface {
	Frame(now sim.Time, m *packet.Packet, v *Verdict)
}

// mostDropEvents bounds how many lost frames of one port have an event of their
// own; the counters have all of them.
const mostDropEvents = 2000

// tampers are the faults of one direction of a link.
type tampers struct {
	list    []Tamper
	frame   packet.Packet
	verdict Verdict
	sink    *trace.Sink
	id      trace.ObjectID
	peer    trace.ObjectID
	events  int
}

// Tamper puts a fault in the way of what the port sends. Lost frames become
// events of the sink under the name id.
func (p *Port) Tamper(x Tamper, sink *trace.Sink, id, peer trace.ObjectID) {
	if p.tamper == nil {
		p.tamper = &tampers{sink: sink, id: id, peer: peer}
	}
	p.tamper.list = append(p.tamper.list, x)
}

// send is the way of a frame over a link with faults.
func (t *tampers) send(p *Port, n *sim.Node[packet.Packet], port int, at sim.Time, m *packet.Packet) {
	t.frame, t.verdict = *m, Verdict{}
	for _, x := range t.list {
		x.Frame(n.Now(), &t.frame, &t.verdict)
	}
	if t.verdict.Drop != "" {
		t.lost(p, n.Now(), m)
		return
	}
	at = at.Add(t.verdict.Delay)
	n.Send(port, at, &t.frame)
	for range t.verdict.Copies {
		p.Stat.Copies++
		at = at.Add(p.TxTime(sim.Bytes(m.Size)))
		n.Send(port, at, &t.frame)
	}
}

func (t *tampers) lost(p *Port, now sim.Time, m *packet.Packet) {
	p.Stat.DropFault++
	p.Stat.DropBytes += uint64(m.Size)
	if t.events++; t.events <= mostDropEvents {
		t.sink.Event(trace.Event{Time: now, Kind: trace.EventDrop, Object: t.id, Peer: t.peer, Prio: int8(m.Prio), Value: float64(m.Size), Cause: t.verdict.Drop})
	}
}

// SetRate makes the port send at another rate from the next frame on.
func (p *Port) SetRate(r sim.Rate) {
	p.Cfg.Rate = r
	p.psPerByte = 0
	if r > 0 && int64(sim.Second)*8%int64(r) == 0 {
		p.psPerByte = int64(sim.Second) * 8 / int64(r)
	}
}

// SetLossless changes the classes for which the port sends and obeys pauses.
// It returns those that were paused and may be sent again.
func (p *Port) SetLossless(classes uint8, now sim.Time) (resumed uint8) {
	gone := p.Cfg.Lossless &^ classes
	p.Cfg.Lossless = classes
	for c := gone; c != 0; c &= c - 1 {
		i := bits.TrailingZeros8(c)
		if p.Paused&(1<<i) != 0 {
			p.resume(i, now)
			resumed |= 1 << i
		}
		p.pfc().gen[i]++
	}
	p.xoff &^= gone
	p.pending &^= uint16(gone)
	p.again &^= gone
	return resumed
}

// Force asks for a pause frame for class i that no buffer has called for;
// repeated says that it only prolongs the pause. Quanta of 0 make it an XON.
func (p *Port) Force(i int, quanta uint16, repeated bool) {
	if p.Cfg.Global {
		p.ForceGlobal(quanta)
		return
	}
	p.pending |= 1 << i
	p.again &^= 1 << i
	if repeated {
		p.again |= 1 << i
	}
	p.pfc().quanta[i] = quanta
}

// Do calls f at t, on the switch's own thread and before all else of that
// instant, and again at the time that f returns, until that is sim.Never.
func (s *Switch) Do(t sim.Time, f func(now sim.Time) (again sim.Time)) {
	s.acts = append(s.acts, f)
	s.node.At(t, KindFault, 0, uint64(len(s.acts)-1))
}

func (s *Switch) act(i uint64) {
	now := s.node.Now()
	if again := s.acts[i](now); again > now && again != sim.Never {
		s.node.At(again, KindFault, 0, i)
	}
}

// Port returns a port of the switch. What is changed there must be changed on
// the switch's own thread, see Do.
func (s *Switch) Port(i int) *Port { return &s.ports[i].Port }

// PortID returns the name of a port in the rows of a run.
func (s *Switch) PortID(i int) trace.ObjectID { return s.ports[i].id }

// Alpha returns the dynamic threshold of a port in 1/65536 of the free buffer.
func (s *Switch) Alpha(port int) int64 { return s.ports[port].alpha }

// SetAlpha changes the dynamic threshold of a port.
func (s *Switch) SetAlpha(port int, alpha int64) {
	s.ports[port].alpha = alpha
	if s.full != nil {
		s.setGroups(port, func(g *GroupConfig) { g.Threshold = dynamicThreshold(alpha) })
	}
}

// SetHeadroom changes the headroom per lossless class of a port. What it takes
// from the shared pool, or gives back, is as at the start of a switch.
func (s *Switch) SetHeadroom(port int, size int64) {
	old := s.Cfg.Ports[port].Headroom
	s.Cfg.Ports[port].Headroom = size
	if s.full != nil {
		s.setGroups(port, func(g *GroupConfig) {
			if p := &s.full.pools[g.Pool]; len(s.full.pools) == 1 && p.PoolConfig.Headroom == 0 {
				p.Size += g.Headroom - s.full.round(size)
			}
			g.Headroom = s.full.round(size)
		})
		return
	}
	classes := int64(bits.OnesCount8(s.Cfg.Lossless))
	if s.Cfg.Buffer.OncePerPort {
		classes = 1
	}
	s.mmu.pool += classes * (old - size)
}

// setGroups changes the lossless priority groups of a port.
func (s *Switch) setGroups(port int, f func(*GroupConfig)) {
	for g := range uint8(8) {
		if s.lossless(port, g) {
			f(&s.Cfg.Ports[port].MMU.Groups[g])
		}
	}
}

// ECN returns the marking curve of a class of a port.
func (s *Switch) ECN(port int, c uint8) ECNConfig {
	if e := s.Cfg.Ports[port].ECN; e != nil {
		return e[c]
	}
	return ECNConfig{}
}

// SetECN changes the marking curve of a class of a port, which may share it
// with others until then.
func (s *Switch) SetECN(port int, c uint8, e ECNConfig) {
	var own [8]ECNConfig
	if old := s.Cfg.Ports[port].ECN; old != nil {
		own = *old
	}
	own[c] = e
	s.Cfg.Ports[port].ECN = &own
	if s.full != nil {
		s.Cfg.Ports[port].MMU.Queues[c].WRED = e.WRED()
	}
	for i, k := range s.ports[port].class {
		if k != nil {
			k.ecn = &own[i]
		}
	}
}

// SetLossless changes the classes under PFC of a port and lets go on what was
// paused.
func (s *Switch) SetLossless(port int, classes uint8) {
	s.ports[port].SetLossless(classes, s.node.Now())
	s.paused(port)
	s.logPause(port)
}

// Stick makes a port hold XOFF for a class whatever its buffer, or lets it go.
func (s *Switch) Stick(port int, c uint8, on bool) {
	p := &s.ports[port]
	if p.Cfg.Lossless&(1<<c) == 0 {
		return
	}
	g, _ := s.groupAsking(port, c)
	if on {
		p.stuck |= 1 << c
		if !p.Holds(int(c)) {
			p.Xoff(int(c))
			s.logStuck(port, c, g)
			s.transmit(port)
		}
		return
	}
	p.stuck &^= 1 << c
	if s.full != nil {
		s.unstick(port, c)
		return
	}
	s.release(port, c, 0)
}

func (s *Switch) logStuck(port int, c uint8, g *PriorityGroup) {
	if s.Cfg.PauseLog {
		s.Cfg.Sink.Event(trace.Event{Time: s.node.Now(), Kind: trace.EventXoff, Object: s.ports[port].id, Peer: s.Cfg.Ports[port].PeerID, Prio: int8(c), Value: float64(g.Ingress), Cause: "stuck"})
	}
}

// Flush throws away every frame that waits in the switch, as a reboot does.
func (s *Switch) Flush(cause string) (frames uint64) {
	now := s.node.Now()
	for i := range s.ports {
		o := &s.ports[i]
		for c := range uint8(8) {
			k := o.class[c]
			if k == nil {
				continue
			}
			for !k.fifo.empty() {
				m := *k.fifo.front()
				k.fifo.pop(s.chunks())
				if s.full != nil {
					before := k.Bytes
					s.taken(o, c, k, &m)
					s.releaseFull(i, c, &m, before, before-k.Bytes)
					o.Stat.DropFault++
					o.Stat.DropBytes += uint64(m.Size)
					if frames++; frames <= mostDropEvents {
						s.dropped(i, &m, cause)
					}
					continue
				}
				k.Bytes -= int64(m.Size)
				k.EgressQueue.level.follow(k.Bytes, now)
				o.Stat.DropFault++
				o.Stat.DropBytes += uint64(m.Size)
				if frames++; frames <= mostDropEvents {
					s.dropped(i, &m, cause)
				}
				if s.Cfg.Bypass&(1<<c) == 0 {
					s.release(int(m.InPort), c, int64(m.Size))
				}
			}
			k.Deficit = 0
			o.nonEmpty &^= 1 << c
		}
	}
	return frames
}

// SetHashSeed changes the seed of the switch's choice among equal-cost paths.
// It may be called between windows only, since NICs look up their paths.
func (s *Switch) SetHashSeed(seed uint64) { s.seed = sim.Mix64(seed) }

// HashSeed returns the seed that the switch was given.
func (s *Switch) HashSeed() uint64 { return s.Cfg.HashSeed }

// SetRouter changes the routes of the switch, between windows only.
func (s *Switch) SetRouter(r Router) { s.Cfg.Router = r }

// StopWatchdog makes the watchdog of a port look away, and gives back the
// queues that it holds. It returns the queues that it watched, 0 = it has none.
func (s *Switch) StopWatchdog(port int) (queues uint8) {
	d := s.ports[port].dog
	if d == nil {
		return 0
	}
	for q := range uint8(8) {
		w := &d.queue[q]
		if !w.watched {
			continue
		}
		queues |= 1 << q
		if w.storm {
			s.restored(port, q)
		}
		w.watched, w.polls = false, 0
	}
	return queues
}

// StartWatchdog makes the watchdog of a port watch queues, from the counters of
// now on.
func (s *Switch) StartWatchdog(port int, queues uint8) {
	for q := range uint8(8) {
		if d := s.ports[port].dog; d != nil && queues&(1<<q) != 0 {
			d.queue[q].watched, d.queue[q].before = true, s.sampleFor(port, q)
		}
	}
}

// Watched returns the queues of a port that a watchdog watches.
func (s *Switch) Watched(port int) (queues uint8) {
	if d := s.ports[port].dog; d != nil {
		for q := range d.queue {
			if d.queue[q].watched {
				queues |= 1 << q
			}
		}
	}
	return queues
}
