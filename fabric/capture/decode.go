package capture

import (
	"encoding/binary"
	"net/netip"
)

// LinkType is how the frames of a capture begin, as in https://www.tcpdump.org/linktypes.html.
type LinkType uint16

// Link types that are read. Frames of others are KindOther.
const (
	LinkNull       LinkType = 0 // BSD loopback: the family in the order of the machine
	LinkEthernet   LinkType = 1
	LinkRaw12      LinkType = 12 // IP, as some systems number it
	LinkRaw14      LinkType = 14
	LinkRaw101     LinkType = 101 // IP
	LinkLoop       LinkType = 108 // OpenBSD loopback
	LinkSLL        LinkType = 113 // Linux "any", as cooked by libpcap
	LinkERF        LinkType = 197 // Endace, also ibdump
	LinkIPv4       LinkType = 228
	LinkIPv6Only   LinkType = 229
	LinkInfiniBand LinkType = 247
	LinkSLL2       LinkType = 276
)

// Known reports whether frames of the type are taken apart.
func (l LinkType) Known() bool {
	switch l {
	case LinkNull, LinkRaw12, LinkRaw14, LinkLoop, LinkEthernet, LinkRaw101, LinkSLL, LinkERF, LinkIPv4, LinkIPv6Only, LinkInfiniBand, LinkSLL2:
		return true
	}
	return false
}

// Decode takes a frame apart. data is what was captured of it, original how
// long it was on the wire; both without preamble, with or without an FCS. Any
// data whatever is allowed.
func (f *Frame) Decode(link LinkType, data []byte, original int) {
	*f = Frame{}
	f.Truncated = original > len(data)
	switch link {
	case LinkEthernet:
		f.ethernet(data)
	case LinkRaw101, LinkRaw12, LinkRaw14, LinkIPv4, LinkIPv6Only:
		f.rawIP(data)
	case LinkNull, LinkLoop:
		f.rawIP(data[min(4, len(data)):])
	case LinkSLL:
		if len(data) >= 16 {
			copy(f.SrcMAC[:], data[6:12])
			f.payloadOf(binary.BigEndian.Uint16(data[14:]), data[16:])
		}
	case LinkSLL2:
		if len(data) >= 20 {
			copy(f.SrcMAC[:], data[12:18])
			f.payloadOf(binary.BigEndian.Uint16(data), data[20:])
		}
	case LinkInfiniBand:
		f.infiniband(data)
	case LinkERF:
		f.erf(data)
	}
}

// erf takes an Endace record apart: 16 bytes, of which the ninth is the type
// (2 Ethernet behind two bytes of padding, 21 InfiniBand), and extension
// headers of 8 bytes while the top bit says so.
func (f *Frame) erf(b []byte) {
	if len(b) < 16 {
		return
	}
	kind, more := b[8]&0x7f, b[8]&0x80 != 0
	b = b[16:]
	for more && len(b) >= 8 {
		more = b[0]&0x80 != 0
		b = b[8:]
	}
	switch {
	case kind == 2 && len(b) >= 2:
		f.ethernet(b[2:])
	case kind == 21:
		f.infiniband(b)
	}
}

func (f *Frame) rawIP(b []byte) {
	if len(b) > 0 {
		f.network(versionType(b[0]), b, 0)
	}
}

func (f *Frame) ethernet(b []byte) {
	if len(b) < sizeEthernet {
		return
	}
	copy(f.DstMAC[:], b)
	copy(f.SrcMAC[:], b[6:])
	f.payloadOf(binary.BigEndian.Uint16(b[12:]), b[sizeEthernet:])
}

// payloadOf follows an EtherType.
func (f *Frame) payloadOf(etherType uint16, b []byte) { f.follow(etherType, b, 0) }

// follow follows an EtherType inside of so many tunnels.
func (f *Frame) follow(etherType uint16, b []byte, tunnels int) {
	for etherType == EtherTypeVLAN || etherType == EtherTypeQinQ || etherType == 0x9100 {
		if len(b) < sizeVLAN || f.VLANCount == maxVLANs {
			return
		}
		v := binary.BigEndian.Uint16(b)
		f.VLANs[f.VLANCount] = VLAN{ID: v & 0xfff, Priority: uint8(v >> 13), DEI: v&0x1000 != 0}
		f.VLANCount++
		etherType = binary.BigEndian.Uint16(b[2:])
		b = b[sizeVLAN:]
	}
	switch etherType {
	case EtherTypeIPv4, EtherTypeIPv6:
		f.network(etherType, b, tunnels)
	case EtherTypeMPLS, EtherTypeMPLSMulti:
		f.mpls(b, tunnels)
	case EtherTypeRoCEv1:
		f.Kind = KindRoCEv1
		f.grh(nil, b)
	case EtherTypeMACControl:
		if f.Pause.decode(b) {
			f.Kind = KindPause
		}
	}
}

func (f *Frame) ipv4(b []byte, tunnels int) {
	if len(b) < sizeIPv4 || b[0]>>4 != 4 || b[0]&15 < 5 {
		return
	}
	header := int(b[0]&15) * 4
	total := int(binary.BigEndian.Uint16(b[2:]))
	if total < header || len(b) < header {
		return
	}
	f.Src, f.Dst = netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
	f.DSCP, f.ECN, f.TTL = b[1]>>2, b[1]&3, b[8]
	f.IPID = binary.BigEndian.Uint16(b[4:])
	protocol := b[9]
	if protocol != protoUDP && protocol != protoGRE && protocol != protoIPv4 && protocol != protoIPv6 {
		return
	}
	if fragment := binary.BigEndian.Uint16(b[6:]) & fragmentMask; fragment != 0 {
		// The first one tells the port; later ones may be of anything.
		if fragment&fragmentStart != 0 || protocol != protoUDP || len(b) >= header+4 && binary.BigEndian.Uint16(b[header+2:]) == RoCEv2Port {
			f.Kind = KindFragment
		}
		return
	}
	f.transported(protocol, b, header, total, tunnels)
}

func (f *Frame) ipv6(b []byte, tunnels int) {
	if len(b) < sizeIPv6 || b[0]>>4 != 6 {
		return
	}
	total := sizeIPv6 + int(binary.BigEndian.Uint16(b[4:]))
	f.Src, f.Dst = netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
	class := b[0]<<4 | b[1]>>4
	f.DSCP, f.ECN, f.TTL = class>>2, class&3, b[7]
	next, at := b[6], sizeIPv6
	for range maxExtensions {
		if next != 0 && next != 43 && next != 60 { // hop by hop, routing, destination
			break
		}
		if len(b) < at+8 {
			return
		}
		next, at = b[at], at+8+int(b[at+1])*8
	}
	if next != 44 { // fragment header
		f.transported(next, b, at, total, tunnels)
		return
	}
	if len(b) >= at+12 && b[at] == protoUDP &&
		(binary.BigEndian.Uint16(b[at+2:])&0xfff8 != 0 || binary.BigEndian.Uint16(b[at+10:]) == RoCEv2Port) {
		f.Kind = KindFragment
	}
}

// maxExtensions bounds the extension headers of IPv6 that are passed over.
const maxExtensions = 4

// transported follows what an IP header of so many bytes carries.
func (f *Frame) transported(protocol uint8, b []byte, header, total, tunnels int) {
	if protocol == protoUDP {
		f.udp(b, header, total, tunnels)
		return
	}
	if len(b) < header || total < header {
		return
	}
	inside := b[header:min(total, len(b))]
	switch protocol {
	case protoGRE:
		f.gre(inside, tunnels)
	case protoIPv4, protoIPv6:
		f.ipInIP(inside, tunnels)
	}
}

// udp follows UDP. ip begins with the IP header, which says that the packet has
// total bytes: less than what is captured where Ethernet pads or an FCS follows.
func (f *Frame) udp(ip []byte, header, total, tunnels int) {
	if len(ip) < header+sizeUDP || total < header+sizeUDP {
		return
	}
	u := ip[header:]
	f.SrcPort, f.DstPort = binary.BigEndian.Uint16(u), binary.BigEndian.Uint16(u[2:])
	length := int(binary.BigEndian.Uint16(u[4:]))
	switch f.DstPort {
	case VXLANPort:
		f.vxlan(u[sizeUDP:], tunnels)
	case genevePort:
		f.geneve(u[sizeUDP:], tunnels)
	case RoCEv2Port:
		f.Kind = KindRoCEv2
		if length < sizeUDP || header+length > total {
			f.malformed("UDP length")
			return
		}
		end := header + length
		if f.transport(ip[header+sizeUDP:], length-sizeUDP) && len(ip) >= end && header <= maxIPHeader {
			f.check(ip[end-SizeICRC:], icrcIP(ip[:end-SizeICRC], header))
		}
	}
}

// grh follows a global routing header.
func (f *Frame) grh(lrh, b []byte) {
	if len(b) < SizeGRH {
		f.malformed("GRH is cut off")
		return
	}
	var h GRH
	h.decode(b)
	if h.Next != GRHNextBTH {
		f.malformed("GRH without BTH")
		return
	}
	f.Src, f.Dst, f.TTL = h.SGID, h.DGID, h.HopLimit
	f.DSCP, f.ECN = h.TrafficClass>>2, h.TrafficClass&3
	end := SizeGRH + int(h.Length)
	if f.transport(b[SizeGRH:], int(h.Length)) && len(b) >= end {
		f.check(b[end-SizeICRC:], icrcGRH(lrh, b[:end-SizeICRC]))
	}
}

// infiniband follows a local routing header.
func (f *Frame) infiniband(b []byte) {
	if len(b) < SizeLRH {
		return
	}
	f.LRH.decode(b)
	f.Kind = KindInfiniBand
	f.Src, f.Dst = lidAddress(f.LRH.SLID), lidAddress(f.LRH.DLID)
	length := int(f.LRH.Words)*4 - SizeLRH
	switch f.LRH.Next {
	case LinkGRH:
		f.grh(b[:SizeLRH], b[SizeLRH:])
	case LinkLocal:
		end := SizeLRH + length
		if f.transport(b[SizeLRH:], length) && len(b) >= end {
			f.check(b[end-SizeICRC:], icrcLocal(b[:SizeLRH], b[SizeLRH:end-SizeICRC]))
		}
	default:
		f.Kind = KindOther
	}
}

// lidAddress writes a local identifier as an address.
func lidAddress(lid uint16) netip.Addr {
	var a [16]byte
	binary.BigEndian.PutUint16(a[14:], lid)
	return netip.AddrFrom16(a)
}

// transport reads BTH and extended headers; length is what follows the header
// before, ICRC included, captured or not.
func (f *Frame) transport(b []byte, length int) bool {
	if length < SizeBTH+SizeICRC {
		f.malformed("too short for BTH and ICRC")
		return false
	}
	if len(b) < SizeBTH {
		f.malformed("BTH is cut off")
		return false
	}
	f.BTH.decode(b)
	info := f.Info()
	n := info.Ext.Size()
	f.Payload = length - SizeBTH - n - SizeICRC - int(f.BTH.Pad)
	if f.Payload < 0 {
		f.malformed("too short for its opcode")
		return false
	}
	b = b[SizeBTH:]
	if info.Verb == VerbCNP {
		f.Payload = 0 // 16 reserved bytes
		return true
	}
	if f.Have = f.Ext.decode(info.Ext, b); f.Have != info.Ext {
		if !f.Truncated {
			f.malformed("extended headers are cut off")
		}
		return f.Truncated
	}
	f.Data = b[n:min(n+f.Payload, len(b))]
	return true
}

// Complete reports whether all extended headers of the packet were captured.
func (f *Frame) Complete() bool { return f.Have == f.Info().Ext }

// check compares an ICRC with what follows from the packet.
func (f *Frame) check(sent []byte, want uint32) {
	f.ICRC = ICRCInvalid
	if binary.LittleEndian.Uint32(sent) == want {
		f.ICRC = ICRCValid
	}
}
