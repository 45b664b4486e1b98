package fabric

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// packed is the far part of a long queue. What the frames of a flow have in
// common is kept once, in a small table; a frame takes a cell of 16 bytes. A
// frame for which the table has no room takes three more.
type packed struct {
	head, tail *cellChunk
	first, end uint8         // next cell to take from head; one past the last in tail
	open       bool          // out is the front frame
	out        packet.Packet // the front frame, whole again
	latest     uint8         // of common, that the frame pushed last has
	uses       [commons]uint32
	common     [commons]packet.Packet
}

const (
	commons    = 12 // flows of a queue that the table has room for
	chunkCells = 63 // a chunk fills a kibibyte, which little else does: the memory of a burst comes free in large pieces
	wide       = 255
)

// cell is what differs from frame to frame of a flow; common is the number of
// the rest, or wide.
type cell struct {
	sent                    sim.Time
	psn                     uint32
	ecn, ttl, flags, common uint8
}

type cellChunk struct {
	next  *cellChunk
	cells [chunkCells]cell
}

func (q *packed) empty() bool { return q.head == nil }

func (q *packed) push(pool *chunkPool, m *packet.Packet) {
	c := q.add(pool)
	*c = cell{m.Sent, m.PSN, m.ECN, m.TTL, m.Flags, q.lookup(m)}
	if c.common != wide {
		return
	}
	*q.add(pool) = cell{pair(uint32(m.Src), uint32(m.Dst)), m.SrcQP, uint8(m.DstQP >> 24), uint8(m.DstQP >> 16), uint8(m.DstQP >> 8), uint8(m.DstQP)}
	*q.add(pool) = cell{pair(m.Aux, m.Ext), uint32(m.Size)<<16 | uint32(m.Payload), uint8(m.Kind), m.Opcode, m.Prio, m.DSCP}
	*q.add(pool) = cell{pair(uint32(m.SrcPort)<<16|uint32(m.DstPort), uint32(m.InPort)<<16|uint32(m.Quanta)), 0, m.Classes, 0, 0, 0}
}

// wideCells is how many cells a frame takes that has nothing in common with others.
const wideCells = 4

// pair puts two numbers into the place of a time.
func pair(a, b uint32) sim.Time { return sim.Time(uint64(a)<<32 | uint64(b)) }

// unpair is the inverse of pair.
func unpair(t sim.Time) (a, b uint32) { return uint32(uint64(t) >> 32), uint32(t) }

// lookup returns the number of what a frame has in common with others, giving
// it one if there is room.
func (q *packed) lookup(m *packet.Packet) uint8 {
	if i := q.latest; q.uses[i] != 0 && alike(&q.common[i], m) {
		q.uses[i]++
		return i
	}
	free := uint8(wide)
	for i := range q.common {
		if q.uses[i] == 0 {
			free = uint8(i)
		} else if alike(&q.common[i], m) {
			q.latest = uint8(i)
			q.uses[i]++
			return uint8(i)
		}
	}
	if free != wide {
		k := &q.common[free]
		*k = *m
		k.Sent, k.PSN, k.ECN, k.TTL, k.Flags = 0, 0, 0, 0, 0
		q.latest, q.uses[free] = free, 1
	}
	return free
}

// alike reports whether two frames differ in nothing but what a cell holds.
// What tells flows apart comes first.
func alike(a, b *packet.Packet) bool {
	return a.SrcQP == b.SrcQP && a.Src == b.Src && a.Size == b.Size && a.Opcode == b.Opcode &&
		a.Dst == b.Dst && a.DstQP == b.DstQP && a.Payload == b.Payload && a.SrcPort == b.SrcPort && a.DstPort == b.DstPort &&
		a.InPort == b.InPort && a.Aux == b.Aux && a.Ext == b.Ext && a.Quanta == b.Quanta && a.Kind == b.Kind && a.Prio == b.Prio && a.DSCP == b.DSCP && a.Classes == b.Classes
}

// add returns a new cell at the end.
func (q *packed) add(pool *chunkPool) *cell {
	if q.tail == nil || q.end == chunkCells {
		c := pool.cells.take()
		c.next = nil
		if q.tail == nil {
			q.head, q.first = c, 0
		} else {
			q.tail.next = c
		}
		q.tail, q.end = c, 0
	}
	q.end++
	return &q.tail.cells[q.end-1]
}

// front returns the first frame; it holds until the next push.
func (q *packed) front() *packet.Packet {
	if !q.open {
		q.open = true
		at := cursor{q.head, q.first}
		q.unpack(&at, &q.out)
	}
	return &q.out
}

// pop removes the first frame.
func (q *packed) pop(pool *chunkPool) {
	q.open = false
	n := 1
	if i := q.head.cells[q.first].common; i != wide {
		q.uses[i]--
	} else {
		n = wideCells
	}
	for range n {
		q.first++
		c := q.head
		if c == q.tail && q.first == q.end {
			q.head, q.tail = nil, nil
		} else if q.first == chunkCells {
			q.head, q.first = c.next, 0
		} else {
			continue
		}
		pool.cells.give(c)
	}
}

// cursor is a place in a list of cells.
type cursor struct {
	chunk *cellChunk
	i     uint8
}

func (c *cursor) next() *cell {
	if c.i == chunkCells {
		c.chunk, c.i = c.chunk.next, 0
	}
	c.i++
	return &c.chunk.cells[c.i-1]
}

// unpack makes the frame at a place whole and moves on to the one behind it.
func (q *packed) unpack(at *cursor, m *packet.Packet) {
	c := at.next()
	if c.common != wide {
		*m = q.common[c.common]
	} else {
		a, b, d := at.next(), at.next(), at.next()
		src, dst := unpair(a.sent)
		aux, ext := unpair(b.sent)
		ports, rest := unpair(d.sent)
		*m = packet.Packet{Src: int32(src), Dst: int32(dst), SrcQP: a.psn, DstQP: uint32(a.ecn)<<24 | uint32(a.ttl)<<16 | uint32(a.flags)<<8 | uint32(a.common),
			Aux: aux, Ext: ext, Size: uint16(b.psn >> 16), Payload: uint16(b.psn), Kind: packet.Kind(b.ecn), Opcode: b.ttl, Prio: b.flags, DSCP: b.common,
			SrcPort: uint16(ports >> 16), DstPort: uint16(ports), InPort: uint16(rest >> 16), Quanta: uint16(rest), Classes: d.ecn}
	}
	m.Sent, m.PSN, m.ECN, m.TTL, m.Flags = c.sent, c.psn, c.ecn, c.ttl, c.flags
}

// each shows the frames from the front, until look returns false.
func (q *packed) each(look func(m *packet.Packet) bool) {
	at, end := cursor{q.head, q.first}, cursor{q.tail, q.end}
	for at != end {
		var m packet.Packet
		if q.unpack(&at, &m); !look(&m) {
			return
		}
	}
}
