package fabric

import (
	"fmt"
	"math/bits"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// dog is the watchdog of a port at work.
type dog struct {
	WatchdogConfig
	ignores uint8 // queues for which pauses do not count
	drops   uint8 // queues whose frames are dropped
	queue   [8]dogQueue
}

// dogQueue is what a watchdog remembers of a queue.
type dogQueue struct {
	watched bool
	storm   bool
	before  QueueSample
	polls   int      // of storm while there is none, of quiet while there is one
	found   int      // storms in all, whatever was reset
	since   sim.Time // when the storm in force was found

	storms, restored uint64
	txDrops, rxDrops uint64
	stormFor         sim.Duration
}

func newDog(c WatchdogConfig, lossless uint8) *dog {
	if c.Priorities == 0 {
		c.Priorities = 0xff
	}
	c.Priorities &= lossless
	return &dog{WatchdogConfig: c}
}

// startWatchdogs sets the first poll of every port. Polls of a switch lie at
// whole multiples of their interval.
func (s *Switch) startWatchdogs() {
	for i := range s.ports {
		d := s.ports[i].dog
		if d == nil {
			continue
		}
		for c := d.Priorities; c != 0; c &= c - 1 {
			for q := s.stops(i, uint8(bits.TrailingZeros8(c))); q != 0; q &= q - 1 {
				d.queue[bits.TrailingZeros8(q)].watched = true
			}
		}
		if d.BigRedSwitch {
			for q := range uint8(8) {
				if d.queue[q].watched {
					s.storm(i, q)
				}
			}
			continue
		}
		s.node.At(sim.Time(d.Poll), KindWatchdog, i, 0)
	}
}

// stops returns the queues that pauses of a priority stop.
func (s *Switch) stops(port int, prio uint8) uint8 {
	if m := s.ports[port].maps; m != nil {
		return m.Stops[prio]
	}
	return 1 << prio
}

// sampleFor reads the counters of a queue and of the priorities that stop it.
func (s *Switch) sampleFor(port int, q uint8) QueueSample {
	p := &s.ports[port]
	var m QueueSample
	if k := p.class[q]; k != nil {
		m.Bytes, m.TxPackets = k.Bytes, k.sent
	}
	now := s.node.Now()
	for c := range uint8(8) {
		if p.dog.Priorities&(1<<c) == 0 || s.stops(port, c)&(1<<q) == 0 {
			continue
		}
		t := p.total(int(c))
		m.XoffRx += t.xoffRx
		m.XonRx += t.xonRx
		m.Off += t.off
		m.PausedFor = max(m.PausedFor, t.pausedFor+p.lasting(int(c), now))
		m.Paused = m.Paused || p.Paused&(1<<c) != 0
	}
	return m
}

// poll reads the counters of a port's queues, as the driver of a watchdog does.
func (s *Switch) poll(port int) {
	p := &s.ports[port]
	d := p.dog
	for q := range uint8(8) {
		w := &d.queue[q]
		if !w.watched {
			continue
		}
		now := s.sampleFor(port, q)
		switch {
		case !w.storm && d.Storm(w.before, now, d.Poll):
			if w.polls++; w.polls >= d.Polls(d.Detect, d.Poll) {
				s.storm(port, q)
			}
		case w.storm && d.gone(w):
		case w.storm && d.Action == WatchdogAlert && d.AlertEnds:
			if !d.Storm(w.before, now, d.Poll) {
				s.restored(port, q)
			}
		case w.storm && d.Quiet(w.before, now):
			if w.polls++; w.polls >= d.Rests(d.Restore, d.Poll) {
				s.restored(port, q)
			}
		default:
			w.polls = 0
		}
		w.before = now
	}
	s.node.At(s.node.Now().Add(d.Poll), KindWatchdog, port, 0)
}

// gone reports whether a queue is never given back.
func (d *dog) gone(w *dogQueue) bool {
	return d.Action == WatchdogErrdisable || d.TurnOff > 0 && w.found >= d.TurnOff
}

// storm acts on a storm.
func (s *Switch) storm(port int, q uint8) {
	p := &s.ports[port]
	d := p.dog
	w := &d.queue[q]
	w.storm, w.polls, w.since = true, 0, s.node.Now()
	w.storms++
	w.found++
	what := "storm detected: " + d.Action.String()
	if d.BigRedSwitch {
		what = "big red switch: " + d.Action.String()
	}
	s.logWatchdog(port, q, what)
	switch d.Action {
	case WatchdogAlert:
		return
	case WatchdogDrop:
		d.ignores |= 1 << q
		d.drops |= 1 << q
		s.flush(port, q)
	case WatchdogErrdisable:
		d.ignores, d.drops = 0xff, 0xff
		for k := range uint8(8) {
			s.flush(port, k)
		}
	default:
		d.ignores |= 1 << q
	}
	s.paused(port)
}

// restored gives a queue back.
func (s *Switch) restored(port int, q uint8) {
	d := s.ports[port].dog
	w := &d.queue[q]
	w.storm, w.polls = false, 0
	w.restored++
	w.stormFor += s.node.Now().Sub(w.since)
	d.ignores &^= 1 << q
	d.drops &^= 1 << q
	s.logWatchdog(port, q, "storm restored")
	s.paused(port)
}

// flush drops what waits in a queue.
func (s *Switch) flush(out int, q uint8) {
	o := &s.ports[out]
	k := o.class[q]
	if k == nil {
		return
	}
	for !k.fifo.empty() {
		m := *k.fifo.front()
		k.fifo.pop(s.chunks())
		before := k.Bytes
		s.taken(o, q, k, &m)
		s.releaseFull(out, q, &m, before, before-k.Bytes)
		s.killed(int(m.InPort), out, q, &m, true)
	}
}

// killed counts a frame that the watchdog of a port has dropped: one that was
// to leave by it, or one that came by it.
func (s *Switch) killed(in, port int, q uint8, m *packet.Packet, leaving bool) {
	p := &s.ports[port]
	w := &p.dog.queue[q]
	if leaving {
		w.txDrops++
	} else {
		w.rxDrops++
	}
	s.ports[in].Stat.DropWatchdog++
	s.ports[in].Stat.DropBytes += uint64(m.Size)
	s.dropped(in, m, "PFC watchdog")
}

func (s *Switch) logWatchdog(port int, q uint8, what string) {
	p := &s.ports[port]
	w := &p.dog.queue[q]
	v := 0.0
	if !w.storm {
		v = s.node.Now().Sub(w.since).Seconds()
	}
	s.Cfg.Sink.Event(trace.Event{Time: s.node.Now(), Kind: trace.EventWatchdog, Object: p.id, Peer: s.Cfg.Ports[port].PeerID, Prio: int8(q), Value: v, Cause: what})
}

// String returns the word of an action.
func (a WatchdogAction) String() string {
	for word, action := range watchdogActions {
		if action == a {
			return word
		}
	}
	return "?"
}

// reset begins a new measurement.
func (d *dog) reset(now sim.Time) {
	for q := range d.queue {
		w := &d.queue[q]
		w.storms, w.restored, w.txDrops, w.rxDrops, w.stormFor = 0, 0, 0, 0, 0
		if w.storm {
			w.storms, w.since = 1, now
		}
	}
}

// counters reports what a watchdog found.
func (d *dog) counters(name string, now sim.Time, f func(trace.Counter)) {
	for q := range d.queue {
		w := &d.queue[q]
		if !w.watched {
			continue
		}
		lasted := w.stormFor
		if w.storm {
			lasted += now.Sub(w.since)
		}
		for _, c := range []struct {
			name string
			v    float64
		}{{trace.CountWatchdogStorms, float64(w.storms)}, {trace.CountWatchdogRestored, float64(w.restored)},
			{trace.CountWatchdogTxDrops, float64(w.txDrops)}, {trace.CountWatchdogRxDrops, float64(w.rxDrops)}, {trace.CountWatchdogSeconds, lasted.Seconds()}} {
			f(trace.Counter{Object: fmt.Sprintf("%s/q%d", name, q), Prio: int8(q), Name: c.name, Value: c.v})
		}
	}
}
