package simnic

import (
	"math/bits"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// Setup says how sized connections come to be. nil = they are there when they
// are asked for. Otherwise the connecting side sends a REQ, waits for the REP,
// answers with an RTU and sends its first request behind it; a REQ that nobody
// answers is repeated. Source: InfiniBand Architecture, volume 1, section 12.9,
// and rdma_cm(7).
type Setup struct {
	Timeout sim.Duration // of one try
	Retries int          // further tries
	Accept  sim.Duration // what a host takes to accept one connection, one after the other
}

// dial begins to make a connection.
func (n *NIC) dial(q *qp) {
	q.dialling, q.special = true, true
	n.sendSetup(q.port, q.peer, packet.CMReq, q.wireQPN(), uint8(q.client))
	n.node.At(n.node.Now().Add(n.cfg.Setup.Timeout), kindSetup, 0, uint64(q.qpn)<<24|uint64(q.slot))
}

// sendSetup sends a message of connection management about a queue pair of the
// side that connects. It counts as no data packet.
func (n *NIC) sendSetup(port, to int32, kind, qpn uint32, client uint8) {
	n.setups++
	m := packet.Packet{Kind: packet.Data, Sent: n.node.Now(), Src: n.cfg.Endpoints[port], Dst: to, SrcQP: cmQP, DstQP: cmQP,
		Size: uint16(n.cfg.Sizes.Header + SizeDETH + sizeMAD), Payload: sizeMAD, SrcPort: 0xc000, DstPort: RoCEv2Port,
		Opcode: uint8(verbs.OpSend) | packet.ServiceUD, Prio: n.cfg.Priority, DSCP: n.cfg.DSCP, ECN: n.ecn, TTL: n.cfg.TTL, PSN: n.setups & psnMask,
		Flags: packet.FlagFirst | packet.FlagLast, Aux: qpn, Ext: kind, Classes: client, Quanta: uint16(bits.Len(uint(n.cfg.Sizes.Payload) >> 8))}
	n.control(int(port), &m)
}

// setupTimer repeats a REQ that has not been answered, or gives up.
func (n *NIC) setupTimer(slot, qpn uint32) {
	q := n.qps[slot]
	if q.qpn != qpn || !q.dialling {
		return
	}
	if int(q.tries) >= n.cfg.Setup.Retries {
		q.dialling = false
		n.fail(q, verbs.StatusResponseTimeout)
		return
	}
	q.tries++
	n.sendSetup(q.port, q.peer, packet.CMReq, q.wireQPN(), uint8(q.client))
	n.node.At(n.node.Now().Add(n.cfg.Setup.Timeout), kindSetup, 0, uint64(qpn)<<24|uint64(slot))
}

// onSetup handles a message of connection management.
func (n *NIC) onSetup(port int, m *packet.Packet) {
	switch m.Ext & (1<<packet.CMShift - 1) {
	case packet.CMReq:
		n.onDial(int32(port), m)
	case packet.CMRep:
		q := n.lookup(m.Aux)
		if q == nil || q.peer != m.Src {
			return
		}
		n.sendSetup(int32(port), m.Src, packet.CMRtu, m.Aux, m.Classes)
		if q.dialling {
			n.connected(q)
		}
	case packet.CMRej:
		if q := n.lookup(m.Aux); q != nil && q.peer == m.Src && q.dialling {
			q.dialling = false
			n.fail(q, verbs.StatusRemoteAborted)
		}
	case packet.CMDreq:
		n.sendSetup(int32(port), m.Src, packet.CMDrep, m.Aux, m.Classes)
	}
}

// onDial answers a REQ: it accepts for applications that there are, one after
// the other.
func (n *NIC) onDial(port int32, m *packet.Packet) {
	if int(m.Classes) >= len(n.clients) {
		n.sendSetup(port, m.Src, packet.CMRej|verbs.RejectInvalidService<<packet.CMShift, m.Aux, m.Classes)
		return
	}
	cost := sim.Duration(0)
	if n.cfg.Setup != nil {
		cost = n.cfg.Setup.Accept
	}
	if cost == 0 {
		n.sendSetup(port, m.Src, packet.CMRep, m.Aux, m.Classes)
		return
	}
	n.acceptAt = max(n.acceptAt, n.node.Now()).Add(cost)
	n.accepting = append(n.accepting, accepting{n.acceptAt, port, m.Src, m.Aux, m.Classes})
	n.node.At(n.acceptAt, kindAccept, 0, 0)
}

// accepting is a connection that a host is about to accept.
type accepting struct {
	at   sim.Time
	port int32
	to   int32
	qpn  uint32
	app  uint8
}

// accepted answers the oldest request.
func (n *NIC) accepted() {
	a := n.accepting[0]
	n.accepting = n.accepting[1:]
	n.sendSetup(a.port, a.to, packet.CMRep, a.qpn, a.app)
}

// connected lets a queue pair send what has been posted since.
func (n *NIC) connected(q *qp) {
	q.dialling, q.special, q.upAt = false, q.service != verbs.RC, n.node.Now()
	for i := q.head; i < len(q.msgs); i++ {
		m := &q.msgs[i]
		q.special = q.special || m.fence || m.responds()
	}
	n.offer(q)
}

// hangUp tells the peer that a connection is over.
func (n *NIC) hangUp(q *qp) {
	if n.cfg.Setup != nil && !q.accepted && q.upAt > 0 {
		n.sendSetup(q.port, q.peer, packet.CMDreq, q.wireQPN(), uint8(q.client))
	}
}
