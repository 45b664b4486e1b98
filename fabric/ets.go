package fabric

import (
	"math/bits"

	"rdmasim/sim"
)

// SchedulerConfig is the scheduler of a port: queues below a guaranteed rate
// before all others, strict ones first, the highest first, then groups of queues
// that share what is left, and shapers that hold queues, or all of the port,
// below a rate.
type SchedulerConfig struct {
	Strict  uint8
	Weights [8]int64
	Quantum int64 // bytes per unit of weight; 0 = weights are packets per turn
	Groups  []ETSGroup
	Shape   [8]Shape
	Floor   [8]Shape // guaranteed rates: a queue below its own goes before all that are not
	Port    Shape
}

// ETSGroup is a group of queues with a share of the link. Source: IEEE 802.1Q,
// clause 37 (enhanced transmission selection).
type ETSGroup struct {
	Queues uint8
	Share  int64 // in 1/65536
}

// scheduler is the state of a SchedulerConfig.
type scheduler struct {
	*SchedulerConfig
	slow   uint8 // queues that are shaped, so that no frame goes straight through
	group  fair  // among groups
	queues []fair
	of     [8]uint8 // group by queue
	shape  [8]shaper
	floor  [8]shaper
	floors uint8 // queues with a guaranteed rate
	port   shaper
	wake   sim.Time // of the timer that is set; 0 = none
}

func newScheduler(c *SchedulerConfig, rate sim.Rate) *scheduler {
	s := &scheduler{SchedulerConfig: c, queues: make([]fair, len(c.Groups))}
	for i, g := range c.Groups {
		s.group.weight[i] = max(g.Share, 1)
		for q := range uint8(8) {
			if g.Queues&(1<<q) != 0 {
				s.of[q] = uint8(i)
				s.queues[i].weight[q] = max(c.Weights[q], 1) << 8
			}
		}
	}
	for q := range s.shape {
		s.shape[q] = newShaper(c.Shape[q])
		s.floor[q] = newShaper(Shape{c.Floor[q].Rate, max(c.Floor[q].Burst, leastFloorBurst)})
		if s.floor[q].on() {
			s.floors |= 1 << q
		}
		if s.shape[q].on() || s.floor[q].on() {
			s.slow |= 1 << q
		}
	}
	if s.port = newShaper(c.Port); s.port.on() {
		s.slow = 0xff
	}
	return s
}

// leastFloorBurst is two frames of 9216 bytes: a queue that has waited for the
// frame on the link, and for one of another queue, does not lose what it is owed.
const leastFloorBurst = 2 * 9216

// fair is start-time fair queueing among up to eight flows: each frame has a
// start tag on a clock that runs by bytes per weight, and the least tag goes
// first. Shares are exact to a frame, and whoever has been idle gets nothing for
// it. Source: Goyal, Vin and Cheng, SIGCOMM'96.
type fair struct {
	weight [8]int64
	tag    [8]int64
	now    int64 // tag of the frame served last
	active uint8 // flows that wanted to send when it was chosen
}

// pick returns the flow that is served next among those that are ready.
func (f *fair) pick(ready uint8) uint8 {
	for c := ready &^ f.active; c != 0; c &= c - 1 {
		i := bits.TrailingZeros8(c)
		f.tag[i] = max(f.tag[i], f.now)
	}
	f.active = ready
	best := uint8(bits.TrailingZeros8(ready))
	for c := ready & (ready - 1); c != 0; c &= c - 1 {
		if i := uint8(bits.TrailingZeros8(c)); f.tag[i] < f.tag[best] {
			best = i
		}
	}
	return best
}

// fairUnit is how fine the clock of fair is. A frame of 9 KB in a group with the
// smallest share, 1/1000, advances it by less than 2^29: it lasts for 2^34 such
// frames.
const fairUnit = 1 << 13

// served books a frame of a flow that pick has returned.
func (f *fair) served(i uint8, wire int64) {
	f.now = f.tag[i]
	f.tag[i] += wire * fairUnit * (1 << 8) / f.weight[i]
}

// schedule sends the next frame of a port that has a scheduler of its own. It
// reports false, and sets a timer, if shapers hold all of them.
func (s *Switch) schedule(out int, o *swPort, ready uint8) bool {
	now := s.node.Now()
	c := o.sched
	open, at := c.open(ready, now)
	if open == 0 {
		if c.wake == 0 || c.wake < now || at < c.wake {
			c.wake = at
			s.node.At(at, KindShape, out, 0)
		}
		return false
	}
	if c.floors&open != 0 {
		open = c.owed(open, now)
	}
	q := c.next(s, o, open)
	wire := sim.Bytes(o.class[q].fifo.front().Size) + o.Cfg.Overhead
	if n := len(c.Groups); n > 0 && c.Strict&(1<<q) == 0 {
		g := c.of[q]
		c.group.served(g, int64(wire))
		c.queues[g].served(q, int64(wire))
	}
	c.port.sent(now, wire)
	c.shape[q].sent(now, wire)
	if f := &c.floor[q]; f.opens() <= now { // what goes beyond the guarantee takes nothing of it
		f.sent(now, wire)
	}
	s.dequeue(out, o, q)
	return true
}

// open returns the queues that shapers let send now, or when the first of them
// does.
func (c *scheduler) open(ready uint8, now sim.Time) (open uint8, at sim.Time) {
	if t := c.port.opens(); t > now {
		return 0, t
	}
	if c.slow == 0 {
		return ready, 0
	}
	at = sim.Never
	for r := ready; r != 0; r &= r - 1 {
		i := bits.TrailingZeros8(r)
		if t := c.shape[i].opens(); t > now {
			at = min(at, t)
		} else {
			open |= 1 << i
		}
	}
	return open, at
}

// owed returns the queues that are below their guaranteed rate, or all of them
// if none is. Source: SAI, SAI_SCHEDULER_ATTR_MIN_BANDWIDTH_RATE; SONiC's cir.
func (c *scheduler) owed(open uint8, now sim.Time) uint8 {
	below := uint8(0)
	for r := open & c.floors; r != 0; r &= r - 1 {
		if i := bits.TrailingZeros8(r); c.floor[i].opens() <= now {
			below |= 1 << i
		}
	}
	if below != 0 {
		return below
	}
	return open
}

// next picks the queue to serve.
func (c *scheduler) next(s *Switch, o *swPort, open uint8) uint8 {
	if st := open & c.Strict; st != 0 {
		return uint8(bits.Len8(st) - 1)
	}
	if len(c.Groups) == 0 {
		return o.roundRobin(open, c.Quantum, &c.Weights)
	}
	groups := uint8(0)
	for r := open; r != 0; r &= r - 1 {
		groups |= 1 << c.of[bits.TrailingZeros8(r)]
	}
	g := c.group.pick(groups)
	return c.queues[g].pick(open & c.Groups[g].Queues)
}
