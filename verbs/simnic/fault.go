package simnic

import (
	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Do calls f at t, on the NIC's own thread and before all else of that instant,
// and again at the time that f returns, until that is sim.Never.
func (n *NIC) Do(t sim.Time, f func(now sim.Time) (again sim.Time)) {
	n.acts = append(n.acts, f)
	n.node.At(t, fabric.KindFault, 0, uint64(len(n.acts)-1))
}

func (n *NIC) act(i uint64) {
	now := n.node.Now()
	if again := n.acts[i](now); again > now && again != sim.Never {
		n.node.At(again, fabric.KindFault, 0, i)
	}
}

// Port returns a port of the NIC. What is changed there must be changed on the
// NIC's own thread, see Do.
func (n *NIC) Port(i int) *fabric.Port { return &n.ports[i].Port }

// PortID returns the name of a port in the rows of a run.
func (n *NIC) PortID(i int) trace.ObjectID { return n.ports[i].id }

// Storm sends a pause frame for a class that no buffer has called for; 0 quanta
// make it an XON.
func (n *NIC) Storm(port int, c uint8, quanta uint16, repeated bool) {
	n.ports[port].Force(int(c), quanta, repeated)
	n.transmit(port)
}

// Stick makes a port hold XOFF for a class whatever its buffer, or lets it go.
func (n *NIC) Stick(port int, c uint8, on bool) {
	p := &n.ports[port]
	if on {
		p.stuck |= 1 << c
		n.pausePeers(c, true)
		return
	}
	p.stuck &^= 1 << c
	if n.rx.bytes < max(n.cfg.RxXoff, 1) {
		n.pausePeers(c, false)
	}
}

// SetLossless changes the classes for which a port sends and obeys pauses.
func (n *NIC) SetLossless(port int, classes uint8) {
	n.ports[port].SetLossless(classes, n.node.Now())
	n.logPause(port)
	n.transmit(port)
}

// SetDrain changes the rate at which the host takes packets from the NIC; 0
// stops it altogether.
func (n *NIC) SetDrain(r sim.Rate) {
	n.cfg.Drain = r
	n.rx.slow = true
	n.rx.start(n)
}

// SetCNPClass changes the priority and the DSCP of the CNPs that the NIC sends.
func (n *NIC) SetCNPClass(prio, dscp uint8) { n.cfg.CNPPriority, n.cfg.CNPDSCP = prio, dscp }

// CNPClass returns the priority and the DSCP of the CNPs that the NIC sends.
func (n *NIC) CNPClass() (prio, dscp uint8) { return n.cfg.CNPPriority, n.cfg.CNPDSCP }

// corrupt discards a packet whose invariant CRC does not hold. Source:
// InfiniBand Architecture, volume 1, section 7.8.1, and annex A17.
func (n *NIC) corrupt(port int, m *packet.Packet) {
	p := &n.ports[port]
	p.Stat.DropFault++
	p.Stat.DropBytes += uint64(m.Size)
	n.cfg.Sink.Event(trace.Event{Time: n.node.Now(), Kind: trace.EventDrop, Object: p.id, Prio: int8(m.Prio), Value: float64(m.Size), Cause: "ICRC does not hold"})
}

// Drain returns the rate at which the host takes packets, 0 = line rate.
func (n *NIC) Drain() sim.Rate { return n.cfg.Drain }
