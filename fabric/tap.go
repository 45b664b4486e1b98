package fabric

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// Tap sees the frames of one node pass its ports, on the node's own thread. It
// is given copies: through a pointer every frame would have to be allocated,
// watched or not.
type Tap interface {
	// Sent is called when the first bit of a frame leaves a port.
	Sent(now sim.Time, port int, m packet.Packet)
	// Received is called when a frame has arrived, before anything is done
	// with it. lost says that the link has damaged it, so that nothing will be.
	Received(now sim.Time, port int, m packet.Packet, lost bool)
	// Dropped is called when a frame that was received is thrown away.
	Dropped(now sim.Time, port int, m packet.Packet, why string)
	// Marked is called when a frame is marked CE as it leaves its queue, just
	// before it is sent; queue is the length in bytes that decided.
	Marked(queue int64)
}

// SetTap shows a port's frames to a tap. A port without one pays a comparison.
func (p *Port) SetTap(n *sim.Node[packet.Packet], port int, t Tap) {
	p.tap = t
	if p.lossy == nil {
		p.lossy = &lossy{} // loses nothing, and makes arriving frames take the slow path
	}
	p.lossy.tap = &arrivals{t, n, port}
}

// Tapped returns the tap of a port, nil if it has none.
func (p *Port) Tapped() Tap { return p.tap }

// arrivals shows what arrives at a port.
type arrivals struct {
	tap  Tap
	node *sim.Node[packet.Packet]
	port int
}

func (a *arrivals) received(m *packet.Packet, lost bool) {
	if a != nil {
		a.tap.Received(a.node.Now(), a.port, *m, lost)
	}
}

// SetTap shows the frames of all ports of a switch to a tap.
func (s *Switch) SetTap(t Tap) {
	for i := range s.ports {
		s.ports[i].SetTap(s.node, i, t)
	}
}
