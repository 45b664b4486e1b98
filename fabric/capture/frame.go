package capture

import (
	"net/netip"
)

// Numbers of protocols and ports.
const (
	// RoCEv2Port is the UDP destination port of RoCEv2 (IANA).
	RoCEv2Port = 4791
	// VXLANPort is the UDP destination port of VXLAN, RFC 7348.
	VXLANPort = 4789

	EtherTypeIPv4   = 0x0800
	EtherTypeIPv6   = 0x86dd
	EtherTypeVLAN   = 0x8100
	EtherTypeQinQ   = 0x88a8
	EtherTypeRoCEv1 = 0x8915

	protoUDP      = 17
	sizeEthernet  = 14
	sizeVLAN      = 4
	sizeIPv4      = 20
	sizeIPv6      = 40
	sizeUDP       = 8
	sizeVXLAN     = 8
	maxVLANs      = 4      // tags that are read; a frame with more is no RDMA
	fragmentMask  = 0x3fff // more fragments, and the offset
	fragmentStart = 0x1fff // the offset
)

// FrameKind says what a frame turned out to be.
type FrameKind uint8

// Kinds of frames.
const (
	KindOther      FrameKind = iota // not RDMA
	KindRoCEv2                      // UDP port 4791
	KindRoCEv1                      // EtherType 0x8915
	KindInfiniBand                  // with an LRH
	KindPause                       // PFC or 802.3x
	KindFragment                    // a fragment of IP that may hold RoCEv2
	KindMalformed                   // RDMA by its type, and not by what follows
	FrameKinds
)

var frameKindNames = [FrameKinds]string{"other", "RoCEv2", "RoCEv1", "InfiniBand", "pause", "fragment", "malformed"}

func (k FrameKind) String() string { return frameKindNames[min(k, FrameKinds-1)] }

// RDMA reports whether the frame has a base transport header.
func (k FrameKind) RDMA() bool { return k >= KindRoCEv2 && k <= KindInfiniBand }

// ICRCState is what is known of an ICRC.
type ICRCState uint8

// States of an ICRC.
const (
	ICRCAbsent  ICRCState = iota // not captured
	ICRCValid                    // it is right
	ICRCInvalid                  // it is wrong
)

// ECN codepoints of IP, RFC 3168.
const (
	NotECT uint8 = 0
	ECT1   uint8 = 1
	ECT0   uint8 = 2
	CE     uint8 = 3
)

// VLAN is an 802.1Q tag.
type VLAN struct {
	ID       uint16
	Priority uint8 // PCP
	DEI      bool
}

// Frame is one captured frame, taken apart. Decode fills it without an
// allocation; a Frame is used again for the next one.
type Frame struct {
	Kind      FrameKind
	Why       string // of KindMalformed: what does not fit
	Truncated bool   // the capture does not hold all of it
	ICRC      ICRCState

	SrcMAC, DstMAC [6]byte
	VLANs          [maxVLANs]VLAN // outermost first
	VLANCount      int
	Tunnelled      bool // within VXLAN, Geneve, GRE, ERSPAN or IP: addresses, ports and ICRC are those inside
	VNI            uint32
	OuterECN       uint8

	Src, Dst         netip.Addr // IP addresses or GIDs; of local InfiniBand packets, LIDs as ::lid
	DSCP, ECN        uint8
	TTL              uint8
	IPID             uint16
	SrcPort, DstPort uint16

	LRH  LRH
	BTH  BTH
	Ext  Extended
	Have Ext // the extended headers that were captured: all of them, unless the frame is truncated
	// Payload is how many bytes the packet carries, padding excluded, by the
	// lengths of its headers: it may be more than was captured.
	Payload int
	// Data is what was captured of it.
	Data []byte

	Pause Pause
}

// Info describes the opcode of an RDMA packet.
func (f *Frame) Info() *OpcodeInfo { return f.BTH.Opcode.Info() }

// CE reports whether the frame was marked, inside or outside of a tunnel.
func (f *Frame) CE() bool { return f.ECN == CE || f.OuterECN == CE }

// ECT reports whether the frame could be marked, or was.
func (f *Frame) ECT() bool { return f.ECN != NotECT }

// Priority returns the PCP of the outermost tag; false without one.
func (f *Frame) Priority() (uint8, bool) { return f.VLANs[0].Priority, f.VLANCount > 0 }

// malformed ends decoding.
func (f *Frame) malformed(why string) { f.Kind, f.Why = KindMalformed, why }
