package simnic

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// dma is what a NIC has between its ports and the memory of its host: a bus, a
// cache of the contexts of queue pairs, and one of translations. A NIC without
// any of them has none.
type dma struct {
	bus      Bus
	down, up sim.Time // until when the bus is taken: from memory, and to it
	freed    sim.Time // when it was free for the packet that left last
	contexts *lookups
	pages    *lookups
	page     sim.Bytes
	places   uint64    // pages of the memory that messages lie in
	arriving []arrival // by slot of the queue pair
}

// arrival is where in memory the message lies that arrives at a queue pair.
type arrival struct {
	base   uint64
	offset sim.Bytes
}

// newDMA returns what a NIC's configuration asks for, nil if that is nothing.
func newDMA(c *Config) *dma {
	h := &c.Host
	d := &dma{bus: h.Bus, page: max(h.Page, 1)}
	d.contexts = newLookups(h.Contexts, func() *sim.Rand { return c.Rand(c.Name + "/contexts") })
	d.pages = newLookups(h.Translations, func() *sim.Rand { return c.Rand(c.Name + "/translations") })
	d.places = uint64(max(h.Memory/d.page, 1))
	if !d.bus.limits() && d.contexts == nil && d.pages == nil {
		return nil
	}
	return d
}

// busy returns until when the NIC cannot send data, because the bus has not
// brought it.
func (d *dma) busy() sim.Time { return d.down }

// fetch returns when the next packet of a queue pair may leave as far as its
// context and the translation of its memory are concerned; responds says that it
// is a response. Each packet looks them up once.
func (d *dma) fetch(q *qp, responds bool, now sim.Time) sim.Time {
	if q.fetched {
		return max(q.fetchAt, now)
	}
	q.fetched = true
	at := now
	if d.contexts != nil {
		at = d.contexts.use(uint64(q.slot), now)
	}
	if d.pages != nil && !responds && q.nxt < q.end {
		if m := &q.msgs[q.find(q.nxt)]; !m.responds() {
			at = max(at, d.translate(sim.Mix64(uint64(q.qpn)<<40^m.id), sim.Bytes(q.nxt-m.first)*q.mtu, now))
		}
	}
	q.fetchAt = at
	return at
}

// translate looks up the page that so many bytes behind the beginning of a
// message lies in. Messages lie anywhere in the memory.
func (d *dma) translate(base uint64, offset sim.Bytes, now sim.Time) sim.Time {
	return d.pages.use((base%d.places+uint64(offset/d.page))%d.places, now)
}

// sent books a packet that leaves now: while it leaves, the bus brings what
// comes next. first says that it begins a request.
func (d *dma) sent(q *qp, now sim.Time, payload sim.Bytes, first bool) {
	q.fetched, d.freed = false, d.down
	if !d.bus.limits() {
		return
	}
	d.down = max(d.down, now).Add(d.bus.Read(payload))
	if first {
		d.down = d.down.Add(d.bus.Request)
	}
	d.up = max(d.up, now).Add(d.bus.Ask(payload))
}

// completed books the descriptor of a completion.
func (d *dma) completed(now sim.Time) {
	if d.bus.limits() {
		d.up = max(d.up, now).Add(d.bus.Completion)
	}
}

// arrived looks up what a packet that has just arrived needs, and returns when
// that is there.
func (d *dma) arrived(q *qp, m *packet.Packet, now sim.Time) sim.Time {
	at := now
	if d.contexts != nil && q != nil {
		at = d.contexts.use(uint64(q.slot), now)
	}
	if d.pages != nil && m.Kind == packet.Data && m.Payload > 0 {
		at = max(at, d.pageOf(q, m, now))
	}
	return at
}

// pageOf looks up the page that an arriving packet goes to.
func (d *dma) pageOf(q *qp, m *packet.Packet, now sim.Time) sim.Time {
	var a arrival
	if q != nil {
		for int(q.slot) >= len(d.arriving) {
			d.arriving = append(d.arriving, arrival{})
		}
		a = d.arriving[q.slot]
	}
	if m.Flags&packet.FlagFirst != 0 {
		a = arrival{base: sim.Mix64(uint64(uint32(m.Src))<<48 ^ uint64(m.SrcQP)<<24 ^ uint64(m.PSN) ^ uint64(now)<<1)}
	}
	at := d.translate(a.base, a.offset, now)
	a.offset += sim.Bytes(m.Payload)
	if q != nil {
		d.arriving[q.slot] = a
	}
	return at
}

// written returns when the payload of a packet has gone to memory, if the NIC
// begins with it now or later.
func (d *dma) written(m *packet.Packet, at sim.Time) sim.Time {
	if !d.bus.limits() || m.Kind != packet.Data || m.Payload == 0 {
		return at
	}
	d.up = max(d.up, at).Add(d.bus.Write(sim.Bytes(m.Payload)))
	return d.up
}

// orders reports whether ACKs wait for what has arrived before them as well:
// they need the context of their queue pair.
func (d *dma) orders() bool { return d != nil && d.contexts != nil }

// readDelay is how long a responder needs for the first byte of what it is
// asked for.
func (n *NIC) readDelay() sim.Duration { return n.cfg.Host.Bus.Latency }

// payloadDelay is how long a NIC needs for the first byte of a request.
func (n *NIC) payloadDelay(m *message) sim.Duration {
	if m.responds() || m.length == 0 || m.work != nil && m.work.isInline {
		return 0
	}
	return n.cfg.Host.Bus.Latency
}

// heldUntil is until when the next packet of a message could not leave because
// its host or the way to memory was not ready.
func (n *NIC) heldUntil(q *qp, m *message) (at sim.Time) {
	if q.hosted && m != nil {
		at = m.ready
	}
	if n.dma != nil {
		at = max(at, q.fetchAt, n.dma.freed)
	}
	return max(at, q.upAt)
}

// counters reports what the caches were asked for and did not have.
func (d *dma) counters(add func(name string, v uint64)) {
	if d.contexts != nil {
		add(trace.CountContextLookups, d.contexts.hits+d.contexts.misses)
		add(trace.CountContextMisses, d.contexts.misses)
	}
	if d.pages != nil {
		add(trace.CountTranslationLookups, d.pages.hits+d.pages.misses)
		add(trace.CountTranslationMisses, d.pages.misses)
	}
}

// reset begins the measured interval.
func (d *dma) reset() {
	if d == nil {
		return
	}
	for _, l := range []*lookups{d.contexts, d.pages} {
		if l != nil {
			l.hits, l.misses = 0, 0
		}
	}
}
