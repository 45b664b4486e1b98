package analysis

import (
	"rdmasim/fabric/capture"
	"rdmasim/sim"
)

// message is one work request, as its packets tell it.
type message struct {
	id        uint64
	verb      capture.Verb
	imm, inv  bool
	first     uint64 // numbers of its packets
	last      uint64
	complete  bool   // its last packet was seen
	headed    bool   // its first packet was seen
	length    uint64 // by its RETH
	told      bool   // it has one
	mtu       int    // payload of its packets but the last
	tail      int    // payload of the last
	start     sim.Time
	sent      sim.Time // its last packet, for the first time
	retx      uint64
	responses uint64 // bytes of a READ that have come
}

// bytes returns how long the message is, as far as its packets tell.
func (m *message) bytes() uint64 {
	if m.told {
		return m.length
	}
	if m.verb == capture.VerbRead { // its length was not captured
		return m.responses
	}
	if m.last == m.first {
		return uint64(m.tail)
	}
	return (m.last-m.first)*uint64(m.mtu) + uint64(m.tail)
}

// verbName is the name of the verb as flows.csv has it.
func (m *message) verbName() string {
	name := m.verb.String()
	switch {
	case m.imm:
		name += "_WITH_IMM"
	case m.inv:
		name += "_WITH_INV"
	}
	return name
}

// packetInfo is what a request packet says of its message.
type packetInfo struct {
	number  uint64
	n       uint64 // numbers that it takes
	verb    capture.Verb
	place   capture.Place
	ext     capture.Ext
	payload int
	length  uint64
	now     sim.Time
}

// outbox is the messages of a requester that are not complete, oldest first.
type outbox struct {
	list  []message
	ids   uint64
	added int // messages inserted, less those that turned out to be none
}

// find returns the message that a number belongs to, nil if none.
func (o *outbox) find(number uint64) *message {
	for i := len(o.list) - 1; i >= 0; i-- {
		m := &o.list[i]
		if number >= m.first {
			if number <= m.last {
				return m
			}
			return nil
		}
	}
	return nil
}

// open returns the youngest message if its last packet is still to come.
func (o *outbox) open() *message {
	if n := len(o.list); n > 0 && !o.list[n-1].complete {
		return &o.list[n-1]
	}
	return nil
}

// insert adds a message in the order of numbers.
func (o *outbox) insert(m message) *message {
	o.ids++
	o.added++
	m.id = o.ids
	o.list = append(o.list, m)
	i := len(o.list) - 1
	for ; i > 0 && o.list[i-1].first > m.first; i-- {
		o.list[i], o.list[i-1] = o.list[i-1], o.list[i]
	}
	return &o.list[i]
}

// forward adds a packet beyond all others; hole is the first number that is
// missing in front of it, or its own.
func (o *outbox) forward(p *packetInfo, hole uint64) *message {
	m := o.open()
	if p.place&capture.First != 0 {
		if m != nil {
			m.last = p.number - 1 // its last packet is in the hole
			m.complete = hole == p.number && m.complete
		}
		m = o.insert(message{first: p.number, last: p.number})
		m.head(p)
	} else if m == nil {
		// Its first packet is in the hole, or came before the capture.
		m = o.insert(message{first: hole, last: p.number, verb: p.verb, start: p.now})
	}
	m.last = max(m.last, p.number+p.n-1)
	m.add(p)
	return m
}

// backward adds a packet from a hole.
func (o *outbox) backward(p *packetInfo) *message {
	m := o.find(p.number)
	switch {
	case p.place&capture.First != 0 && (m == nil || m.first != p.number):
		n := message{first: p.number, last: p.number + p.n - 1}
		if m != nil && p.place&capture.Last == 0 {
			// It is the head of what was taken for the rest of another message.
			n.last, n.complete, n.tail, n.sent = m.last, m.complete, m.tail, m.sent
			o.cut(m, p.number)
		} else if m != nil {
			o.cut(m, p.number)
		}
		m = o.insert(n)
		m.head(p)
	case m == nil:
		m = o.insert(message{first: p.number, last: p.number, verb: p.verb, start: p.now})
	case p.place&capture.First != 0:
		m.head(p)
	}
	if p.place&capture.Last != 0 && m.last > p.number+p.n-1 {
		// What follows is another message, of which the head is missing.
		rest := message{first: p.number + p.n, last: m.last, complete: m.complete, tail: m.tail, sent: m.sent, verb: m.verb, start: p.now, mtu: m.mtu}
		m.last, m.complete = p.number+p.n-1, false
		id := m.id
		o.insert(rest)
		for i := range o.list {
			if o.list[i].id == id {
				m = &o.list[i]
			}
		}
	}
	m.add(p)
	return m
}

// cut ends a message in front of a number; one of which nothing is left goes.
func (o *outbox) cut(m *message, number uint64) {
	if m.first < number {
		m.last = number - 1
		m.complete = false
		return
	}
	for i := range o.list {
		if &o.list[i] == m {
			o.list = append(o.list[:i], o.list[i+1:]...)
			o.added--
			return
		}
	}
}

// head takes what only a first packet tells.
func (m *message) head(p *packetInfo) {
	m.headed, m.verb, m.start = true, p.verb, p.now
	if p.ext&capture.ExtRETH != 0 {
		m.told, m.length = true, p.length
	}
	if p.verb == capture.VerbCompareSwap || p.verb == capture.VerbFetchAdd {
		m.told, m.length = true, 8
	}
}

// add takes a packet of the message.
func (m *message) add(p *packetInfo) {
	if p.place&capture.Last == 0 {
		m.mtu = p.payload
		return
	}
	m.complete, m.tail, m.sent = true, p.payload, p.now
	m.imm = p.ext&capture.ExtImmDt != 0
	m.inv = p.ext&capture.ExtIETH != 0
}
