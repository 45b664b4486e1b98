package fabric

import "rdmasim/fabric/packet"

// Maps say what a header field of a frame that arrives at a port selects, and
// which queues and priority groups its pauses belong to. Ports that agree
// share one.
type Maps struct {
	TrustPCP bool
	Class    [64]uint8 // traffic class by DSCP, or by the priority of the VLAN tag in the first eight
	Queue    [8]uint8  // egress queue by class
	Group    [8]uint8  // priority group by class
	Stops    [8]uint8  // queues that a received pause stops, by its priority
	Asks     [8]uint8  // priorities for which a group asks for pauses
}

// PlainMaps returns maps in which class, queue, group and priority have one number.
func PlainMaps() Maps {
	var m Maps
	for k := range uint8(8) {
		m.Class[k], m.Queue[k], m.Group[k] = k, k, k
		m.Stops[k], m.Asks[k] = 1<<k, 1<<k
	}
	return m
}

// class returns the traffic class of a frame. It changes neither field that it
// looks at, so that a frame that leaves a queue has the class that it came with.
func (m *Maps) class(p *packet.Packet) uint8 {
	if m.TrustPCP {
		return m.Class[p.Prio&7]
	}
	return m.Class[p.DSCP&63]
}

// stops returns the queues that pauses of some priorities stop.
func (m *Maps) stops(paused uint8) (queues uint8) {
	for k, q := range m.Stops {
		if paused&(1<<k) != 0 {
			queues |= q
		}
	}
	return queues
}

// queueOf returns the queue of port out in which frames wait that came by port
// in and belong to the priority group that asks for pauses of a priority.
func (s *Switch) queueOf(in, out int, prio uint8) uint8 {
	p, o := &s.ports[in], &s.ports[out]
	if p.maps == nil {
		return prio
	}
	for c, g := range p.maps.Group {
		if p.maps.Asks[g]&(1<<prio) != 0 {
			return o.maps.Queue[c]
		}
	}
	return prio
}

// groupAsking returns the priority group of a port that asks for pauses of a
// priority, and its reserve.
func (s *Switch) groupAsking(port int, prio uint8) (g *PriorityGroup, reserve int64) {
	p := &s.ports[port]
	if s.full == nil {
		return &s.of(port, prio).PriorityGroup, s.mmu.reserve
	}
	for i, asks := range p.maps.Asks {
		if asks&(1<<prio) != 0 {
			return &s.of(port, uint8(i)).PriorityGroup, s.Cfg.Ports[port].MMU.Groups[i].Reserve
		}
	}
	return &s.of(port, prio).PriorityGroup, 0
}

// resumeLevel returns the shared use at which the group that asks for pauses of
// a priority would let its peer go on, if groups used so much of its pool.
func (s *Switch) resumeLevel(port int, prio uint8, used int64) int64 {
	for i, asks := range s.ports[port].maps.Asks {
		if asks&(1<<prio) == 0 {
			continue
		}
		g := &s.Cfg.Ports[port].MMU.Groups[i]
		pool := s.full.pools[g.Pool]
		pool.used = used
		limit := pool.Size
		if g.Threshold != nil {
			limit = s.full.limit(g.Threshold, &pool)
		}
		return g.resume(limit)
	}
	return 0
}
