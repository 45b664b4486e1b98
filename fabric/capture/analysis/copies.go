package analysis

import (
	"encoding/binary"
	"hash/maphash"

	"rdmasim/fabric/capture"
)

// A mirror that copies packets both where they come in and where they go out
// shows everything twice at one interface. A copy is the same packet with the
// same IP identification shortly behind the first one; a retransmission comes
// later, and mostly with another identification.

const (
	copySlots  = 1 << 12
	copyWithin = 64 // packets behind the first one
	// manyCopies is the share of all packets, in per cent, from which on copies
	// are no accident.
	manyCopies = 30
)

// copies remembers the last packets by a hash.
type copies struct {
	seed  maphash.Seed
	slots []seenPacket
	found uint64
}

type seenPacket struct {
	hash  uint64
	index uint64
	iface int
}

// isCopy reports whether a packet is the same as one shortly before it.
func (c *copies) isCopy(f *capture.Frame, iface int, index uint64) bool {
	if c.slots == nil {
		c.seed, c.slots = maphash.MakeSeed(), make([]seenPacket, copySlots)
	}
	var key [64]byte
	s, d := f.Src.As16(), f.Dst.As16()
	copy(key[:], s[:])
	copy(key[16:], d[:])
	b := &f.BTH
	binary.LittleEndian.PutUint32(key[32:], b.PSN)
	binary.LittleEndian.PutUint32(key[36:], b.DestQP)
	binary.LittleEndian.PutUint16(key[40:], f.IPID)
	binary.LittleEndian.PutUint16(key[42:], f.SrcPort)
	binary.LittleEndian.PutUint32(key[44:], uint32(f.Payload))
	binary.LittleEndian.PutUint32(key[48:], f.Ext.AETH.MSN)
	key[52], key[53], key[54], key[55] = byte(b.Opcode), byte(f.Ext.AETH.Syndrome), byte(bit(b.AckReq)), byte(bit(b.Solicited))
	binary.LittleEndian.PutUint64(key[56:], f.Ext.RETH.VirtualAddress)
	h := maphash.Bytes(c.seed, key[:])
	p := &c.slots[h%copySlots]
	same := p.hash == h && p.iface == iface && index-p.index <= copyWithin
	if same {
		c.found++
		*p = seenPacket{} // a third one begins anew
		return true
	}
	*p = seenPacket{h, index, iface}
	return false
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
