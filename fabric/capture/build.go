package capture

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Packet describes a RoCEv2 packet to be written. What is zero is filled in
// where the wire allows one value only: lengths, checksums, padding, ICRC.
type Packet struct {
	SrcMAC, DstMAC   [6]byte
	VLAN             *VLAN
	Src, Dst         netip.Addr // both IPv4 or both IPv6
	DSCP, ECN        uint8
	TTL              uint8
	IPID             uint16
	FlowLabel        uint32
	SrcPort, DstPort uint16 // destination 0 = 4791
	BTH              BTH
	Ext              Extended
	Payload          int    // bytes, padding excluded
	Fill             byte   // of which each is this plus its index; 0 with Zero
	Zero             bool   // the payload is all zero
	Body             []byte // the payload, instead of Fill and Zero; Payload is its length
	VXLAN            *Tunnel
}

// Tunnel is what is around a packet in VXLAN.
type Tunnel struct {
	SrcMAC, DstMAC [6]byte // outside; those of the packet are inside
	Src, Dst       netip.Addr
	ECN            uint8
	TTL            uint8
	SrcPort        uint16
	VNI            uint32
}

// maxUDP is the longest that a UDP datagram can be.
const maxUDP = 1<<16 - 1 - sizeIPv4

// Append appends the frame from the Ethernet header to the ICRC, without FCS.
// Errors are addresses of two families and lengths that no header can tell.
func (p *Packet) Append(b []byte) ([]byte, error) {
	if t := p.VXLAN; t != nil {
		inner := *p
		inner.VXLAN, inner.VLAN = nil, nil
		frame, err := inner.Append(nil)
		if err != nil {
			return b, err
		}
		return t.around(b, frame, p.VLAN, p.DSCP)
	}
	v6 := p.Src.Is6()
	if !p.Src.IsValid() || !p.Dst.IsValid() || v6 != p.Dst.Is6() {
		return b, fmt.Errorf("addresses %v and %v: want two of IPv4 or two of IPv6", p.Src, p.Dst)
	}
	set := p.BTH.Opcode.Info().Ext
	pad := -p.Payload & 3
	body := p.Payload + pad
	if p.BTH.Opcode == OpcodeCNP {
		body, pad = sizeCNPBody, 0
	}
	udp := sizeUDP + SizeBTH + set.Size() + body + SizeICRC
	if p.Payload < 0 || udp > maxUDP {
		return b, fmt.Errorf("payload of %d bytes: want 0 to %d", p.Payload, maxUDP-(udp-body))
	}
	port := p.DstPort
	if port == 0 {
		port = RoCEv2Port
	}
	b = appendEthernet(b, p.DstMAC, p.SrcMAC, p.VLAN, v6)
	ip := len(b)
	b = appendIP(b, ipHeader{p.Src, p.Dst, p.DSCP, p.ECN, p.TTL, p.IPID, p.FlowLabel, udp})
	header := len(b) - ip
	b = appendUDP(b, p.SrcPort, port, udp)
	n := len(b)
	b = append(b, make([]byte, SizeBTH)...)
	bth := p.BTH
	bth.Pad = uint8(pad)
	bth.encode(b[n:])
	b = p.Ext.encode(set, b)
	n = len(b)
	b = append(b, make([]byte, body)...)
	if p.Body != nil {
		copy(b[n:n+body], p.Body)
	} else if !p.Zero && p.BTH.Opcode != OpcodeCNP {
		for i := range p.Payload {
			b[n+i] = p.Fill + byte(i)
		}
	}
	b = binary.LittleEndian.AppendUint32(b, icrcIP(b[ip:], header))
	if v6 {
		checksumUDP(b[ip:], header)
	}
	return b, nil
}

// sizeCNPBody is the reserved part of a CNP, annex A17.9.3.
const sizeCNPBody = 16

// around writes a frame into a VXLAN tunnel.
func (t *Tunnel) around(b, frame []byte, tag *VLAN, dscp uint8) ([]byte, error) {
	if !t.Src.Is4() || !t.Dst.Is4() {
		return b, fmt.Errorf("tunnel from %v to %v: want IPv4", t.Src, t.Dst)
	}
	udp := sizeUDP + sizeVXLAN + len(frame)
	if udp > maxUDP {
		return b, fmt.Errorf("frame of %d bytes: too long for a tunnel", len(frame))
	}
	b = appendEthernet(b, t.DstMAC, t.SrcMAC, tag, false)
	b = appendIP(b, ipHeader{src: t.Src, dst: t.Dst, dscp: dscp, ecn: t.ECN, ttl: t.TTL, udp: udp})
	b = appendUDP(b, t.SrcPort, VXLANPort, udp)
	b = append(b, 0x08, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, t.VNI<<8)
	return append(b, frame...), nil
}

func appendEthernet(b []byte, dst, src [6]byte, tag *VLAN, v6 bool) []byte {
	b = append(append(b, dst[:]...), src[:]...)
	if tag != nil {
		b = binary.BigEndian.AppendUint16(b, EtherTypeVLAN)
		v := tag.ID&0xfff | uint16(tag.Priority&7)<<13
		if tag.DEI {
			v |= 0x1000
		}
		b = binary.BigEndian.AppendUint16(b, v)
	}
	if v6 {
		return binary.BigEndian.AppendUint16(b, EtherTypeIPv6)
	}
	return binary.BigEndian.AppendUint16(b, EtherTypeIPv4)
}

// ipHeader is what an IP header says; udp is the length of what follows.
type ipHeader struct {
	src, dst       netip.Addr
	dscp, ecn, ttl uint8
	id             uint16
	label          uint32
	udp            int
}

func appendIP(b []byte, h ipHeader) []byte {
	class := h.dscp<<2 | h.ecn&3
	if h.src.Is6() {
		b = binary.BigEndian.AppendUint32(b, 6<<28|uint32(class)<<20|h.label&0xfffff)
		b = binary.BigEndian.AppendUint16(b, uint16(h.udp))
		b = append(b, protoUDP, h.ttl)
		s, d := h.src.As16(), h.dst.As16()
		return append(append(b, s[:]...), d[:]...)
	}
	n := len(b)
	b = append(b, 0x45, class)
	b = binary.BigEndian.AppendUint16(b, uint16(sizeIPv4+h.udp))
	b = binary.BigEndian.AppendUint16(b, h.id)
	b = append(b, 0x40, 0, h.ttl, protoUDP, 0, 0) // do not fragment
	s, d := h.src.As4(), h.dst.As4()
	b = append(append(b, s[:]...), d[:]...)
	binary.BigEndian.PutUint16(b[n+10:], ^fold(sum16(0, b[n:])))
	return b
}

func appendUDP(b []byte, src, dst uint16, length int) []byte {
	b = binary.BigEndian.AppendUint16(b, src)
	b = binary.BigEndian.AppendUint16(b, dst)
	b = binary.BigEndian.AppendUint16(b, uint16(length))
	return append(b, 0, 0)
}

// checksumUDP fills in the UDP checksum of an IPv6 packet.
func checksumUDP(ip []byte, header int) {
	u := ip[header:]
	sum := sum16(uint32(len(u))+protoUDP, ip[8:40])
	c := ^fold(sum16(sum, u))
	if c == 0 {
		c = 0xffff
	}
	binary.BigEndian.PutUint16(u[6:], c)
}

// sum16 adds 16-bit words, RFC 1071.
func sum16(sum uint32, b []byte) uint32 {
	s := uint64(sum)
	for ; len(b) >= 2; b = b[2:] {
		s += uint64(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		s += uint64(b[0]) << 8
	}
	for s > 0xffffffff {
		s = s&0xffffffff + s>>32
	}
	return uint32(s)
}

func fold(s uint32) uint16 {
	for s > 0xffff {
		s = s&0xffff + s>>16
	}
	return uint16(s)
}

// AppendPause appends a pause frame, padded to the shortest Ethernet frame,
// without FCS.
func AppendPause(b []byte, src [6]byte, p *Pause) []byte {
	n := len(b)
	b = append(append(b, PauseDestination[:]...), src[:]...)
	b = binary.BigEndian.AppendUint16(b, EtherTypeMACControl)
	at := len(b)
	b = append(b, make([]byte, minFrame-(at-n))...)
	p.encode(b[at:])
	return b
}
