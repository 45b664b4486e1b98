package simnic

import (
	"encoding/binary"
	"sync"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// cargo is what a packet with memory carries besides its fields.
type cargo struct {
	data          []byte
	addr          uint64 // RETH, AtomicETH
	rkey, qkey    uint32
	compare, swap uint64
	value         uint64 // AtomicAckETH
	solicited     bool
	cm            *cmMessage
}

// Memory carries the bytes of packets from NIC to NIC, since packets
// themselves are small values. Every endpoint has a ring of its own: it alone
// writes, and whoever receives its packets reads what was written at least one
// link delay before. A packet that outlives ringSize later ones of its source
// has lost its bytes and counts as corrupted.
type Memory struct{ rings []ring }

const ringSize = 1 << 16

type ring struct {
	mu    sync.Mutex
	next  uint32
	slots []loaded
}

type loaded struct {
	handle uint32
	cargo
}

// NewMemory returns the memory of a fabric with so many endpoints.
func NewMemory(endpoints int) *Memory { return &Memory{rings: make([]ring, endpoints)} }

// load keeps the cargo of a packet that is about to be sent and returns its
// handle. The data is not copied and must not change.
func (n *NIC) load(c cargo) uint32 {
	r := &n.cfg.Memory.rings[n.cfg.Endpoints[0]]
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	i := int(r.next % ringSize)
	for len(r.slots) <= i {
		r.slots = append(r.slots, loaded{})
	}
	r.slots[i] = loaded{r.next, c}
	return r.next
}

// unload returns the cargo of a packet that has arrived; ok is false if it is lost.
func (n *NIC) unload(m *packet.Packet) (c cargo, ok bool) {
	if m.Src < 0 || int(m.Src) >= len(n.cfg.Memory.rings) {
		return c, false
	}
	r := &n.cfg.Memory.rings[m.Src]
	r.mu.Lock()
	defer r.mu.Unlock()
	i := int(m.Aux % ringSize)
	if i >= len(r.slots) || r.slots[i].handle != m.Aux || m.Aux == 0 {
		return c, false
	}
	return r.slots[i].cargo, true
}

// mr is a memory region.
type mr struct {
	pd     *protectionDomain
	addr   uint64
	mem    []byte
	key    uint32
	access verbs.Access
	dead   bool
}

var _ verbs.MemoryRegion = (*mr)(nil)

func (r *mr) Addr() uint64         { return r.addr }
func (r *mr) Bytes() []byte        { return r.mem }
func (r *mr) LKey() uint32         { return r.key }
func (r *mr) RKey() uint32         { return r.key }
func (r *mr) Access() verbs.Access { return r.access }

func (r *mr) Deregister() error {
	if r.dead {
		return errGone("memory region")
	}
	r.dead = true
	r.pd.uses--
	r.pd.ctx.dev.n.regions[r.key>>8-1] = nil
	return nil
}

// region returns the bytes that a key gives access to, nil if it does not: an
// unknown key, another protection domain, out of bounds, or not allowed.
func (n *NIC) region(pd *protectionDomain, key uint32, addr uint64, length uint64, need verbs.Access) []byte {
	i := int(key>>8) - 1
	if i < 0 || i >= len(n.regions) {
		return nil
	}
	r := n.regions[i]
	if r == nil || r.key != key || r.pd != pd || r.access&need != need || addr < r.addr || length > uint64(len(r.mem)) || addr-r.addr > uint64(len(r.mem))-length {
		return nil
	}
	return r.mem[addr-r.addr:][:length:length]
}

// gather copies part of what a list of pieces names; ok is false if a key does
// not allow it.
func (n *NIC) gather(pd *protectionDomain, sg []verbs.SGE, offset, length sim.Bytes) (data []byte, ok bool) {
	data = make([]byte, 0, length)
	ok = n.pieces(pd, sg, offset, length, 0, func(b []byte) { data = append(data, b...) })
	return data, ok
}

// scatter copies data to part of what a list of pieces names.
func (n *NIC) scatter(pd *protectionDomain, sg []verbs.SGE, offset sim.Bytes, data []byte) bool {
	return n.pieces(pd, sg, offset, sim.Bytes(len(data)), verbs.LocalWrite, func(b []byte) { data = data[copy(b, data):] })
}

// pieces calls f with the memory of part of a list of pieces.
func (n *NIC) pieces(pd *protectionDomain, sg []verbs.SGE, offset, length sim.Bytes, need verbs.Access, f func([]byte)) bool {
	for i := range sg {
		size := sim.Bytes(sg[i].Length)
		if offset >= size {
			offset -= size
			continue
		}
		if length == 0 {
			break
		}
		b := n.region(pd, sg[i].LKey, sg[i].Addr, uint64(size), need)
		if b == nil {
			return false
		}
		b = b[offset:]
		b = b[:min(sim.Bytes(len(b)), length)]
		f(b)
		length -= sim.Bytes(len(b))
		offset = 0
	}
	return length == 0
}

// readFrom returns the bytes that a READ request asks for; ok is false if it
// may not.
func (n *NIC) readFrom(q *qp, m *packet.Packet) ([]byte, bool) {
	c, ok := n.unload(m)
	if !ok || m.Ext == 0 {
		return nil, ok
	}
	b := n.remote(q.full, c.rkey, c.addr, uint64(m.Ext), verbs.RemoteRead)
	return append([]byte(nil), b...), b != nil
}

// atomic carries out an atomic operation and returns the value that was there.
func (n *NIC) atomic(q *qp, m *packet.Packet) uint64 {
	c, _ := n.unload(m)
	b := n.remote(q.full, c.rkey, c.addr, 8, verbs.RemoteAtomic)
	if b == nil {
		return 0
	}
	was := binary.LittleEndian.Uint64(b)
	switch {
	case verbs.Opcode(m.Op()) == verbs.OpFetchAdd:
		binary.LittleEndian.PutUint64(b, was+c.compare)
	case was == c.compare:
		binary.LittleEndian.PutUint64(b, c.swap)
	}
	return was
}

// writeTo puts the data of a response into the memory of its request.
func (n *NIC) writeTo(q *qp, d *message, offset sim.Bytes, m *packet.Packet) bool {
	c, ok := n.unload(m)
	if !ok || d.work == nil {
		return false
	}
	data := c.data
	if d.op.IsAtomic() {
		data = binary.LittleEndian.AppendUint64(nil, c.value)
	}
	if len(data) == 0 {
		return true
	}
	if !n.scatter(q.full.pd, d.work.sg, offset, data) {
		n.fail(q, verbs.StatusLocalProtection)
		return false
	}
	return true
}
