// Package packet holds frames as small values with their sizes on the wire.
package packet

import "rdmasim/sim"

// Kind of a frame.
type Kind uint8

// Kinds of frames.
const (
	Data Kind = iota // a packet of a message
	Ack
	Nak
	CNP
	Corrupt // a frame whose invariant CRC does not hold: only its addresses count
	PFC     // from here on: pauses, which end at the next port
	Pause   // 802.3x: stops the whole link
)

// ECN codepoints, RFC 3168.
const (
	NotECT uint8 = 0
	ECT1   uint8 = 1
	ECT0   uint8 = 2
	CE     uint8 = 3
)

// Flags of a data packet or ACK.
const (
	FlagFirst  uint8 = 1 << iota // first packet of a message
	FlagLast                     // last packet of a message
	FlagAckReq                   // the responder must acknowledge this packet
	FlagEcho                     // ACK of a CE-marked packet (EchoOnAck feedback)
	FlagClose                    // the requester closes the queue pair after this message
	FlagRNR                      // NAK: receiver not ready
	FlagRetx                     // a retransmission
	FlagVXLAN                    // encapsulated between tunnel end points
)

// FlagConnect marks a data packet of a connection that the sender does not know
// the responder's queue pair of yet: Aux and DstQP hold the private data.
const FlagConnect = FlagEcho

// Packet is one frame as it crosses the fabric, copied by value. It has 56
// bytes, so that it fits a cache line together with a time or an index.
// wire.go says what its fields mean on the wire.
type Packet struct {
	Sent    sim.Time // when the source started it; ACKs echo it for the round trip
	Src     int32    // endpoint of the source
	Dst     int32    // endpoint of the destination
	SrcQP   uint32
	DstQP   uint32 // with FlagConnect: upper half of the private data
	PSN     uint32 // 24 bits. ACK: the PSN acknowledged; NAK: the PSN expected
	Aux     uint32 // ACK, NAK: MSN. With FlagConnect: lower half of the private data
	Size    uint16 // frame with FCS, without preamble and gap: what buffers account
	Payload uint16
	SrcPort uint16 // UDP source port
	DstPort uint16
	InPort  uint16 // port by which the switch received it
	Quanta  uint16 // PFC
	Kind    Kind
	Opcode  uint8 // operation, with OpResponse and the service: see wire.go
	Prio    uint8 // priority on this hop
	DSCP    uint8
	ECN     uint8
	TTL     uint8
	Flags   uint8
	Classes uint8  // PFC: class-enable vector. With FlagConnect: number of the application
	Ext     uint32 // what the extended header of this packet says: see wire.go
}

// MaxSize is the largest frame that a Packet can describe.
const MaxSize = 1<<16 - 1
