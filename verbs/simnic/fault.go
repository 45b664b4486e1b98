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
	p := &n.ports[port]
	if !n.watchStorm(port, c, p.Cfg.RxRate.TxTime(sim.Bytes(quanta)*fabric.QuantumBits/8)) {
		return
	}
	p.Force(int(c), quanta, repeated)
	n.transmit(port)
}

// StormGlobal sends an 802.3x pause, whatever the mode of the link is.
func (n *NIC) StormGlobal(port int, quanta uint16) {
	n.ports[port].ForceGlobal(quanta)
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
		n.caughtUp(port, c)
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
	n.rx.slow, n.rx.stopped = true, r <= 0
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

// lateReceive is a receive that the host has not posted yet.
type lateReceive struct {
	at   sim.Time
	slot int32
	qpn  uint32
	posted
}

// SetReceiveDelay makes the host post receives so much later than it should.
func (n *NIC) SetReceiveDelay(d sim.Duration) { n.late = d }

func (n *NIC) postLate(q *qp, r posted) {
	at := n.node.Now().Add(n.late)
	n.lateRecvs = append(n.lateRecvs, lateReceive{at, q.slot, q.qpn, r})
	n.node.At(at, kindReceive, 0, 0)
}

// receiveReady posts the receives whose time has come.
func (n *NIC) receiveReady() {
	now := n.node.Now()
	kept := n.lateRecvs[:0]
	for _, r := range n.lateRecvs {
		switch q := n.qps[r.slot]; {
		case r.at > now:
			kept = append(kept, r)
		case q.qpn == r.qpn:
			n.addReceive(q, r.posted)
		}
	}
	n.lateRecvs = kept
}

// WireQPN returns what the packets of the nth queue pair of a NIC (from 1) carry
// as its number, packet.AcceptedQP aside, as long as no slot is used again.
func WireQPN(n int) uint32 {
	return uint32(n)<<generationBits | uint32(n)&(1<<generationBits-1)
}
