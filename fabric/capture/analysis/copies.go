package analysis

import (
	"rdmasim/fabric/capture"
	"rdmasim/sim"
)

// A mirror that copies packets both where they come in and where they go out
// shows everything twice at one interface. A copy is the same packet, with the
// same IP identification, shortly behind the first one and without a NAK that
// asked for it; a retransmission by timeout comes later.

const (
	copySlots  = 1 << 12
	copyWithin = 64 // packets behind the first one
	copySoon   = 100 * sim.Microsecond
	// manyCopies is the share of all packets, in per cent, from which on copies
	// are no accident.
	manyCopies = 30
)

// copies remembers the last packets by a hash.
type copies struct {
	slots []seenPacket
	found uint64
}

type seenPacket struct {
	hash  uint64
	index uint64
	at    sim.Time
	iface int
}

// isCopy reports whether a packet of a stream is the same as one shortly before.
func (a *Analyzer) isCopy(s *stream, f *capture.Frame, iface int) bool {
	c := &a.copies
	if c.slots == nil {
		c.slots = make([]seenPacket, copySlots)
	}
	b, y := &f.BTH, &f.Ext.AETH
	h := uint64(s.number) + 1
	for _, v := range [...]uint64{
		uint64(b.PSN)<<32 | uint64(b.Opcode)<<24 | uint64(y.MSN),
		uint64(f.IPID)<<48 | uint64(f.SrcPort)<<32 | uint64(f.Payload),
		f.Ext.RETH.VirtualAddress,
		uint64(y.Syndrome)<<2 | uint64(bit(b.AckReq))<<1 | uint64(bit(b.Solicited)),
	} {
		h = (h ^ v) * 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: spreads the bits
		h ^= h >> 32
	}
	now := seenPacket{h, a.total.Packets, a.now, iface}
	p := &c.slots[h%copySlots]
	was := *p
	*p = now
	if was.hash != h || was.iface != iface || now.index-was.index > copyWithin || now.at-was.at > sim.Time(copySoon) || was.index < s.asked {
		return false
	}
	c.found++
	*p = seenPacket{} // a third one begins anew
	return true
}

// noteCopies says that there were copies, where they were left out or are too
// many to be an accident.
func (a *Analyzer) noteCopies(note func(n uint64, format string)) {
	t := &a.total
	rdma := t.ICRCValid + t.ICRCInvalid + t.ICRCAbsent
	switch {
	case a.opt.SkipCopies:
		note(a.copies.found, "%d packets are the same as one shortly before them, and were left out")
	case 100*a.copies.found >= manyCopies*rdma:
		note(a.copies.found, "%d packets are the same as one shortly before them, as a mirror shows them that copies everything twice: what they repeat counts as sent again, unless --skip-copies leaves them out")
	}
}
