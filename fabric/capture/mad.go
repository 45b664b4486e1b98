package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// Management datagrams of connection management go to queue pair 1 as SENDs of
// 256 bytes. Sources: InfiniBand Architecture, volume 1, section 13.4 (the
// header) and chapter 12 (messages); annex A11 (what librdmacm puts into them).
const (
	SizeMAD     = 256
	sizeMADHead = 24
	// QKeyGSI is the Q_Key of queue pair 1.
	QKeyGSI = 0x80010000
	// GSI is the queue pair that such datagrams go to.
	GSI = 1

	madBaseVersion = 1
	madClassCM     = 7
	madVersionCM   = 2
	madMethodSend  = 3
)

// CMKind is the attribute of a message of connection management.
type CMKind uint16

// Messages of connection management.
const (
	CMReq     CMKind = 0x10 // request for communication
	CMMra     CMKind = 0x11 // message receipt acknowledgement
	CMRej     CMKind = 0x12 // reject
	CMRep     CMKind = 0x13 // reply to request
	CMRtu     CMKind = 0x14 // ready to use
	CMDreq    CMKind = 0x15 // disconnect
	CMDrep    CMKind = 0x16 // reply to disconnect
	CMSidrReq CMKind = 0x17 // service ID resolution
	CMSidrRep CMKind = 0x18
	CMLap     CMKind = 0x19 // load alternate path
	CMApr     CMKind = 0x1a // alternate path response
)

var cmKindNames = [...]string{"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"}

func (k CMKind) String() string {
	if k >= CMReq && k <= CMApr {
		return cmKindNames[k-CMReq]
	}
	return fmt.Sprintf("CM attribute 0x%x", uint16(k))
}

// serviceIP is what librdmacm's service IDs of RC and UC begin with: the port
// space TCP of annex A11; the port is in the lower 16 bits.
const serviceIP = 0x0000000001060000

// CM is a message of connection management: what it has depends on Kind.
type CM struct {
	Kind            CMKind
	Transaction     uint64
	Local, Remote   uint32 // communication IDs; a REQ has no Remote
	Service         uint64 // REQ
	QPN             uint32 // REQ, REP: of the sender; DREQ: of the receiver
	PSN             uint32 // REQ, REP: of the first packet that the sender will send
	Transport       uint8  // REQ: 0 RC, 1 UC
	ResponderRes    uint8  // REQ, REP
	InitiatorDepth  uint8
	RetryCount      uint8 // REQ
	RNRRetry        uint8 // REQ, REP
	AckTimeout      uint8 // REQ
	PathMTU         uint8 // REQ: 1 = 256 to 5 = 4096
	MaxRetries      uint8 // REQ: of the message itself
	ResponseTimeout uint8 // REQ
	Reason          uint16
	Src, Dst        netip.Addr // REQ: GIDs, addresses where they are mapped IPv4
	SrcPort         uint16     // REQ of librdmacm: of the client
}

// leastMAD is how much of a datagram must have been captured: up to the path MTU
// of a REQ. What was cut off is zero.
const leastMAD = sizeMADHead + 52

// decodeMAD reads a management datagram; false if it is none of connection
// management, or too short.
func (c *CM) decodeMAD(b []byte) bool {
	if n := len(b); n < SizeMAD && n >= leastMAD {
		b = append(append(make([]byte, 0, SizeMAD), b...), make([]byte, SizeMAD-n)...)
	}
	if len(b) < SizeMAD || b[0] != madBaseVersion || b[1] != madClassCM || b[2] != madVersionCM {
		return false
	}
	*c = CM{Kind: CMKind(binary.BigEndian.Uint16(b[16:])), Transaction: binary.BigEndian.Uint64(b[8:])}
	b = b[sizeMADHead:]
	c.Local, c.Remote = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	top24 := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) >> 8 }
	switch c.Kind {
	case CMReq:
		c.Remote = 0
		c.Service = binary.BigEndian.Uint64(b[8:])
		c.QPN, c.ResponderRes = top24(32), b[35]
		c.InitiatorDepth = b[39]
		c.ResponseTimeout, c.Transport = b[43]>>3, b[43]>>1&3
		c.PSN, c.RetryCount = top24(44), b[47]&7
		c.PathMTU, c.RNRRetry, c.MaxRetries = b[50]>>4, b[50]&7, b[51]>>4
		c.Src, c.Dst = gidAddr(b[56:72]), gidAddr(b[72:88])
		c.AckTimeout = b[95] >> 3
		if c.Service&^0xffff == serviceIP {
			c.SrcPort = binary.BigEndian.Uint16(b[142:])
		}
	case CMRep:
		c.QPN, c.PSN = top24(12), top24(20)
		c.ResponderRes, c.InitiatorDepth, c.RNRRetry = b[24], b[25], b[27]>>5
	case CMRej:
		c.Reason = binary.BigEndian.Uint16(b[10:])
	case CMDreq:
		c.QPN = top24(8)
	case CMMra, CMRtu, CMDrep:
	default:
		c.Local, c.Remote = 0, 0
	}
	return true
}

func gidAddr(b []byte) netip.Addr { return netip.AddrFrom16([16]byte(b)).Unmap() }

// AppendMAD appends the 256 bytes of the datagram.
func (c *CM) AppendMAD(out []byte) []byte {
	n := len(out)
	out = append(out, make([]byte, SizeMAD)...)
	b := out[n:]
	b[0], b[1], b[2], b[3] = madBaseVersion, madClassCM, madVersionCM, madMethodSend
	binary.BigEndian.PutUint64(b[8:], c.Transaction)
	binary.BigEndian.PutUint16(b[16:], uint16(c.Kind))
	b = b[sizeMADHead:]
	binary.BigEndian.PutUint32(b, c.Local)
	if c.Kind != CMReq {
		binary.BigEndian.PutUint32(b[4:], c.Remote)
	}
	top24 := func(at int, v uint32, low uint8) { binary.BigEndian.PutUint32(b[at:], v<<8|uint32(low)) }
	switch c.Kind {
	case CMReq:
		c.encodeReq(b)
	case CMRep:
		top24(12, c.QPN, 0)
		top24(20, c.PSN, 0)
		b[24], b[25], b[27] = c.ResponderRes, c.InitiatorDepth, c.RNRRetry<<5
	case CMRej:
		binary.BigEndian.PutUint16(b[10:], c.Reason)
	case CMDreq:
		top24(8, c.QPN, 0)
	}
	return out
}

// encodeReq writes a request; offsets are those of the message behind the header
// of the datagram.
func (c *CM) encodeReq(b []byte) {
	binary.BigEndian.PutUint64(b[8:], c.Service)
	binary.BigEndian.PutUint32(b[32:], c.QPN<<8|uint32(c.ResponderRes))
	b[39] = c.InitiatorDepth
	b[43] = c.ResponseTimeout<<3 | c.Transport&3<<1 | 1 // end-to-end flow control
	binary.BigEndian.PutUint32(b[44:], c.PSN<<8|uint32(c.ResponseTimeout)<<3|uint32(c.RetryCount&7))
	binary.BigEndian.PutUint16(b[48:], DefaultPKey)
	b[50], b[51] = c.PathMTU<<4|c.RNRRetry&7, c.MaxRetries<<4
	binary.BigEndian.PutUint16(b[52:], 0xffff) // permissive LIDs: there are none in RoCE
	binary.BigEndian.PutUint16(b[54:], 0xffff)
	src, dst := gid(c.Src), gid(c.Dst)
	copy(b[56:], src[:])
	copy(b[72:], dst[:])
	b[91], b[93] = 2, 64 // packet rate 2.5 Gb/s, the lowest code; hop limit
	b[94], b[95] = 8, c.AckTimeout<<3
	if c.Service&^0xffff != serviceIP {
		return
	}
	// The header that librdmacm's private data begin with: version, IP version,
	// port and addresses.
	p := b[140:]
	p[1] = 6 << 4
	if c.Src.Is4() && c.Dst.Is4() {
		p[1] = 4 << 4
		s, d := c.Src.As4(), c.Dst.As4()
		copy(p[16:], s[:])
		copy(p[32:], d[:])
	} else {
		copy(p[4:], src[:])
		copy(p[20:], dst[:])
	}
	binary.BigEndian.PutUint16(p[2:], c.SrcPort)
}

// CM returns the message of connection management that a frame carries, false
// if it carries none.
func (f *Frame) CM() (c CM, ok bool) {
	if f.BTH.DestQP != GSI || f.BTH.Opcode != OpcodeUDSendOnly || f.Payload < SizeMAD {
		return c, false
	}
	ok = c.decodeMAD(f.Data)
	return c, ok
}

// LayerTypeCM is a message of connection management: the payload of datagrams
// to queue pair 1.
var LayerTypeCM = gopacket.RegisterLayerType(1804, gopacket.LayerTypeMetadata{Name: "CM", Decoder: gopacket.DecodeFunc(decodeCM)})

// CMLayer is a message of connection management with the header of its datagram.
type CMLayer struct {
	layers.BaseLayer
	CM
}

// LayerType returns LayerTypeCM.
func (l *CMLayer) LayerType() gopacket.LayerType { return LayerTypeCM }

// SerializeTo writes the datagram.
func (l *CMLayer) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(SizeMAD)
	if err == nil {
		copy(p, l.AppendMAD(nil))
	}
	return err
}

func decodeCM(data []byte, p gopacket.PacketBuilder) error {
	l := &CMLayer{}
	if !l.decodeMAD(data) {
		return errors.New("management datagram that is none of connection management")
	}
	l.Contents = data[:SizeMAD]
	p.AddLayer(l)
	return nil
}
