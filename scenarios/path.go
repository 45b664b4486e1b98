package scenarios

import (
	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
	"rdmasim/verbs/simnic"
)

// hop is one link of a path as a frame meets it.
type hop struct {
	id       trace.ObjectID // of the port that sends
	rate     sim.Rate
	delay    sim.Duration
	overhead sim.Bytes // preamble and gap
	extra    sim.Bytes // tunnel header on this link
	truncate bool
	cut      bool // the node at the end cuts through
	spread   bool // the node at the end spreads packets over several ports
}

// tx returns how long a frame occupies the link.
func (h *hop) tx(b sim.Bytes) sim.Duration {
	d := h.rate.TxTime(b + h.overhead)
	if h.truncate {
		d -= d % sim.Nanosecond
	}
	return d
}

// pathFinder returns the function by which a NIC learns its paths. Each NIC
// has one of its own, so that its cache is used by one goroutine.
func (w *world) pathFinder() func(src, dst int32, sport, dport uint16, prio uint8) simnic.Path {
	type key struct {
		src, dst     int32
		sport, dport uint16
	}
	const most = 4096 // paths remembered
	cache, epoch := map[key]*simnic.Path{}, uint64(0)
	return func(src, dst int32, sport, dport uint16, prio uint8) simnic.Path {
		k := key{src, dst, sport, dport}
		if epoch != w.epoch {
			epoch = w.epoch
			clear(cache)
		}
		if p, ok := cache[k]; ok {
			return *p
		}
		if len(cache) >= most {
			clear(cache)
		}
		p := w.path(src, dst, sport, dport)
		cache[k] = &p
		return p
	}
}

// path walks from source to destination and back.
func (w *world) path(src, dst int32, sport, dport uint16) simnic.Path {
	node := w.routes.Endpoints()[src].Node
	sizes := &w.sizes[node]
	there := w.walk(packet.Packet{Src: src, Dst: dst, SrcPort: sport, DstPort: dport})
	back := packet.Packet{Src: dst, Dst: src, SrcPort: dport, DstPort: sport}
	if dport == simnic.RoCEv2Port {
		back.SrcPort, back.DstPort = sport, dport
	}
	home := w.walk(back)
	full := sizes.Data(sizes.Payload, false, verbs.OpWrite, false)
	answers := &w.sizes[w.routes.Endpoints()[dst].Node]
	ack := sim.Bytes(answers.Ack)
	ackTime := train(home, func(int) sim.Bytes { return ack }, 1)
	spread := false
	for _, h := range there {
		spread = spread || h.spread
	}
	return simnic.Path{
		There: ids(there), Back: ids(home), Spread: spread,
		BaseRTT: train(there, func(int) sim.Bytes { return full }, 1) + ackTime,
		Ideal: func(length sim.Bytes, op verbs.Opcode) sim.Duration {
			switch {
			case op == verbs.OpRead:
				return train(there, func(int) sim.Bytes { return sizes.Request(op) }, 1) + message(home, answers, length, op)
			case op.IsAtomic():
				return train(there, func(int) sim.Bytes { return sizes.Request(op) }, 1) +
					train(home, func(int) sim.Bytes { return ack + simnic.SizeAtomicAck }, 1)
			}
			return ackTime + message(there, sizes, length, op)
		},
		Sent: func(length sim.Bytes, op verbs.Opcode) sim.Duration {
			first := []hop{there[0]}
			first[0].delay = 0
			return message(first, sizes, length, op)
		},
	}
}

// message returns how long the packets of a message take over an idle path.
func message(hops []hop, sizes *simnic.FrameSizes, length sim.Bytes, op verbs.Opcode) sim.Duration {
	mtu := sim.Bytes(sizes.Payload)
	n := int(max((length+mtu-1)/mtu, 1))
	return train(hops, func(i int) sim.Bytes {
		payload := mtu
		if i == n-1 {
			payload = length - sim.Bytes(n-1)*mtu
		}
		return sizes.Data(int(payload), i == 0, op, i == n-1)
	}, n)
}

// walk lists the links of a packet's way.
func (w *world) walk(m packet.Packet) []hop {
	at := w.routes.Endpoints()[m.Src]
	node, port := at.Node, at.Port
	var hops []hop
	tunnel := false
	for len(hops) < 256 {
		q := w.ports.Of(node)[port]
		c := w.port(node, port)
		h := hop{id: w.portID(node, port), rate: c.Rate, delay: c.Delay, overhead: c.Overhead, truncate: c.Truncate, cut: c.HeaderBytes > 0}
		if tunnel {
			h.extra = fabric.VXLANHeader
		}
		hops = append(hops, h)
		sw := w.switches[q.Peer]
		if sw == nil {
			return hops
		}
		hops[len(hops)-1].spread = sw.Cfg.Balance != fabric.BalanceECMP && len(w.routes.Next(q.Peer, int(m.Dst))) > 1
		if sw.Cfg.VTEP {
			out := sw.Peek(&m)
			tunnel = out >= 0 && !sw.Cfg.Ports[out].ToHost
		}
		node, port = q.Peer, sw.Peek(&m)
		if port < 0 {
			return hops
		}
	}
	return hops
}

// ids returns the ports of a way.
func ids(hops []hop) []trace.ObjectID {
	list := make([]trace.ObjectID, len(hops))
	for i := range hops {
		list[i] = hops[i].id
	}
	return list
}

// portID returns the name of a port. Names are looked up once per node.
func (w *world) portID(node, port int) trace.ObjectID { return w.portIDs[node][port] }

// numberPorts notes the names of all ports, once they have names.
func (w *world) numberPorts() {
	w.portIDs = make([][]trace.ObjectID, len(w.graph.Nodes))
	for n := range w.graph.Nodes {
		w.portIDs[n] = make([]trace.ObjectID, len(w.ports.Of(n)))
		for p := range w.portIDs[n] {
			w.portIDs[n][p] = w.names.Lookup(w.portName(n, p))
		}
	}
}

// train returns when the last bit of the last of n frames sent back to back
// over an idle path arrives. Each link is a server in series; once every link
// advances at the pace of the slowest link so far, which it then keeps, the
// rest is counted at once.
func train(hops []hop, size func(i int) sim.Bytes, n int) sim.Duration {
	free := make([]sim.Time, len(hops)) // when each link is free again
	pace := make([]sim.Duration, len(hops))
	var end sim.Time
	steady := 0
	for i := 0; i < n; i++ {
		if steady > 2 && i < n-2 && size(i) == size(i-1) {
			skip := sim.Duration(n - 2 - i)
			for k := range free {
				free[k] = free[k].Add(pace[k] * skip)
			}
			i = n - 2
			steady = 0
		}
		b := size(i)
		var ready sim.Time // the frame may start on the next link
		same, slowest := true, sim.Duration(0)
		for k := range hops {
			h := &hops[k]
			start := max(ready, free[k])
			tx := h.tx(b + h.extra)
			done := start.Add(tx)
			d := done.Sub(free[k])
			slowest = max(slowest, tx)
			same = same && d == slowest
			pace[k], free[k] = d, done
			end = done.Add(h.delay)
			ready = end
			if h.cut && k+1 < len(hops) {
				ready = cutReady(h, &hops[k+1], start, b, free[k+1])
			}
		}
		if same {
			steady++
		} else {
			steady = 0
		}
	}
	return end.Sub(0)
}

// cutReady returns when a frame that began on a link at start may begin on the
// next one through a cut-through switch: at its header where the next link is
// idle and no faster, else when all of it is there.
func cutReady(h, next *hop, start sim.Time, b sim.Bytes, free sim.Time) sim.Time {
	if b+h.extra <= fabric.HeaderBytes {
		return start.Add(h.tx(b+h.extra) + h.delay)
	}
	head := start.Add(h.tx(fabric.HeaderBytes) + h.delay)
	if free <= head && next.rate <= h.rate {
		return head
	}
	return head.Add(h.rate.TxTime(b + h.extra - fabric.HeaderBytes))
}
