package capture

import (
	"encoding/binary"
	"fmt"
)

// SizeBTH is the length of a base transport header in bytes.
const SizeBTH = 12

// BTH is the base transport header.
// Source: InfiniBand Architecture, volume 1, section 9.2; FECN and BECN: annex A17.
type BTH struct {
	Opcode    Opcode
	Solicited bool  // SE: the responder's completion raises an event
	Migrated  bool  // M: migration state; adapters send true
	Pad       uint8 // bytes of padding behind the payload, 0 to 3
	Version   uint8 // TVer, 0
	PKey      uint16
	FECN      bool // forward congestion
	BECN      bool // backward congestion: set in a CNP
	DestQP    uint32
	AckReq    bool
	PSN       uint32
}

// decode reads the header; b has SizeBTH bytes.
func (h *BTH) decode(b []byte) {
	_ = b[SizeBTH-1]
	h.Opcode = Opcode(b[0])
	h.Solicited, h.Migrated = b[1]&0x80 != 0, b[1]&0x40 != 0
	h.Pad, h.Version = b[1]>>4&3, b[1]&15
	h.PKey = binary.BigEndian.Uint16(b[2:])
	h.FECN, h.BECN = b[4]&0x80 != 0, b[4]&0x40 != 0
	h.DestQP = binary.BigEndian.Uint32(b[4:]) & Mask24
	h.AckReq = b[8]&0x80 != 0
	h.PSN = binary.BigEndian.Uint32(b[8:]) & Mask24
}

// encode writes the header; b has SizeBTH bytes.
func (h *BTH) encode(b []byte) {
	b[0] = byte(h.Opcode)
	b[1] = bit(h.Solicited, 0x80) | bit(h.Migrated, 0x40) | h.Pad&3<<4 | h.Version&15
	binary.BigEndian.PutUint16(b[2:], h.PKey)
	binary.BigEndian.PutUint32(b[4:], h.DestQP&Mask24)
	b[4] = bit(h.FECN, 0x80) | bit(h.BECN, 0x40)
	binary.BigEndian.PutUint32(b[8:], h.PSN&Mask24)
	b[8] = bit(h.AckReq, 0x80)
}

func (h *BTH) String() string {
	return fmt.Sprintf("%v QP=0x%06x PSN=%d", h.Opcode, h.DestQP, h.PSN)
}

// Mask24 is the width of PSNs, MSNs and queue pair numbers.
const Mask24 = 1<<24 - 1

// DefaultPKey is the partition key of a RoCE network.
const DefaultPKey = 0xffff

func bit(on bool, b byte) byte {
	if on {
		return b
	}
	return 0
}

// PSNDelta returns how far a is ahead of b, modulo 2^24 and signed: PSNs that
// are less than 2^23 behind are behind.
func PSNDelta(a, b uint32) int32 { return int32((a-b)<<8) >> 8 }
