package fabric

import (
	"math/bits"

	"rdmasim/fabric/packet"
)

// forwardFull is the second half of forward in a switch whose buffer manager
// and maps are configured in full.
func (s *Switch) forwardFull(in, out int, m *packet.Packet) {
	p, o := &s.ports[in], &s.ports[out]
	c := p.maps.class(m)
	if !p.maps.TrustPCP {
		m.Prio = c
	}
	g, q := p.maps.Group[c], o.maps.Queue[c]
	gk, qk := s.of(in, g), s.of(out, q)
	if o.dog != nil && o.dog.drops&(1<<q) != 0 {
		s.killed(in, out, q, m, true)
		return
	}
	if p.dog != nil && p.dog.drops&(1<<p.maps.Queue[c]) != 0 {
		s.killed(in, in, p.maps.Queue[c], m, false)
		return
	}
	if !o.busy(s.node.Now()) && o.nonEmpty == 0 && o.slow&(1<<q) == 0 && !o.Pending() && s.full.passes(s, in, out, g, q, m) {
		qk.sent++
		s.sendNow(out, &qk.EgressQueue, m)
		return
	}
	if w := s.Cfg.Ports[out].MMU.Queues[q].WRED; w != nil && s.red(o, qk, w, m, qk.Bytes+s.full.takes(m.Size), MarkAtEnqueue) {
		s.refused(in, g, m, "WRED")
		return
	}
	if why := s.admitFull(in, out, g, q, gk, qk, m); why != "" {
		s.refused(in, g, m, why)
		return
	}
	qk.fifo.push(s.chunks(), m)
	qk.Bytes += s.full.takes(m.Size)
	qk.EgressQueue.level.follow(qk.Bytes, s.node.Now())
	o.nonEmpty |= 1 << q
	s.transmit(out)
}

// lossless reports whether a group may pause its peer.
func (s *Switch) lossless(in int, g uint8) bool {
	p := &s.ports[in]
	return p.maps.Asks[g]&p.Cfg.Lossless != 0
}

// refused counts a frame that was not let into the buffer.
func (s *Switch) refused(in int, g uint8, m *packet.Packet, why string) {
	p := &s.ports[in]
	if s.lossless(in, g) {
		p.Stat.DropLossless++
	} else {
		p.Stat.DropLossy++
	}
	p.Stat.DropBytes += uint64(m.Size)
	s.dropped(in, m, why)
}

// passes is sharedBuffer.passes for a buffer manager in full.
func (b *mmu) passes(s *Switch, in, out int, g, q uint8, m *packet.Packet) bool {
	gc, qc := &s.Cfg.Ports[in].MMU.Groups[g], &s.Cfg.Ports[out].MMU.Queues[q]
	gk := s.ports[in].class[g]
	n := b.takes(m.Size)
	if qc.WRED != nil && n > qc.WRED.least() || gk.Headroom > 0 || b.total+n > b.Size {
		return false
	}
	if ep := &b.pools[qc.Pool]; n > qc.Reserve && !b.below(n, qc.Threshold, ep) {
		return false
	}
	n += gk.Ingress
	if n > gc.Reserve && !b.below(n, gc.Threshold, &b.pools[gc.Pool]) {
		return false
	}
	gk.max = max(gk.max, n)
	return true
}

// admitFull charges a frame to its group and its queue and pauses the peer where a
// threshold is reached. It returns why there was no room, "" if there was.
//
//nolint:funlen // steps in their order
func (s *Switch) admitFull(in, out int, g, q uint8, gk, qk *class, m *packet.Packet) string {
	b := s.full
	gc, qc := &s.Cfg.Ports[in].MMU.Groups[g], &s.Cfg.Ports[out].MMU.Queues[q]
	ip, ep := &b.pools[gc.Pool], &b.pools[qc.Pool]
	size := b.takes(m.Size)
	if b.total+size > b.Size {
		return "buffer memory full"
	}
	qn := qk.Bytes + size
	if qc.Threshold != nil && qn > qc.Reserve && (qn-qc.Reserve > b.limit(qc.Threshold, ep) || size > ep.free()) {
		return "egress queue full"
	}
	group := &gk.PriorityGroup
	n := group.Ingress + size
	lossless := s.lossless(in, g)
	head, limit := false, int64(-1)
	if gc.Threshold != nil {
		limit = b.limit(gc.Threshold, ip)
	}
	if n > gc.Reserve {
		shared := max(group.Ingress-gc.Reserve, 0)
		full := size > ip.free()
		if limit >= 0 {
			if lossless || gc.Headroom > 0 { // what is below the threshold may still grow by one frame
				full = full || shared >= limit
			} else {
				full = full || n-gc.Reserve > limit
			}
		}
		if head = full; head {
			if group.Headroom+size > gc.Headroom || ip.PoolConfig.Headroom > 0 && ip.head+size > ip.PoolConfig.Headroom {
				if !lossless {
					return "priority group full"
				}
				return "headroom exhausted"
			}
		}
	}
	b.total += size
	b.max = max(b.max, b.total)
	if head {
		group.Headroom += size
		group.maxHead = max(group.maxHead, group.Headroom)
		group.binHead = max(group.binHead, group.Headroom)
		if ip.PoolConfig.Headroom > 0 {
			ip.head += size
			ip.maxHead = max(ip.maxHead, ip.head)
		}
	} else {
		group.Ingress = n
		ip.use(max(min(size, n-gc.Reserve), 0))
	}
	if !b.both[qc.Pool] {
		ep.use(max(min(size, qn-qc.Reserve), 0))
	}
	group.max = max(group.max, group.Ingress)
	gk.maxShared = max(gk.maxShared, group.Ingress-gc.Reserve)
	qk.maxQueue = max(qk.maxQueue, qn-qc.Reserve)
	group.level.set(group.Ingress, s.node.Now())
	if lossless {
		s.checkXoffFull(in, g, gk, gc, ip)
	}
	return ""
}

// checkXoffFull pauses the peer once the group has reached its threshold or its
// headroom is in use.
func (s *Switch) checkXoffFull(in int, g uint8, k *class, gc *GroupConfig, ip *pool) {
	p := &s.ports[in]
	limit := ip.Size
	if gc.Threshold != nil {
		limit = s.full.limit(gc.Threshold, ip)
	}
	group := &k.PriorityGroup
	shared := max(group.Ingress-gc.Reserve, 0)
	if limit < group.leastLimit || group.leastLimit == 0 {
		group.leastLimit = max(limit, 1)
	}
	if shared*group.closestLimit > group.closestUse*limit || group.closestLimit == 0 {
		group.closestUse, group.closestLimit = shared, max(limit, 1)
	}
	asks := p.maps.Asks[g] & p.Cfg.Lossless
	if k.holds || group.Headroom == 0 && shared < limit {
		return
	}
	k.holds = true
	for c := asks; c != 0; c &= c - 1 {
		p.Xoff(bits.TrailingZeros8(c))
	}
	s.logXoff(in, uint8(bits.TrailingZeros8(asks)), group, limit)
	s.transmit(in)
}

// releaseFull takes a departing frame off the accounts of its queue and of its
// group, the headroom first, and lets the peer go on where the group has fallen
// far enough.
func (s *Switch) releaseFull(out int, q uint8, m *packet.Packet, before, size int64) {
	b := s.full
	qc := &s.Cfg.Ports[out].MMU.Queues[q]
	b.total -= size
	if !b.both[qc.Pool] {
		b.pools[qc.Pool].used -= max(min(size, before-qc.Reserve), 0)
	}
	in := int(m.InPort)
	p := &s.ports[in]
	g := p.maps.Group[p.maps.class(m)]
	k := p.class[g]
	group, gc := &k.PriorityGroup, &s.Cfg.Ports[in].MMU.Groups[g]
	ip := &b.pools[gc.Pool]
	head := min(group.Headroom, size)
	group.Headroom -= head
	if ip.PoolConfig.Headroom > 0 {
		ip.head -= head
	}
	size -= head
	ip.used -= min(size, max(group.Ingress-gc.Reserve, 0))
	group.Ingress -= size
	group.level.set(group.Ingress, s.node.Now())
	if !k.holds || group.Headroom > 0 {
		return
	}
	limit := ip.Size
	if gc.Threshold != nil {
		limit = b.limit(gc.Threshold, ip)
	}
	if shared := max(group.Ingress-gc.Reserve, 0); shared == 0 || shared <= gc.resume(limit) {
		k.holds = false
		asks := p.maps.Asks[g] & p.Cfg.Lossless &^ p.stuck
		if asks == 0 {
			return
		}
		for c := asks; c != 0; c &= c - 1 {
			p.Xon(bits.TrailingZeros8(c))
		}
		s.logXon(in, uint8(bits.TrailingZeros8(asks)), group)
		s.transmit(in)
	}
}

// unstick ends an XOFF that was held whatever the buffer, unless a group needs it.
func (s *Switch) unstick(port int, c uint8) {
	p := &s.ports[port]
	for g, asks := range p.maps.Asks {
		if k := p.class[g]; asks&(1<<c) != 0 && k != nil && k.holds {
			return
		}
	}
	if p.Holds(int(c)) {
		p.Xon(int(c))
		g, _ := s.groupAsking(port, c)
		s.logXon(port, c, g)
		s.transmit(port)
	}
}

// dequeueFull sends the first frame of a queue.
func (s *Switch) dequeueFull(out int, o *swPort, q uint8) {
	k := o.class[q]
	m := k.fifo.front()
	k.fifo.pop(s.chunks())
	before := k.Bytes
	s.taken(o, q, k, m)
	if w := s.Cfg.Ports[out].MMU.Queues[q].WRED; w != nil {
		s.red(o, k, w, m, k.Bytes, MarkAtDequeue)
	}
	if k.ecn.On && m.ECN != packet.NotECT {
		k.Eligible++
	}
	s.releaseFull(out, q, m, before, before-k.Bytes)
	k.sent++
	o.Send(s.node, out, m)
}

// taken updates a queue from which its first frame has been taken.
func (s *Switch) taken(o *swPort, q uint8, k *class, m *packet.Packet) {
	k.Bytes -= s.full.takes(m.Size)
	k.EgressQueue.level.follow(k.Bytes, s.node.Now())
	if k.fifo.empty() {
		k.Deficit = 0
		o.nonEmpty &^= 1 << q
	}
}
