package capture

import "fmt"

// Opcode is the first byte of a base transport header: three bits of service
// and five of operation. Source: InfiniBand Architecture, volume 1, table 38.
type Opcode uint8

// Transport is the service of an opcode, its upper three bits.
type Transport uint8

// Transports.
const (
	TransportRC  Transport = 0
	TransportUC  Transport = 1
	TransportRD  Transport = 2
	TransportUD  Transport = 3
	TransportCNP Transport = 4 // RoCEv2 congestion notification, annex A17
	TransportXRC Transport = 5
)

var transportNames = [8]string{"RC", "UC", "RD", "UD", "CNP", "XRC", "manufacturer", "manufacturer"}

func (t Transport) String() string { return transportNames[t&7] }

// Operations, the lower five bits of an opcode.
const (
	opSendFirst uint8 = iota
	opSendMiddle
	opSendLast
	opSendLastImm
	opSendOnly
	opSendOnlyImm
	opWriteFirst
	opWriteMiddle
	opWriteLast
	opWriteLastImm
	opWriteOnly
	opWriteOnlyImm
	opReadRequest
	opReadFirst
	opReadMiddle
	opReadLast
	opReadOnly
	opAck
	opAtomicAck
	opCompareSwap
	opFetchAdd
	opResync
	opSendLastInv
	opSendOnlyInv
	operations
)

// Opcodes that are asked for by name. Others are Transport.Opcode of a Verb
// and a Place.
const (
	OpcodeReadRequest  Opcode = 0x0c
	OpcodeAck          Opcode = 0x11
	OpcodeAtomicAck    Opcode = 0x12
	OpcodeCompareSwap  Opcode = 0x13
	OpcodeFetchAdd     Opcode = 0x14
	OpcodeUDSendOnly   Opcode = 0x64
	OpcodeCNP          Opcode = 0x81
	OpcodeRCSendOnly   Opcode = 0x04
	OpcodeRCWriteOnly  Opcode = 0x0a
	OpcodeRCWriteFirst Opcode = 0x06
	// OpcodeReadFeedback is what a simulated NIC sends for READ responses where
	// congestion control lives on ACKs: the first of those that the standard
	// leaves to manufacturers. It has an AETH.
	OpcodeReadFeedback Opcode = 0xc0
)

// Verb is what an opcode does, by the kind of message it is part of.
type Verb uint8

// Verbs of packets. Those up to VerbFetchAdd are requests.
const (
	VerbSend Verb = iota
	VerbWrite
	VerbRead
	VerbCompareSwap
	VerbFetchAdd
	VerbReadResponse
	VerbAck
	VerbAtomicAck
	VerbCNP
	VerbResync
	VerbUnknown
)

var verbNames = [...]string{"SEND", "WRITE", "READ", "CMP_SWAP", "FETCH_ADD", "READ_RESPONSE", "ACK", "ATOMIC_ACK", "CNP", "RESYNC", "unknown"}

func (v Verb) String() string { return verbNames[min(v, VerbUnknown)] }

// Request reports whether packets of the verb go from requester to responder.
func (v Verb) Request() bool { return v <= VerbFetchAdd }

// Place of a packet in its message.
type Place uint8

// Places. An only packet is first and last.
const (
	Middle Place = 0
	First  Place = 1
	Last   Place = 2
	Only   Place = First | Last
)

// Ext is a set of extended headers, in the order in which they are sent.
type Ext uint8

// Extended headers.
const (
	ExtRDETH Ext = 1 << iota
	ExtDETH
	ExtRETH
	ExtAtomicETH
	ExtAETH
	ExtAtomicAckETH
	ExtImmDt
	ExtIETH
)

// extSizes are their lengths in bytes, by bit.
var extSizes = [8]int{4, 8, 16, 28, 4, 8, 4, 4}

// Size returns the length of the headers in bytes.
func (e Ext) Size() (n int) {
	for i, s := range extSizes {
		if e&(1<<i) != 0 {
			n += s
		}
	}
	return n
}

// OpcodeInfo is what an opcode says of its packet.
type OpcodeInfo struct {
	Name      string // WRITE First, as in the tables of the standard; "" for what is reserved
	Transport Transport
	Verb      Verb
	Place     Place
	Ext       Ext
}

// Valid reports whether the opcode is one of the standard.
func (i *OpcodeInfo) Valid() bool { return i.Name != "" }

// operation describes the lower five bits.
type operation struct {
	name  string
	verb  Verb
	place Place
	ext   Ext
}

var operationTable = [operations]operation{
	opSendFirst:    {"SEND First", VerbSend, First, 0},
	opSendMiddle:   {"SEND Middle", VerbSend, Middle, 0},
	opSendLast:     {"SEND Last", VerbSend, Last, 0},
	opSendLastImm:  {"SEND Last with Immediate", VerbSend, Last, ExtImmDt},
	opSendOnly:     {"SEND Only", VerbSend, Only, 0},
	opSendOnlyImm:  {"SEND Only with Immediate", VerbSend, Only, ExtImmDt},
	opWriteFirst:   {"RDMA WRITE First", VerbWrite, First, ExtRETH},
	opWriteMiddle:  {"RDMA WRITE Middle", VerbWrite, Middle, 0},
	opWriteLast:    {"RDMA WRITE Last", VerbWrite, Last, 0},
	opWriteLastImm: {"RDMA WRITE Last with Immediate", VerbWrite, Last, ExtImmDt},
	opWriteOnly:    {"RDMA WRITE Only", VerbWrite, Only, ExtRETH},
	opWriteOnlyImm: {"RDMA WRITE Only with Immediate", VerbWrite, Only, ExtRETH | ExtImmDt},
	opReadRequest:  {"RDMA READ Request", VerbRead, Only, ExtRETH},
	opReadFirst:    {"RDMA READ response First", VerbReadResponse, First, ExtAETH},
	opReadMiddle:   {"RDMA READ response Middle", VerbReadResponse, Middle, 0},
	opReadLast:     {"RDMA READ response Last", VerbReadResponse, Last, ExtAETH},
	opReadOnly:     {"RDMA READ response Only", VerbReadResponse, Only, ExtAETH},
	opAck:          {"Acknowledge", VerbAck, Only, ExtAETH},
	opAtomicAck:    {"ATOMIC Acknowledge", VerbAtomicAck, Only, ExtAETH | ExtAtomicAckETH},
	opCompareSwap:  {"CmpSwap", VerbCompareSwap, Only, ExtAtomicETH},
	opFetchAdd:     {"FetchAdd", VerbFetchAdd, Only, ExtAtomicETH},
	opResync:       {"RESYNC", VerbResync, Only, 0},
	opSendLastInv:  {"SEND Last with Invalidate", VerbSend, Last, ExtIETH},
	opSendOnlyInv:  {"SEND Only with Invalidate", VerbSend, Only, ExtIETH},
}

// opcodeTable describes every byte.
var opcodeTable = func() (t [256]OpcodeInfo) {
	for i := range t {
		t[i] = describe(Opcode(i))
	}
	return t
}()

// describe says which operations a service has and what it adds to their
// headers: reliable datagrams an RDETH and, on requests, a DETH; unreliable
// datagrams a DETH; extended connections, on requests, an XRCETH, which is as
// long as an RDETH.
func describe(o Opcode) OpcodeInfo {
	t, low := Transport(o>>5), uint8(o)&0x1f
	info := OpcodeInfo{Transport: t, Verb: VerbUnknown, Place: Only}
	if o == OpcodeCNP {
		return OpcodeInfo{Name: "Congestion Notification", Transport: t, Verb: VerbCNP, Place: Only}
	}
	if o == OpcodeReadFeedback {
		info.Ext = ExtAETH
		return info
	}
	if low >= operations {
		return info
	}
	op := &operationTable[low]
	has := false
	switch t {
	case TransportRC:
		has = low != opResync
	case TransportXRC:
		has = low != opResync
		if has && op.verb.Request() {
			info.Ext = ExtRDETH
		}
	case TransportUC:
		has = low <= opWriteOnlyImm
	case TransportRD:
		has = low <= opResync
		info.Ext = ExtRDETH
		if op.verb.Request() || op.verb == VerbResync {
			info.Ext |= ExtDETH
		}
	case TransportUD:
		has = low == opSendOnly || low == opSendOnlyImm
		info.Ext = ExtDETH
	}
	if !has {
		info.Ext = 0
		return info
	}
	info.Name, info.Verb, info.Place = op.name, op.verb, op.place
	info.Ext |= op.ext
	return info
}

// Info describes the opcode.
func (o Opcode) Info() *OpcodeInfo { return &opcodeTable[o] }

// String returns service and operation, such as "RC SEND Only".
func (o Opcode) String() string {
	i := o.Info()
	switch {
	case !i.Valid():
		return fmt.Sprintf("reserved opcode 0x%02x", uint8(o))
	case i.Verb == VerbCNP:
		return "CNP"
	}
	return i.Transport.String() + " " + i.Name
}

// Opcode returns the opcode of a packet of a message. ext says whether its last
// packet carries immediate data (ExtImmDt) or a key to invalidate (ExtIETH). It
// is false where the service has no such packet.
func (t Transport) Opcode(v Verb, p Place, ext Ext) (Opcode, bool) {
	ext &= ExtImmDt | ExtIETH
	if p&Last == 0 {
		ext = 0
	}
	for low := range operations {
		op := &operationTable[low]
		if op.verb == v && op.place == p && op.ext&(ExtImmDt|ExtIETH) == ext {
			o := Opcode(uint8(t)<<5 | low)
			return o, o.Info().Valid()
		}
	}
	return 0, false
}
