package fabric

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// PriorityGroup is what one class of one ingress port holds of the buffer.
type PriorityGroup struct {
	Ingress  int64 // reserve and shared bytes in use
	Headroom int64 // headroom bytes in use
	max      int64
	maxHead  int64
	// closest is the largest share of its XOFF threshold that the group's
	// shared use has reached, as a fraction of two integers.
	closestUse, closestLimit int64
	leastLimit               int64
	level                    level
	lastLimit                float64
	binHead                  int64
	lastHead                 float64
}

// sharedBuffer accounts the packet memory of a switch. A lossless class of a
// port fills its reserve, then the shared pool up to the dynamic threshold
// (Choudhury and Hahne: alpha times the free part), then its headroom.
type sharedBuffer struct {
	pool    int64 // shared bytes: size less reserves and headroom
	used    int64 // shared bytes in use
	total   int64 // all bytes in use
	max     int64
	reserve int64
}

func (b *sharedBuffer) init(c *SwitchConfig) {
	classes := int64(0)
	for k := 0; k < 8; k++ {
		if c.Lossless&(1<<k) != 0 {
			classes++
		}
	}
	if c.Buffer.OncePerPort {
		classes = 1
	}
	b.pool = c.Buffer.Size
	for i := range c.Ports {
		b.pool -= classes * (c.Ports[i].Headroom + c.Buffer.Reserve)
	}
	b.reserve = c.Buffer.Reserve
}

// Pool returns the shared bytes that a configuration leaves after reserves and
// headroom; it is negative where they do not fit the buffer.
func (c *SwitchConfig) Pool() int64 {
	var b sharedBuffer
	b.init(c)
	return b.pool
}

func (b *sharedBuffer) free() int64 { return max(b.pool-b.used, 0) }

// limit is the XOFF threshold of a port now.
func (b *sharedBuffer) limit(alpha int64) int64 { return b.free() * alpha >> 16 }

// passes reports whether a frame that goes straight to an idle port touches no
// threshold: then accounting it and taking it off again changes nothing.
func (b *sharedBuffer) passes(s *Switch, in int, m *packet.Packet) bool {
	g := &s.of(in, m.Prio).PriorityGroup
	size := int64(m.Size)
	if g.Headroom > 0 {
		return false
	}
	n := g.Ingress + size
	if n > g.max {
		g.max = n
	}
	if n <= b.reserve {
		return true
	}
	// One eighth of slack keeps the exact comparison to the slow path.
	return n*8 < b.limit(s.ports[in].alpha)*7 && n < b.free()
}

// admit accounts an arriving frame, pauses the sender if a threshold is
// reached, and reports whether there was room.
func (s *Switch) admit(in int, q *EgressQueue, m *packet.Packet) bool {
	c := m.Prio
	p := &s.ports[in]
	g := &s.of(in, c).PriorityGroup
	b := &s.mmu
	size := int64(m.Size)
	if s.Cfg.Lossless&(1<<c) == 0 {
		if q.Bytes+size > b.free()*s.Cfg.Buffer.AlphaEgress>>16 || size > b.free() {
			p.Stat.DropLossy++
			p.Stat.DropBytes += uint64(size)
			s.dropped(in, m, "egress queue full")
			return false
		}
		b.use(size)
		g.Ingress += size
		b.used += size
		g.max = max(g.max, g.Ingress)
		return true
	}
	cfg := &s.Cfg.Ports[in]
	limit := b.limit(p.alpha)
	shared := max(g.Ingress-b.reserve, 0)
	full := shared >= limit // what is below the threshold may still grow by one frame
	if s.Cfg.Buffer.WholeFrames {
		full = shared+size > limit
	}
	full = full || size > b.free()
	if g.Headroom+size > cfg.Headroom && full && g.Ingress+size > b.reserve {
		p.Stat.DropLossless++
		p.Stat.DropBytes += uint64(size)
		s.dropped(in, m, "headroom exhausted")
		return false
	}
	b.use(size)
	switch n := g.Ingress + size; {
	case n <= b.reserve:
		g.Ingress = n
	case full && (!s.Cfg.Buffer.WholeFrames || n-b.reserve > limit):
		g.Headroom += size
		g.maxHead = max(g.maxHead, g.Headroom)
		g.binHead = max(g.binHead, g.Headroom)
	default:
		g.Ingress = n
		b.used += min(size, n-b.reserve)
	}
	g.max = max(g.max, g.Ingress)
	g.level.set(g.Ingress, s.node.Now())
	s.checkXoff(in, p, g, c)
	return true
}

func (b *sharedBuffer) use(size int64) {
	b.total += size
	if b.total > b.max {
		b.max = b.total
	}
}

// checkXoff pauses the sender once the group's shared use has reached the
// threshold or its headroom is in use.
func (s *Switch) checkXoff(in int, p *swPort, g *PriorityGroup, c uint8) {
	limit := s.mmu.limit(p.alpha)
	shared := max(g.Ingress-s.mmu.reserve, 0)
	if limit < g.leastLimit || g.leastLimit == 0 {
		g.leastLimit = max(limit, 1)
	}
	if shared*g.closestLimit > g.closestUse*limit || g.closestLimit == 0 {
		g.closestUse, g.closestLimit = shared, max(limit, 1)
	}
	if !p.Holds(int(c)) && (g.Headroom > 0 || shared >= limit) && p.Cfg.Lossless&(1<<c) != 0 {
		p.Xoff(int(c))
		s.logXoff(in, c, g, limit)
		s.transmit(in)
	}
}

// release takes a departing frame off the accounts of its ingress port, the
// headroom first, and lets the sender go on where the group has fallen far
// enough below its threshold.
func (s *Switch) release(in int, c uint8, size int64) {
	p := &s.ports[in]
	g := &p.class[c].PriorityGroup
	b := &s.mmu
	b.total -= size
	if s.Cfg.Lossless&(1<<c) == 0 {
		g.Ingress -= size
		b.used -= size
		return
	}
	head := min(g.Headroom, size)
	g.Headroom -= head
	size -= head
	shared := max(g.Ingress-b.reserve, 0)
	b.used -= min(size, shared)
	g.Ingress -= size
	g.level.set(g.Ingress, s.node.Now())
	if !p.Holds(int(c)) || g.Headroom > 0 || p.stuck&(1<<c) != 0 {
		return
	}
	shared = max(g.Ingress-b.reserve, 0)
	if shared == 0 || shared+s.Cfg.Buffer.XonOffset <= b.limit(p.alpha) {
		p.Xon(int(c))
		s.logXon(in, c, g)
		s.transmit(in)
	}
}

// InUse returns all bytes that the switch holds: what its accounts say, and
// what lies in its queues and slots. They are equal at every instant.
func (s *Switch) InUse() (accounted, queued int64) {
	for i := range s.ports {
		for c, k := range s.ports[i].class {
			if k == nil {
				continue
			}
			accounted += k.Ingress + k.Headroom
			if s.Cfg.Bypass&(1<<c) == 0 {
				queued += k.Bytes
			}
		}
	}
	return accounted, queued
}

// Headroom returns how many bytes may still arrive over a link after its
// receiver has decided to pause the sender:
//
//	frame: the frame that crosses the threshold, where no shared buffer is left
//	    for it
//	2*(frame+overhead): one own frame that the pause frame waits behind, and
//	    one frame that the sender has just begun
//	pfc+overhead: the pause frame itself
//	rate * (delay there + delay back + response) / 8: what is on its way or
//	    still being sent. The delays include the pipeline latency of the
//	    switches at both ends, the response is the time that the sender takes
//	    to obey.
//
// Source: IEEE 802.1Qbb annex O, for a model without interface delays.
func Headroom(rate, back sim.Rate, thereAndBack, response sim.Duration, frame, overhead, pfc sim.Bytes) sim.Bytes {
	// The own frame and the pause frame leave at the rate back; meanwhile the
	// peer sends at its rate.
	wait := back.TxTime(frame+overhead) + back.TxTime(pfc+overhead) + thereAndBack + response
	h := rate.BytesIn(wait)
	if rate.TxTime(h) < wait {
		h++
	}
	return h + frame + overhead + frame
}
