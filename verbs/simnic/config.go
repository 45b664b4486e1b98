// Package simnic is a NIC made of packets: the verbs contract on the simulated
// fabric, with PSNs, ACK, NAK and RNR, timeouts, CNPs and per-queue-pair pacing
// by a reaction point.
package simnic

import (
	"rdmasim/congestion"
	"rdmasim/fabric"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// Sizes of headers in bytes. Sources: IEEE 802.3; RFC 791, 768, 8200;
// InfiniBand Architecture, volume 1, chapter 9 and annex A17 (RoCEv2).
const (
	SizeEthernet = 14
	SizeFCS      = 4
	SizeVLAN     = 4
	SizeIPv4     = 20
	SizeIPv6     = 40
	SizeUDP      = 8
	SizeBTH      = 12
	SizeRETH     = 16
	SizeAETH     = 4
	SizeIETH     = 4
	SizeDETH     = 8
	SizeAtomic   = 28 // AtomicETH
	SizeImmDt    = 4
	SizeCNPPad   = 16
	SizeICRC     = 4
	// SizeAtomicAck is the AtomicAckETH that follows the AETH.
	SizeAtomicAck = 8
	SizePFC       = 64
)

// FrameSizes are the bytes around payloads.
type FrameSizes struct {
	Payload  int  // of a full packet: the path MTU
	Header   int  // of a data frame beside its payload, without extended headers
	Ack, CNP int  // whole frames
	Plain    bool // no RETH, no padding: Header is all there is
}

// RoCEv2 returns the true sizes for a path MTU and an encapsulation: none,
// vlan, ipv6 or vxlan.
func RoCEv2(mtu int, encapsulation string) FrameSizes {
	base := SizeEthernet + SizeIPv4 + SizeUDP + SizeBTH + SizeICRC + SizeFCS
	switch encapsulation {
	case "vlan":
		base += SizeVLAN
	case "ipv6":
		base += SizeIPv6 - SizeIPv4
	case "vxlan":
		base += fabric.VXLANHeader
	}
	return FrameSizes{Payload: mtu, Header: base, Ack: base + SizeAETH, CNP: base + SizeCNPPad}
}

// data returns the frame size of a data packet.
func (f *FrameSizes) data(payload int, first bool, op verbs.Opcode, last bool) int {
	if f.Plain {
		return f.Header + payload
	}
	n := f.Header + (payload+3)&^3
	if first && (op == verbs.OpWrite || op == verbs.OpWriteImm) {
		n += SizeRETH
	}
	if op == verbs.OpRead && (first || last) { // of a response
		n += SizeAETH
	}
	if last && (op == verbs.OpWriteImm || op == verbs.OpSendImm || op == verbs.OpSendInv) {
		n += SizeImmDt // IETH is as long
	}
	return n
}

// Data returns the frame of a packet: its place in the message decides about
// extended headers.
func (f *FrameSizes) Data(payload int, first bool, op verbs.Opcode, last bool) sim.Bytes {
	return sim.Bytes(f.data(payload, first, op, last))
}

// Request returns the frame of a READ or atomic request.
func (f *FrameSizes) Request(op verbs.Opcode) sim.Bytes {
	if op == verbs.OpRead {
		return sim.Bytes(f.Header + SizeRETH)
	}
	return sim.Bytes(f.Header + SizeAtomic)
}

// Path is what a queue pair knows of its way through the fabric.
type Path struct {
	BaseRTT sim.Duration // of a full frame and its ACK, without queues
	// Ideal returns how long a message alone on the path takes, from posting
	// to the arrival of the final ACK.
	Ideal func(length sim.Bytes, op verbs.Opcode) sim.Duration
	// Sent returns how long it takes until the last packet has left, which is
	// when a message without acknowledgement is complete. nil = as Ideal.
	Sent func(length sim.Bytes, op verbs.Opcode) sim.Duration
	// There and Back are the ports that send, from the host on and from the peer
	// on; Spread says that switches spread packets over others too.
	There, Back []trace.ObjectID
	Spread      bool
}

// Config describes a NIC.
type Config struct {
	Name      string
	Node      int     // index of the node
	Endpoints []int32 // address of each port
	Ports     []fabric.PortConfig
	PeerIDs   []trace.ObjectID // the switch ports at the other ends
	Sizes     FrameSizes
	Algorithm congestion.Algorithm

	Priority, DSCP       uint8
	AckPriority, AckDSCP int // -1 = those of the data
	CNPPriority, CNPDSCP uint8
	TTL                  uint8    // of every packet sent, IPv4 time to live
	AckUnpausable        bool     // ACKs leave the NIC whatever is paused
	PriorityDSCP         [8]uint8 // DSCP of data sent with another priority than Priority

	AckEvery     int
	GoBack0      bool
	NoDupAck     bool // duplicates are not acknowledged again
	NackInterval sim.Duration
	Timeout      sim.Duration // local ACK timeout, 0 = never
	RetryCount   int
	RNRTimer     uint8 // code
	RNRRetry     int   // 7 = for ever
	MaxRDAtomic  int   // READs and atomics that a queue pair has outstanding, 0 = 16
	// NoReadFeedback leaves READ responses without feedback to their sender's
	// reaction point, where that lives on ACKs.
	NoReadFeedback bool

	TimeoutPolicy TimeoutPolicy
	IRN           *IRN // nil = go-back
	Window        sim.Bytes
	MaxMessages   int // per send queue, where the queue pair gives none; 0 = unlimited

	Drain    sim.Rate // 0 = line rate
	RxBuffer int64
	RxXoff   int64
	// PauseWatchdog is how long a pause of the NIC's own may last; 0 = for ever.
	PauseWatchdog sim.Duration

	// SourcePort chooses the UDP source port of the nth queue pair to a peer.
	SourcePort func(src, dst int32, n int) uint16
	// Path describes the way of a queue pair. It is called on the NIC's own thread.
	Path func(src, dst int32, sport, dport uint16, prio uint8) Path
	// EndpointName returns the host of an endpoint.
	EndpointName func(int32) string

	Host  HostCosts
	Setup *Setup // of connections; nil = they are there at once

	// Memory is what the NICs of a fabric share to carry real bytes; nil = sizes
	// are all that is simulated, and there is no verbs.Device.
	Memory *Memory

	Rand      func(name string) *sim.Rand
	Sink      *trace.Sink
	Names     *trace.Names
	Interval  sim.Duration
	SeriesQPs int  // queue pairs that have series
	PauseLog  bool // pause events go to the sink
	Account   bool // the time of messages is accounted for
}

// RoCEv2Port is the UDP destination port of RoCEv2 (IANA).
const RoCEv2Port = 4791
