package packet

// What the fields of a packet of a queue pair mean on the wire.
//
// Kind and Opcode together say which BTH opcode a packet has: the low four bits
// of Opcode are the verbs.Opcode of the message (0 WRITE, 1 WRITE_WITH_IMM,
// 2 SEND, 3 SEND_WITH_IMM, 4 READ, 5 CMP_SWAP, 6 FETCH_ADD, 7 SEND_WITH_INV),
// OpResponse is set in what answers it, and the upper three bits are those of
// the BTH opcode: 000 RC, 001 UC, 011 UD. FlagFirst and FlagLast make FIRST,
// MIDDLE, LAST and ONLY.
//
//	Kind  Opcode            packet               Aux       Ext
//	Data  WRITE*            first or only        -         RETH length, if not also last (only: Payload)
//	Data  WRITE_IMM SEND_IMM last or only        -         immediate data
//	Data  SEND_INV          last or only         -         rkey
//	Data  SEND* of UD       only                 Q_Key     immediate data; DETH source QP is SrcQP
//	Data  SEND of UD to QP 1 connection mgmt.    QPN       CM attribute, reason from bit 16 on
//	Data  READ              request              -         RETH length (what is still asked for)
//	Data  atomic            request              -         -      (operands are not in the packet)
//	Data  READ|OpResponse   response             -         MSN (first, last and only have an AETH)
//	Ack   any               acknowledge          MSN       syndrome
//	Nak   any               acknowledge          MSN       syndrome
//	Ack   atomic|OpResponse atomic acknowledge   MSN       syndrome
//	Ack   READ|OpResponse   feedback on responses payload   syndrome (of no standard)
//	CNP   -                 CNP                  -         -
//
// "-" is unspecified: with FlagConnect Aux holds private data, and a packet
// that carries real bytes keeps the handle of its payload there.

// Bits of Packet.Opcode.
const (
	OpMask     uint8 = 0x0f
	OpResponse uint8 = 0x10
	ServiceRC  uint8 = 0 << 5
	ServiceUC  uint8 = 1 << 5
	ServiceUD  uint8 = 3 << 5
	opService  uint8 = 7 << 5
)

// Op returns the verbs.Opcode of the packet's message.
func (p *Packet) Op() uint8 { return p.Opcode & OpMask }

// IsResponse reports whether the packet is a READ response or an ATOMIC
// acknowledge.
func (p *Packet) IsResponse() bool { return p.Opcode&OpResponse != 0 }

// Service returns the upper three bits of the BTH opcode.
func (p *Packet) Service() uint8 { return p.Opcode & opService }

// GSI is the queue pair of connection management. Its packets name the queue
// pair that is to be connected, of the side that asks, in Aux, and their message
// (an attribute of InfiniBand Architecture, volume 1, chapter 12) in Ext; Classes
// is the number of the application, Quanta the code of the path MTU.
const (
	GSI            = 1
	CMReq   uint32 = 0x10
	CMRej   uint32 = 0x12
	CMRep   uint32 = 0x13
	CMRtu   uint32 = 0x14
	CMDreq  uint32 = 0x15
	CMDrep  uint32 = 0x16
	CMShift        = 16 // of the reason of a CMRej
)

// Accepted returns the number that a queue pair has on the wire which a peer's
// connection has made: of the endpoint and the number that asked for it.
func Accepted(endpoint int32, qpn uint32) uint32 { return acceptedQPN(endpoint, qpn) }

// Syndromes of acknowledges, in Ext. Source: InfiniBand Architecture, volume 1,
// tables 43 to 46.
const (
	SyndromeAck       = 0x1f // no credits are told
	SyndromeRNR       = 0x20 // plus the timer code in the low five bits
	SyndromeSequence  = 0x60 // NAK: PSN sequence error
	SyndromeInvalid   = 0x61 // NAK: invalid request
	SyndromeAccess    = 0x62 // NAK: remote access error
	SyndromeOperation = 0x63 // NAK: remote operational error
	SyndromeMask      = 0xff
	SackShift         = 8       // selective repeat: from here on, the PSN of the packet that arrived
	AcceptedQP        = 1 << 23 // bit of a queue pair number: made by a peer's Connect
)

// WireQPs returns the queue pair numbers that the packet has on the wire as
// those of its source and of its destination. A queue pair that came to be by
// the peer's FlagConnect is named inside the model by a handle with AcceptedQP,
// which the peer does not know at first; on the wire it has a number that
// follows from its peer's, the same in every packet of the conversation.
func (p *Packet) WireQPs() (src, dst uint32) {
	switch {
	case p.Flags&FlagConnect != 0 && p.Kind == Data:
		return p.SrcQP, acceptedQPN(p.Src, p.SrcQP)
	case p.DstQP&AcceptedQP != 0:
		return p.SrcQP, acceptedQPN(p.Src, p.SrcQP)
	case p.SrcQP&AcceptedQP != 0:
		return acceptedQPN(p.Dst, p.DstQP), p.DstQP
	}
	return p.SrcQP, p.DstQP
}

// acceptedQPN mixes a requester's address and number into 23 bits (the
// multiplier is that of Fibonacci hashing, 2^32 divided by the golden ratio).
func acceptedQPN(endpoint int32, qpn uint32) uint32 {
	h := (uint32(endpoint)<<17 ^ uint32(endpoint)>>15 ^ qpn) * 0x9e3779b1
	return AcceptedQP | h>>9
}
