package capture

import "encoding/binary"

// Sources of the extended headers: InfiniBand Architecture, volume 1, section 9.3.

// RETH says where an RDMA WRITE or READ goes.
type RETH struct {
	VirtualAddress uint64
	RKey           uint32
	Length         uint32 // of the whole message, in bytes
}

func (h *RETH) decode(b []byte) {
	h.VirtualAddress, h.RKey, h.Length = binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
}

func (h *RETH) encode(b []byte) {
	binary.BigEndian.PutUint64(b, h.VirtualAddress)
	binary.BigEndian.PutUint32(b[8:], h.RKey)
	binary.BigEndian.PutUint32(b[12:], h.Length)
}

// AETH acknowledges, or says why not.
type AETH struct {
	Syndrome Syndrome
	MSN      uint32 // messages completed, modulo 2^24
}

func (h *AETH) decode(b []byte) {
	h.Syndrome, h.MSN = Syndrome(b[0]), binary.BigEndian.Uint32(b)&Mask24
}

func (h *AETH) encode(b []byte) {
	binary.BigEndian.PutUint32(b, h.MSN&Mask24)
	b[0] = byte(h.Syndrome)
}

// Syndrome is the first byte of an AETH. Source: section 9.7.5.1, tables 43 to 45.
type Syndrome uint8

// Syndromes. An ACK carries credits in its lower five bits, an RNR NAK the code
// of its timer.
const (
	SyndromeAck            Syndrome = 0x1f // no credits
	SyndromeRNR            Syndrome = 0x20 // plus the code of the timer
	NakSequence            Syndrome = 0x60 // PSN sequence error
	NakInvalidRequest      Syndrome = 0x61
	NakRemoteAccess        Syndrome = 0x62
	NakRemoteOperation     Syndrome = 0x63
	NakInvalidRD           Syndrome = 0x64
	syndromeKind           Syndrome = 0x60
	syndromeValue          Syndrome = 0x1f
	syndromeNak            Syndrome = 0x60
	syndromeReserved       Syndrome = 0x40
	lastStandardNak                 = NakInvalidRD
	syndromeReservedTopBit Syndrome = 0x80
)

// IsAck reports whether everything up to the PSN has arrived.
func (s Syndrome) IsAck() bool { return s&syndromeKind == 0 && s&syndromeReservedTopBit == 0 }

// IsRNR reports whether the receiver was not ready.
func (s Syndrome) IsRNR() bool {
	return s&syndromeKind == SyndromeRNR && s&syndromeReservedTopBit == 0
}

// IsNak reports whether something is wrong other than a receiver not ready.
func (s Syndrome) IsNak() bool {
	return s&syndromeKind == syndromeNak && s&syndromeReservedTopBit == 0
}

// Value returns the lower five bits: credits, timer code or NAK code.
func (s Syndrome) Value() uint8 { return uint8(s & syndromeValue) }

func (s Syndrome) String() string {
	switch {
	case s.IsAck():
		return "ACK"
	case s.IsRNR():
		return "RNR NAK"
	case s.IsNak() && s <= lastStandardNak:
		return [...]string{"PSN sequence error", "invalid request", "remote access error", "remote operational error", "invalid RD request"}[s.Value()]
	}
	return "reserved syndrome"
}

// DETH is on datagrams.
type DETH struct {
	QKey  uint32
	SrcQP uint32
}

func (h *DETH) decode(b []byte) {
	h.QKey, h.SrcQP = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])&Mask24
}

func (h *DETH) encode(b []byte) {
	binary.BigEndian.PutUint32(b, h.QKey)
	binary.BigEndian.PutUint32(b[4:], h.SrcQP&Mask24)
}

// RDETH is on reliable datagrams. An XRCETH has the same form: its number is
// that of a shared receive queue.
type RDETH struct {
	Context uint32 // 24 bits
}

func (h *RDETH) decode(b []byte) { h.Context = binary.BigEndian.Uint32(b) & Mask24 }
func (h *RDETH) encode(b []byte) { binary.BigEndian.PutUint32(b, h.Context&Mask24) }

// ImmDt is immediate data.
type ImmDt struct {
	Data uint32
}

func (h *ImmDt) decode(b []byte) { h.Data = binary.BigEndian.Uint32(b) }
func (h *ImmDt) encode(b []byte) { binary.BigEndian.PutUint32(b, h.Data) }

// IETH names a key that the responder invalidates.
type IETH struct {
	RKey uint32
}

func (h *IETH) decode(b []byte) { h.RKey = binary.BigEndian.Uint32(b) }
func (h *IETH) encode(b []byte) { binary.BigEndian.PutUint32(b, h.RKey) }

// AtomicETH asks for an atomic operation on eight bytes.
type AtomicETH struct {
	VirtualAddress uint64
	RKey           uint32
	SwapAdd        uint64 // what is swapped in, or added
	Compare        uint64
}

func (h *AtomicETH) decode(b []byte) {
	h.VirtualAddress, h.RKey = binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:])
	h.SwapAdd, h.Compare = binary.BigEndian.Uint64(b[12:]), binary.BigEndian.Uint64(b[20:])
}

func (h *AtomicETH) encode(b []byte) {
	binary.BigEndian.PutUint64(b, h.VirtualAddress)
	binary.BigEndian.PutUint32(b[8:], h.RKey)
	binary.BigEndian.PutUint64(b[12:], h.SwapAdd)
	binary.BigEndian.PutUint64(b[20:], h.Compare)
}

// AtomicAckETH returns what was there before.
type AtomicAckETH struct {
	Original uint64
}

func (h *AtomicAckETH) decode(b []byte) { h.Original = binary.BigEndian.Uint64(b) }
func (h *AtomicAckETH) encode(b []byte) { binary.BigEndian.PutUint64(b, h.Original) }

// Extended are the extended headers of a packet; which of them are there is
// said by the opcode.
type Extended struct {
	RDETH        RDETH
	DETH         DETH
	RETH         RETH
	AtomicETH    AtomicETH
	AETH         AETH
	AtomicAckETH AtomicAckETH
	ImmDt        ImmDt
	IETH         IETH
}

type header interface {
	decode([]byte)
	encode([]byte)
}

// header returns the header of one bit of an Ext.
func (x *Extended) header(i int) header {
	switch Ext(1) << i {
	case ExtRDETH:
		return &x.RDETH
	case ExtDETH:
		return &x.DETH
	case ExtRETH:
		return &x.RETH
	case ExtAtomicETH:
		return &x.AtomicETH
	case ExtAETH:
		return &x.AETH
	case ExtAtomicAckETH:
		return &x.AtomicAckETH
	case ExtImmDt:
		return &x.ImmDt
	default:
		return &x.IETH
	}
}

// decode reads the headers of a set from b, and returns those that b holds.
func (x *Extended) decode(set Ext, b []byte) (have Ext) {
	for i, size := range extSizes {
		if set&(1<<i) == 0 {
			continue
		}
		if len(b) < size {
			break
		}
		x.header(i).decode(b[:size])
		b = b[size:]
		have |= 1 << i
	}
	return have
}

// encode appends the headers of a set.
func (x *Extended) encode(set Ext, b []byte) []byte {
	for i, size := range extSizes {
		if set&(1<<i) != 0 {
			n := len(b)
			b = append(b, make([]byte, size)...)
			x.header(i).encode(b[n:])
		}
	}
	return b
}
