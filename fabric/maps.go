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
