package simnic

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// rxBuffer is the receive memory of a NIC whose host is slower than the line.
type rxBuffer struct {
	slow    bool
	stopped bool // the host takes nothing
	q       fifo
	from    []origin // of each waiting packet
	head    int
	bytes   int64
	max     int64
	busy    bool
}

// origin is where a packet came in, and from when on the NIC has what it needs
// to go on with it.
type origin struct {
	port  int32
	ready sim.Time
}

func (r *rxBuffer) init(n *NIC) { r.slow = n.cfg.Drain > 0 || n.dma != nil }

// waits reports whether a packet that is no data queues behind data: an ACK
// must not overtake what its queue pair is still to get before it.
func (r *rxBuffer) waits(n *NIC, m *packet.Packet) bool {
	if m.Kind != packet.Ack && m.Kind != packet.Nak {
		return false
	}
	if n.dma.orders() {
		return true
	}
	if r.q.empty() {
		return false
	}
	q := n.lookup(m.DstQP)
	return q != nil && q.special
}

// arrive takes a packet from the wire.
func (r *rxBuffer) arrive(n *NIC, port int, m *packet.Packet) {
	if !r.slow || m.Kind != packet.Data && !r.waits(n, m) {
		n.handle(port, m)
		return
	}
	size := held(m)
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
	from := origin{port: int32(port)}
	if n.dma != nil {
		from.ready = n.dma.arrived(n.owner(m), m, n.node.Now())
	}
	r.from = append(r.from, from)
	if r.bytes >= n.cfg.RxXoff {
		n.pausePeers(m.Prio, true)
	}
	r.start(n)
}

// start begins to hand the oldest packet to the host, unless that is going on
// or the host has stopped.
func (r *rxBuffer) start(n *NIC) {
	if r.busy || r.q.empty() || r.stopped {
		return
	}
	r.busy = true
	m := &r.q.buf[r.q.head]
	at := max(n.node.Now(), r.from[r.head].ready)
	if n.cfg.Drain > 0 {
		at = at.Add(n.cfg.Drain.TxTime(sim.Bytes(held(m))))
	}
	if n.dma != nil {
		at = max(at, n.dma.written(m, max(n.node.Now(), r.from[r.head].ready)))
	}
	n.node.At(at, kindDrain, 0, 0)
}

// drained hands the oldest packet to the host.
func (r *rxBuffer) drained(n *NIC) {
	m := r.q.pop()
	port := r.from[r.head].port
	r.head++
	if r.head == len(r.from) {
		r.from, r.head = r.from[:0], 0
	}
	r.bytes -= held(&m)
	r.busy = false
	r.start(n)
	if r.bytes < n.cfg.RxXoff/2 || r.bytes == 0 {
		n.pausePeers(m.Prio, false)
		n.caughtUp(int(port), m.Prio&7)
	}
	n.handle(int(port), &m)
}

// held is how much of the buffer a packet takes: ACKs have nothing for the host.
func held(m *packet.Packet) int64 {
	if m.Kind != packet.Data {
		return 0
	}
	return int64(m.Size)
}

// owner returns the queue pair that a packet is for, nil if there is none yet.
func (n *NIC) owner(m *packet.Packet) *qp {
	if m.Kind != packet.Data || m.Flags&packet.FlagConnect == 0 {
		return n.lookup(m.DstQP)
	}
	if slot, ok := n.accept[uint64(uint32(m.Src))<<32|uint64(m.SrcQP)]; ok {
		return n.qps[slot]
	}
	return nil
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
