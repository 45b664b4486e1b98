package capture

import (
	"encoding/binary"
	"hash/crc32"
)

// SizeICRC is the length of an invariant CRC in bytes.
const SizeICRC = 4

// The invariant CRC is the CRC-32 of Ethernet over what routers and switches
// leave as it is. What they may change is taken as ones: eight bytes in place
// of a local routing header; DSCP, ECN, TTL and header checksum of IPv4, or
// traffic class, flow label and hop limit of IPv6 and of a GRH; the UDP
// checksum; FECN, BECN and the reserved bits of the BTH.
// Source: InfiniBand Architecture, volume 1, section 7.8.1 and annex A17.3.

// dummyLRH is what the CRC begins with where there is no LRH.
var dummyLRH = [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// afterDummyLRH is the state of the CRC after these eight bytes.
var afterDummyLRH = crc32.ChecksumIEEE(dummyLRH[:])

// maskedBTH is the offset in a BTH of the byte that is masked.
const maskedBTH = 4

// maxIPHeader is the longest IP header of which an ICRC is computed: IPv4 with
// options.
const maxIPHeader = 60

// maxMasked bounds the headers in front of the payload: IP, UDP and BTH.
const maxMasked = maxIPHeader + sizeUDP + SizeBTH

// icrcIP computes the ICRC of a RoCEv2 packet: ip is everything from the IP
// header on, without the ICRC, and header how long the IP header is.
func icrcIP(ip []byte, header int) uint32 {
	var masked [maxMasked]byte
	n := copy(masked[:min(header+sizeUDP+SizeBTH, maxMasked)], ip)
	if ip[0]>>4 == 6 {
		maskIPv6(masked[:])
	} else {
		masked[1] = 0xff                    // DSCP and ECN
		masked[8] = 0xff                    // TTL
		masked[10], masked[11] = 0xff, 0xff // header checksum
	}
	udp := header
	masked[udp+6], masked[udp+7] = 0xff, 0xff
	masked[header+sizeUDP+maskedBTH] = 0xff
	crc := crc32.Update(afterDummyLRH, crc32.IEEETable, masked[:n])
	return crc32.Update(crc, crc32.IEEETable, ip[n:])
}

// maskIPv6 masks an IPv6 header or a GRH, which has the same form.
func maskIPv6(h []byte) {
	h[0] |= 0x0f // traffic class and flow label
	h[1], h[2], h[3] = 0xff, 0xff, 0xff
	h[7] = 0xff // hop limit
}

// icrcGRH computes the ICRC of a packet with a GRH and a BTH behind it: RoCEv1,
// or InfiniBand, where lrh holds its local routing header.
func icrcGRH(lrh, grh []byte) uint32 {
	var masked [SizeGRH + SizeBTH]byte
	n := copy(masked[:], grh)
	maskIPv6(masked[:])
	masked[SizeGRH+maskedBTH] = 0xff
	crc := crc32.Update(icrcLRH(lrh), crc32.IEEETable, masked[:n])
	return crc32.Update(crc, crc32.IEEETable, grh[n:])
}

// icrcLocal computes the ICRC of an InfiniBand packet without a GRH.
func icrcLocal(lrh, bth []byte) uint32 {
	var masked [SizeBTH]byte
	n := copy(masked[:], bth)
	masked[maskedBTH] = 0xff
	crc := crc32.Update(icrcLRH(lrh), crc32.IEEETable, masked[:n])
	return crc32.Update(crc, crc32.IEEETable, bth[n:])
}

// icrcLRH begins a CRC with a local routing header, of which the virtual lane
// is masked, or without one.
func icrcLRH(lrh []byte) uint32 {
	if len(lrh) < SizeLRH {
		return afterDummyLRH
	}
	var masked [SizeLRH]byte
	copy(masked[:], lrh)
	masked[0] |= 0xf0
	return crc32.ChecksumIEEE(masked[:])
}

// ICRC returns the invariant CRC of a RoCEv2 packet from its IPv4 or IPv6
// header to the end of its payload and padding, without the ICRC itself; the
// lengths in the headers count it. It is false where the bytes are no IP header
// with UDP and BTH behind it.
func ICRC(ip []byte) (uint32, bool) {
	header, ok := headerIP(ip)
	if !ok || len(ip) < header+sizeUDP+SizeBTH {
		return 0, false
	}
	return icrcIP(ip, header), true
}

// SealICRC computes the invariant CRC of a RoCEv2 packet and writes it into the
// last four bytes. It is false where there is no such packet.
func SealICRC(ip []byte) bool {
	if len(ip) < SizeICRC {
		return false
	}
	end := len(ip) - SizeICRC
	crc, ok := ICRC(ip[:end])
	if ok {
		binary.LittleEndian.PutUint32(ip[end:], crc)
	}
	return ok
}

// AppendICRC appends the invariant CRC of a RoCEv2 packet, least significant
// byte first as it is sent. It is false where there is no such packet.
func AppendICRC(ip []byte) ([]byte, bool) {
	crc, ok := ICRC(ip)
	if !ok {
		return ip, false
	}
	return binary.LittleEndian.AppendUint32(ip, crc), true
}

// headerIP returns the length of an IP header that UDP follows directly.
func headerIP(ip []byte) (int, bool) {
	if len(ip) < sizeIPv4 {
		return 0, false
	}
	switch ip[0] >> 4 {
	case 4:
		return int(ip[0]&15) * 4, ip[0]&15 >= 5 && ip[9] == protoUDP
	case 6:
		return sizeIPv6, len(ip) >= sizeIPv6 && ip[6] == protoUDP
	}
	return 0, false
}
