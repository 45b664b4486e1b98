package capture

import "encoding/binary"

// Tunnels. What is inside of one takes the place of what is around it:
// addresses, ports and ICRC are those inside. Mirrors of switches send frames
// in ERSPAN; what their outer headers say is of the mirror and not of the
// frame.
const (
	// maxTunnels bounds how deep tunnels lie in each other.
	maxTunnels = 3
	genevePort = 6081 // RFC 8926

	EtherTypeMPLS      = 0x8847 // RFC 3032
	EtherTypeMPLSMulti = 0x8848
	etherTypeBridged   = 0x6558 // Ethernet in GRE (RFC 7637) and Geneve
	etherTypeERSPAN    = 0x88be // ERSPAN I and II: draft-foschiano-erspan
	etherTypeERSPAN3   = 0x22eb

	protoIPv4 = 4 // IP in IP, RFC 2003
	protoIPv6 = 41
	protoGRE  = 47 // RFC 2784, RFC 2890

	sizeGRE     = 4
	sizeERSPAN2 = 8
	sizeERSPAN3 = 12
	sizeGeneve  = 8
	sizeMPLS    = 4
)

// gre follows generic routing encapsulation.
func (f *Frame) gre(b []byte, tunnels int) {
	if len(b) < sizeGRE || tunnels >= maxTunnels {
		return
	}
	flags, kind := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	if flags&0x4007 != 0 { // routing, or another version
		return
	}
	n := sizeGRE
	for _, bit := range [...]uint16{0x8000, 0x2000, 0x1000} { // checksum, key, sequence number
		if flags&bit != 0 {
			n += 4
		}
	}
	if len(b) < n {
		return
	}
	b = b[n:]
	switch kind {
	case EtherTypeIPv4, EtherTypeIPv6:
		f.enter()
		f.network(kind, b, tunnels+1)
	case etherTypeBridged:
		f.enter()
		f.bridged(b, tunnels+1)
	case etherTypeERSPAN:
		if flags&0x1000 != 0 { // type II has a header of its own
			b = b[min(sizeERSPAN2, len(b)):]
		}
		f.mirrored(b)
	case etherTypeERSPAN3:
		f.erspan3(b)
	}
}

// erspan3 follows an ERSPAN header of type III, behind which a subheader of the
// platform stands where its last bit says so.
func (f *Frame) erspan3(b []byte) {
	if len(b) < sizeERSPAN3 {
		return
	}
	ip := b[10]>>2&0x1f == 2 // frame type: 0 Ethernet, 2 IP
	n := sizeERSPAN3
	if b[11]&1 != 0 {
		n += 8
	}
	b = b[min(n, len(b)):]
	if !ip {
		f.mirrored(b)
		return
	}
	*f = Frame{Truncated: f.Truncated, Tunnelled: true}
	if len(b) > 0 {
		f.network(versionType(b[0]), b, maxTunnels)
	}
}

// mirrored follows a frame that a switch has copied: it is as it was there.
func (f *Frame) mirrored(b []byte) {
	*f = Frame{Truncated: f.Truncated, Tunnelled: true}
	if len(b) < sizeEthernet {
		return
	}
	copy(f.DstMAC[:], b)
	copy(f.SrcMAC[:], b[6:])
	f.follow(binary.BigEndian.Uint16(b[12:]), b[sizeEthernet:], 1)
}

// enter notes that what follows is inside of a tunnel, and how the outside was
// marked.
func (f *Frame) enter() {
	f.Tunnelled = true
	if f.OuterECN != CE {
		f.OuterECN = f.ECN
	}
}

// bridged follows an Ethernet frame inside of a tunnel.
func (f *Frame) bridged(b []byte, tunnels int) {
	if len(b) < sizeEthernet {
		return
	}
	etherType, at := binary.BigEndian.Uint16(b[12:]), sizeEthernet
	for etherType == EtherTypeVLAN && len(b) >= at+sizeVLAN {
		etherType = binary.BigEndian.Uint16(b[at+2:])
		at += sizeVLAN
	}
	f.network(etherType, b[at:], tunnels)
}

// network follows an EtherType that is inside of a tunnel.
func (f *Frame) network(etherType uint16, b []byte, tunnels int) {
	switch etherType {
	case EtherTypeIPv4:
		f.ipv4(b, tunnels)
	case EtherTypeIPv6:
		f.ipv6(b, tunnels)
	}
}

// versionType returns the EtherType of an IP packet by its first byte, 0 for
// what is none.
func versionType(b byte) uint16 {
	switch b >> 4 {
	case 4:
		return EtherTypeIPv4
	case 6:
		return EtherTypeIPv6
	}
	return 0
}

// ipInIP follows an IP packet inside of another.
func (f *Frame) ipInIP(b []byte, tunnels int) {
	if len(b) == 0 || tunnels >= maxTunnels {
		return
	}
	f.enter()
	f.network(versionType(b[0]), b, tunnels+1)
}

// mpls follows a stack of labels: IP, or Ethernet behind a control word.
func (f *Frame) mpls(b []byte, tunnels int) {
	for last := false; !last; b = b[sizeMPLS:] {
		if len(b) < sizeMPLS {
			return
		}
		last = b[2]&1 != 0
	}
	switch {
	case len(b) == 0:
	case b[0]>>4 == 0 && len(b) > 4:
		f.Tunnelled = true
		f.bridged(b[4:], tunnels)
	default:
		f.network(versionType(b[0]), b, tunnels)
	}
}

// vxlan follows what is inside of VXLAN, RFC 7348.
func (f *Frame) vxlan(b []byte, tunnels int) {
	if tunnels >= maxTunnels || len(b) < sizeVXLAN+sizeEthernet || b[0]&0x08 == 0 {
		return
	}
	f.enter()
	f.VNI = binary.BigEndian.Uint32(b[4:]) >> 8
	f.bridged(b[sizeVXLAN:], tunnels+1)
}

// geneve follows what is inside of Geneve, RFC 8926.
func (f *Frame) geneve(b []byte, tunnels int) {
	if tunnels >= maxTunnels || len(b) < sizeGeneve || b[0]>>6 != 0 {
		return
	}
	n := sizeGeneve + int(b[0]&0x3f)*4
	if len(b) < n {
		return
	}
	f.enter()
	f.VNI = binary.BigEndian.Uint32(b[4:]) >> 8
	switch kind := binary.BigEndian.Uint16(b[2:]); kind {
	case etherTypeBridged:
		f.bridged(b[n:], tunnels+1)
	default:
		f.network(kind, b[n:], tunnels+1)
	}
}
