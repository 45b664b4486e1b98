package simnic

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// rxBuffer is the receive memory of a NIC whose host is slower than the line.
type rxBuffer struct {
	slow  bool
	q     fifo
	from  []int32 // port of each waiting packet
	head  int
	bytes int64
	max   int64
	busy  bool
}

func (r *rxBuffer) init(n *NIC) { r.slow = n.cfg.Drain > 0 }

// arrive takes a packet from the wire.
func (r *rxBuffer) arrive(n *NIC, port int, m *packet.Packet) {
	if !r.slow || m.Kind != packet.Data {
		n.handle(port, m)
		return
	}
	size := int64(m.Size)
	if r.bytes+size > n.cfg.RxBuffer {
		p, why := &n.ports[port], "receive buffer full"
		if n.dog.gaveUp(m.Prio & 7) {
			p.Stat.DropWatchdog++
			why = "NIC pause watchdog"
		} else if p.Cfg.Lossless&(1<<m.Prio) != 0 {
			p.Stat.DropLossless++
		} else {
			p.Stat.DropLossy++
		}
		if t := p.Tapped(); t != nil {
			t.Dropped(n.node.Now(), port, *m, why)
		}
		n.cfg.Sink.Event(trace.Event{Time: n.node.Now(), Kind: trace.EventDrop, Object: p.id, Prio: int8(m.Prio), Value: float64(size), Cause: why})
		return
	}
	r.bytes += size
	r.max = max(r.max, r.bytes)
	r.q.push(m)
	r.from = append(r.from, int32(port))
	if r.bytes >= n.cfg.RxXoff {
		n.pausePeers(m.Prio, true)
	}
	r.start(n)
}

// start begins to hand the oldest packet to the host, unless that is going on
// or the host has stopped.
func (r *rxBuffer) start(n *NIC) {
	if r.busy || r.q.empty() || n.cfg.Drain <= 0 {
		return
	}
	r.busy = true
	n.node.At(n.node.Now().Add(n.cfg.Drain.TxTime(sim.Bytes(r.q.buf[r.q.head].Size))), kindDrain, 0, 0)
}

// drained hands the oldest packet to the host.
func (r *rxBuffer) drained(n *NIC) {
	m := r.q.pop()
	port := r.from[r.head]
	r.head++
	if r.head == len(r.from) {
		r.from, r.head = r.from[:0], 0
	}
	r.bytes -= int64(m.Size)
	r.busy = false
	r.start(n)
	if r.bytes < n.cfg.RxXoff/2 || r.bytes == 0 {
		n.pausePeers(m.Prio, false)
		n.caughtUp(int(port), m.Prio&7)
	}
	n.handle(int(port), &m)
}

// pausePeers asks the switches to stop or resume a class.
func (n *NIC) pausePeers(c uint8, stop bool) {
	for i := range n.ports {
		p := &n.ports[i]
		if p.Cfg.Lossless&(1<<c) == 0 || p.Holds(int(c)) == stop || !stop && p.stuck&(1<<c) != 0 || stop && n.dog.gaveUp(c) {
			continue
		}
		n.watchPause(i, c, stop)
		kind := trace.EventXoff
		if stop {
			p.Xoff(int(c))
		} else {
			p.Xon(int(c))
			kind = trace.EventXon
		}
		if n.cfg.PauseLog {
			n.cfg.Sink.Event(trace.Event{Time: n.node.Now(), Kind: kind, Object: p.id, Peer: n.cfg.PeerIDs[i], Prio: int8(c), Value: float64(n.rx.bytes), Cause: "receive buffer"})
		}
		n.transmit(i)
	}
}
