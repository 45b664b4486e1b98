package capture

import (
	"encoding/binary"
	"net/netip"
)

// Sizes of InfiniBand's own headers in bytes.
const (
	SizeLRH  = 8
	SizeGRH  = 40
	SizeVCRC = 2
)

// LRH is the local routing header of InfiniBand.
// Source: InfiniBand Architecture, volume 1, section 7.7.
type LRH struct {
	VL      uint8
	Version uint8
	SL      uint8
	Next    LinkNext
	DLID    uint16
	Words   uint16 // length from LRH to ICRC in units of four bytes
	SLID    uint16
}

// LinkNext says what follows an LRH.
type LinkNext uint8

// What follows.
const (
	LinkRaw   LinkNext = 0
	LinkIPv6  LinkNext = 1
	LinkLocal LinkNext = 2 // BTH
	LinkGRH   LinkNext = 3
)

func (h *LRH) decode(b []byte) {
	h.VL, h.Version = b[0]>>4, b[0]&15
	h.SL, h.Next = b[1]>>4, LinkNext(b[1]&3)
	h.DLID = binary.BigEndian.Uint16(b[2:])
	h.Words = binary.BigEndian.Uint16(b[4:]) & 0x7ff
	h.SLID = binary.BigEndian.Uint16(b[6:])
}

func (h *LRH) encode(b []byte) {
	b[0], b[1] = h.VL<<4|h.Version&15, h.SL<<4|byte(h.Next)&3
	binary.BigEndian.PutUint16(b[2:], h.DLID)
	binary.BigEndian.PutUint16(b[4:], h.Words&0x7ff)
	binary.BigEndian.PutUint16(b[6:], h.SLID)
}

// GRH is the global routing header of InfiniBand and RoCEv1, in the form of an
// IPv6 header. Source: section 8.3.
type GRH struct {
	TrafficClass uint8
	FlowLabel    uint32 // 20 bits
	Length       uint16 // of what follows, ICRC included
	Next         uint8  // GRHNextBTH
	HopLimit     uint8
	SGID, DGID   netip.Addr
}

// GRHNextBTH is the next header of a GRH that a BTH follows.
const GRHNextBTH = 0x1b

func (h *GRH) decode(b []byte) {
	v := binary.BigEndian.Uint32(b)
	h.TrafficClass, h.FlowLabel = uint8(v>>20), v&0xfffff
	h.Length, h.Next, h.HopLimit = binary.BigEndian.Uint16(b[4:]), b[6], b[7]
	h.SGID, h.DGID = netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
}

func (h *GRH) encode(b []byte) {
	binary.BigEndian.PutUint32(b, 6<<28|uint32(h.TrafficClass)<<20|h.FlowLabel&0xfffff)
	binary.BigEndian.PutUint16(b[4:], h.Length)
	b[6], b[7] = h.Next, h.HopLimit
	s, d := gid(h.SGID), gid(h.DGID)
	copy(b[8:], s[:])
	copy(b[24:], d[:])
}

// gid returns an address as a GID; the zero address is ::.
func gid(a netip.Addr) (g [16]byte) {
	if a.IsValid() {
		g = a.As16()
	}
	return g
}
