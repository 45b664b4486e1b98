package sim

import "math/bits"

// calendar sorts what happens in one window of one group: events lie in
// buckets by time, each a short sorted list. It belongs to a worker, which uses
// the same memory for one group after the other and so finds it in its cache;
// when a window ends the calendar is empty.
type calendar[M any] struct {
	start, end Time
	length     Duration  // of the longest window
	active     *group[M] // that runs now
	events     []event
	free       []int32 // a stack: a list through the events would wait for memory at every step
	heads      []int32 // 0 = empty
	bitmap     []uint64
	shift      uint
	waiting    int
	handled    uint64 // events, by all groups

	chunks  []*[chunkSlots]M
	slots   int32 // in use so far, slot 0 is none
	msgFree []int32
	current int32 // slot of the message that is being handled
	kept    bool
}

// chunkSlots is how many messages are made room for at a time. Slots never
// move, so that nothing is copied as a run grows.
const chunkSlots = 1 << 12

// at returns a slot.
func (c *calendar[M]) at(i int32) *M {
	return &c.chunks[uint32(i)/chunkSlots][uint32(i)%chunkSlots]
}

// take returns the number of an unused slot.
func (c *calendar[M]) take() int32 {
	if k := len(c.msgFree); k > 0 {
		i := c.msgFree[k-1]
		c.msgFree = c.msgFree[:k-1]
		return i
	}
	i := c.slots
	c.slots++
	if int(i)/chunkSlots == len(c.chunks) {
		c.chunks = append(c.chunks, new([chunkSlots]M))
	}
	return i
}

// newCalendar lays out about two buckets per event of a busy window: a group
// with so many ports sends and receives some dozen frames by each.
func newCalendar[M any](ports int, window Duration) calendar[M] {
	n := 256
	for n < 64*ports && n < 16384 {
		n *= 2
	}
	shift := uint(0)
	for window>>shift >= Duration(n) {
		shift++
	}
	return calendar[M]{length: window, shift: shift, heads: make([]int32, n), bitmap: make([]uint64, n/64),
		events: make([]event, 1, 256), chunks: []*[chunkSlots]M{new([chunkSlots]M)}, slots: 1}
}

// open begins a window of a group.
func (c *calendar[M]) open(g *group[M], start, end Time) { c.active, c.start, c.end = g, start, end }

// insert adds an event of the open window.
func (c *calendar[M]) insert(at Time, key uint64, node int32, arg uint64) {
	var i int32
	if k := len(c.free); k > 0 {
		i = c.free[k-1]
		c.free = c.free[:k-1]
	} else {
		c.events = append(c.events, event{})
		i = int32(len(c.events) - 1)
	}
	s := int(at.Sub(c.start) >> c.shift)
	e := &c.events[i]
	e.at, e.key, e.arg, e.node = at, key, arg, node
	c.waiting++
	h := c.heads[s]
	if h == 0 {
		e.next = 0
		c.heads[s] = i
		c.bitmap[s>>6] |= 1 << (s & 63)
		return
	}
	if p := &c.events[h]; at < p.at || at == p.at && key < p.key {
		e.next = h
		c.heads[s] = i
		return
	}
	for {
		nx := c.events[h].next
		if nx == 0 {
			break
		}
		if q := &c.events[nx]; at < q.at || at == q.at && key < q.key {
			break
		}
		h = nx
	}
	e.next = c.events[h].next
	c.events[h].next = i
}

// run handles every event of the open window.
func (c *calendar[M]) run() {
	g := c.active
	handled := uint64(0)
	for pos := 0; c.waiting > 0; {
		word := c.bitmap[pos>>6] >> (pos & 63)
		if word == 0 {
			pos = (pos | 63) + 1
			continue
		}
		pos += bits.TrailingZeros64(word)
		i := c.heads[pos]
		e := &c.events[i]
		c.heads[pos] = e.next
		if e.next == 0 {
			c.bitmap[pos>>6] &^= 1 << (pos & 63)
		}
		g.now = e.at
		key, arg, n := e.key, e.arg, g.nodes[e.node]
		c.free = append(c.free, i)
		c.waiting--
		handled++
		port := int(key >> 40 & 0xffff)
		if k := Kind(key >> 56); k == KindMessage {
			c.current, c.kept = int32(arg), false
			n.handler.OnMessage(port, c.at(int32(arg)))
			if !c.kept {
				c.msgFree = append(c.msgFree, int32(arg))
			}
		} else {
			n.handler.OnTimer(k, port, arg)
		}
	}
	c.active = nil
	g.handled += handled
	c.handled += handled
}
