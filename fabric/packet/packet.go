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
	PFC
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

// Packet is one frame as it crosses the fabric, copied by value.
type Packet struct {
	Sent    sim.Time // when the source started it; ACKs echo it for the round trip
	Src     int32    // endpoint of the source
	Dst     int32    // endpoint of the destination
	SrcQP   uint32
	DstQP   uint32 // 0 = not known yet: the responder finds its queue pair by Src and SrcQP
	PSN     uint32 // 24 bits. ACK: the PSN acknowledged; NAK: the PSN expected
	Aux     uint32 // ACK: message sequence number. Data without DstQP: low half of the connection's private data
	Aux2    uint32 // data without DstQP: upper half of the private data
	Size    uint32 // frame with FCS, without preamble and gap: what buffers account
	Payload uint32
	SrcPort uint16 // UDP source port
	DstPort uint16
	InPort  uint16 // port by which the switch received it
	Quanta  uint16 // PFC
	Kind    Kind
	Opcode  uint8 // verbs.Opcode of the message
	Prio    uint8 // priority on this hop
	DSCP    uint8
	ECN     uint8
	TTL     uint8
	Flags   uint8
	Classes uint8 // PFC: class-enable vector. Data without DstQP: number of the application
}
