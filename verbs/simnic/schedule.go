package simnic

import (
	"math/bits"

	"rdmasim/fabric"
	"rdmasim/sim"
)

// waiting is a queue pair held back by its pacing.
type waiting struct {
	at   sim.Time
	slot int32
}

// transmit sends the next frame of a port, if it is free: pause frames first,
// then control packets, then the queue pairs in turn.
//
//nolint:funlen // steps in their order
func (n *NIC) transmit(port int) {
	p := &n.ports[port]
	now := n.node.Now()
	if !n.sampling {
		n.beginSampling()
	}
	if p.FreeAt > now {
		n.wake(p, port, p.FreeAt)
		return
	}
	if p.Pending() {
		p.SendPFC(n.node, port)
		n.again(p, port)
		return
	}
	open := p.ctrlMask &^ p.Paused
	if open != 0 {
		c := bits.Len8(open) - 1
		m := p.ctrl[c].pop()
		if p.ctrl[c].empty() {
			p.ctrlMask &^= 1 << c
		}
		p.Send(n.node, port, &m)
		n.again(p, port)
		return
	}
	for len(p.heap) > 0 && p.heap[0].at <= now {
		if w := p.unwait(); w.slot >= 0 {
			if q := n.qps[w.slot]; q.sched == schedWaiting && q.waitAt == w.at { // else it waits for another time by now
				p.ready(n, q)
			}
		}
	}
	if n.dma != nil && n.dma.busy() > now {
		if p.readyMask&^p.Paused != 0 || len(p.heap) > 0 {
			n.wake(p, port, n.dma.busy())
		}
		return
	}
	for {
		open = p.readyMask &^ p.Paused
		if open == 0 {
			if len(p.heap) > 0 {
				n.wake(p, port, p.heap[0].at)
			}
			return
		}
		for {
			p.turn = (p.turn + 1) & 7
			if open&(1<<p.turn) != 0 {
				break
			}
		}
		q := p.unready(n, p.turn)
		if q.handle == nil {
			n.freeQPs = append(n.freeQPs, q.slot)
			continue
		}
		if !n.more(q, now) {
			continue
		}
		if at := n.startAt(q, now); at > now {
			n.schedule(p, q, at, now)
			continue
		}
		if n.dma != nil {
			if at := n.dma.fetch(q, n.responding(q, now), now); at > now {
				n.schedule(p, q, at, now)
				continue
			}
		}
		n.sendData(port, p, q)
		n.again(p, port)
		return
	}
}

// again sees to it that the port is looked at when it has something to send.
func (n *NIC) again(p *nicPort, port int) {
	if p.Pending() || p.ctrlMask != 0 || p.readyMask&^p.Paused != 0 {
		n.wake(p, port, p.FreeAt)
	} else if len(p.heap) > 0 {
		n.wake(p, port, max(p.FreeAt, p.heap[0].at))
	}
}

func (n *NIC) wake(p *nicPort, port int, at sim.Time) {
	if p.wakeAt != 0 && p.wakeAt <= at && p.wakeAt >= n.node.Now() {
		return
	}
	p.wakeAt = at
	n.node.At(at, fabric.KindTxDone, port, 0)
}

// ready appends a queue pair to the list of its class.
func (p *nicPort) ready(n *NIC, q *qp) {
	q.sched = schedReady
	q.next = -1
	if t := p.tail[q.prio]; t >= 0 {
		n.qps[t].next = q.slot
	} else {
		p.head[q.prio] = q.slot
		p.readyMask |= 1 << q.prio
	}
	p.tail[q.prio] = q.slot
}

// unready takes the first queue pair of a class off its list.
func (p *nicPort) unready(n *NIC, c uint8) *qp {
	q := n.qps[p.head[c]]
	p.head[c] = q.next
	if q.next < 0 {
		p.tail[c] = -1
		p.readyMask &^= 1 << c
	}
	q.sched = schedIdle
	return q
}

func (p *nicPort) wait(at sim.Time, slot int32) {
	h := append(p.heap, waiting{at, slot})
	i := len(h) - 1
	for i > 0 {
		u := (i - 1) / 2
		if !before(&h[i], &h[u]) {
			break
		}
		h[i], h[u] = h[u], h[i]
		i = u
	}
	p.heap = h
}

func before(a, b *waiting) bool { return a.at < b.at || a.at == b.at && a.slot < b.slot }

func (p *nicPort) unwait() waiting {
	h := p.heap
	top := h[0]
	k := len(h) - 1
	h[0] = h[k]
	h = h[:k]
	for i := 0; ; {
		c := 2*i + 1
		if c >= k {
			break
		}
		if c+1 < k && before(&h[c+1], &h[c]) {
			c++
		}
		if !before(&h[c], &h[i]) {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	p.heap = h
	return top
}
