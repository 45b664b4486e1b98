package simnic

import (
	"fmt"

	"rdmasim/verbs"
)

// maxWindows bounds the memory windows of a device. Their keys follow those of
// its regions.
const maxWindows = 1 << 20

// window is a memory window of type 2: it belongs to the queue pair that has
// bound it.
type window struct {
	pd     *protectionDomain
	key    uint32
	region *mr // nil = not bound
	owner  *fullQP
	addr   uint64
	length uint64
	access verbs.Access
	dead   bool
}

var _ verbs.MemoryWindow = (*window)(nil)

func (p *protectionDomain) AllocMW() (verbs.MemoryWindow, error) {
	n := p.ctx.dev.n
	if p.dead {
		return nil, errGone("protection domain")
	}
	if len(n.windows) >= maxWindows {
		return nil, fmt.Errorf("%w: %d memory windows", verbs.ErrNoMemory, maxWindows)
	}
	w := &window{pd: p, key: uint32(maxRegions+len(n.windows)+1) << 8}
	n.windows = append(n.windows, w)
	p.uses++
	return w, nil
}

func (w *window) RKey() uint32 { return w.key }

func (w *window) Dealloc() error {
	if w.dead {
		return errGone("memory window")
	}
	w.dead = true
	w.unbind()
	w.pd.uses--
	return nil
}

func (w *window) unbind() { w.region, w.owner = nil, nil }

// windowOf returns the window of a key, nil if it is of none.
func (n *NIC) windowOf(key uint32) *window {
	i := int(key>>8) - 1 - maxRegions
	if i < 0 || i >= len(n.windows) || n.windows[i].key != key || n.windows[i].dead {
		return nil
	}
	return n.windows[i]
}

// remote returns the bytes that the peer of a queue pair gets access to by a
// key, of a region or of a window; nil if it does not.
func (n *NIC) remote(f *fullQP, key uint32, addr, length uint64, need verbs.Access) []byte {
	if int(key>>8)-1 < maxRegions {
		return n.region(f.pd, key, addr, length, need)
	}
	w := n.windowOf(key)
	if w == nil || w.region == nil || w.region.dead || w.owner != f || w.access&need != need || !within(addr, length, w.addr, w.length) {
		return nil
	}
	return w.region.mem[addr-w.region.addr:][:length:length]
}

// within reports whether a range lies in another.
func within(addr, length, from, size uint64) bool {
	return addr >= from && length <= size && addr-from <= size-length
}

// bind carries out an OpBindMW.
func (n *NIC) bind(f *fullQP, b *verbs.WindowBind) bool {
	w, ok1 := b.MW.(*window)
	r, ok2 := b.MR.(*mr)
	const rights = verbs.RemoteRead | verbs.RemoteWrite | verbs.RemoteAtomic
	switch {
	case !ok1 || !ok2 || w.dead || r.dead || w.pd != f.pd || r.pd != f.pd:
		return false
	case w.region != nil && !w.region.dead: // has to be invalidated first
		return false
	case b.RKey&^0xff != w.key&^0xff || b.RKey == w.key:
		return false
	case r.access&verbs.MWBind == 0 || b.Access&^rights != 0 || b.Access&(verbs.RemoteWrite|verbs.RemoteAtomic) != 0 && r.access&verbs.LocalWrite == 0:
		return false
	case b.Length == 0 || !within(b.Addr, b.Length, r.addr, uint64(len(r.mem))):
		return false
	}
	w.key, w.region, w.owner, w.addr, w.length, w.access = b.RKey, r, f, b.Addr, b.Length, b.Access
	return true
}

// invalidate ends what a key of this side gives a peer; false if it gives
// nothing.
func (n *NIC) invalidate(f *fullQP, key uint32) bool {
	if w := n.windowOf(key); w != nil {
		if w.pd != f.pd || w.region == nil || w.owner != f {
			return false
		}
		w.unbind()
		return true
	}
	i := int(key>>8) - 1
	if i < 0 || i >= len(n.regions) || n.regions[i] == nil || n.regions[i].key != key || n.regions[i].pd != f.pd {
		return false
	}
	n.regions[i].access &^= verbs.RemoteRead | verbs.RemoteWrite | verbs.RemoteAtomic
	return true
}

// carryOut does what a local request asks for, once: when all requests in front
// of it have been sent. It is false, with the reason in the message, where that
// may not be.
func (n *NIC) carryOut(q *qp, m *message) bool {
	w := m.work
	if w.done {
		return m.bad == verbs.StatusSuccess
	}
	w.done = true
	ok := false
	if m.op == verbs.OpBindMW {
		ok = n.bind(q.full, &w.bind)
	} else {
		ok = n.invalidate(q.full, m.imm)
	}
	if !ok {
		m.bad = verbs.StatusMWBind // of all requests that manage memory
	}
	return ok
}
