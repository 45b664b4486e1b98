package capture

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"strings"
)

// Blocks of pcapng. Source: draft-ietf-opsawg-pcapng, section 4.
const (
	blockSection    = magicSection
	blockInterface  = 1
	blockPacketOld  = 2
	blockSimple     = 3
	blockStatistics = 5
	blockPacket     = 6
)

// Options of blocks.
const (
	optEnd         = 0
	optComment     = 1
	optApplication = 4 // of a section
	optName        = 2 // of an interface
	optDescription = 3
	optIPv4        = 4 // address and mask
	optIPv6        = 5 // address and length of prefix
	optMAC         = 6
	optSpeed       = 8
	optResolution  = 9
	optFilter      = 11
	optFCS         = 13
	optOffset      = 14
	optEndTime     = 3 // of statistics
	optIfDrop      = 5
	optOSDrop      = 7
	optFlags       = 2 // of a packet
	optDropCount   = 4
)

// maxAddresses bounds the addresses of an interface that are kept.
const maxAddresses = 16

// nextBlock reads blocks up to the next packet.
func (r *Reader) nextBlock(rec *Record) error {
	for {
		b, err := r.take(8)
		if err != nil {
			return cutOff(err)
		}
		kind := binary.LittleEndian.Uint32(b)
		if kind == blockSection { // reads the same in both orders
			if err := r.sectionHead([4]byte(b[4:8])); err != nil {
				return err
			}
			continue
		}
		if r.order == nil {
			return ErrNotCapture
		}
		kind = r.order.Uint32(b)
		length := r.order.Uint32(b[4:])
		if length < 12 || length > MaxRecord || length%4 != 0 {
			return r.fail("a pcapng block of %d bytes: want a multiple of 4 from 12 to %d", length, MaxRecord)
		}
		body, err := r.take(int(length) - 8)
		if err != nil {
			return cutOff(noEOF(err))
		}
		body = body[:len(body)-4] // the length again
		found := false
		switch kind {
		case blockInterface:
			err = r.describe(body)
		case blockStatistics:
			r.statistics(body)
		case blockPacket:
			found, err = true, r.packet(body, rec)
		case blockSimple:
			found, err = true, r.simple(body, rec)
		case blockPacketOld:
			found, err = true, r.packetOld(body, rec)
		}
		if err != nil || found {
			return err
		}
	}
}

// sectionHead reads the rest of a section header; length is that of the block
// in the order that is not known yet.
func (r *Reader) sectionHead(length [4]byte) error {
	magic, err := r.r.Peek(4)
	if err != nil {
		return cutOff(noEOF(err))
	}
	switch {
	case binary.LittleEndian.Uint32(magic) == magicOrder:
		r.order = binary.LittleEndian
	case binary.BigEndian.Uint32(magic) == magicOrder:
		r.order = binary.BigEndian
	default:
		return r.fail("a pcapng section without its byte-order magic")
	}
	n := r.order.Uint32(length[:])
	if n < 28 || n > MaxRecord || n%4 != 0 {
		return r.fail("a pcapng section header of %d bytes", n)
	}
	b, err := r.take(int(n) - 8)
	if err != nil {
		return cutOff(noEOF(err))
	}
	if major := r.order.Uint16(b[4:]); major != 1 {
		return r.fail("pcapng version %d: only version 1 is read", major)
	}
	r.options(b[16:len(b)-4], func(code uint16, v []byte) {
		if code == optApplication {
			r.Application = text(v)
		}
	})
	r.section = len(r.Interfaces)
	return nil
}

// options calls f for each option.
func (r *Reader) options(b []byte, f func(code uint16, v []byte)) {
	for len(b) >= 4 {
		code, n := r.order.Uint16(b), int(r.order.Uint16(b[2:]))
		b = b[4:]
		if code == optEnd || n > len(b) {
			return
		}
		f(code, b[:n])
		b = b[min((n+3)&^3, len(b)):]
	}
}

// text returns an option as a string without control characters.
func text(v []byte) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, strings.ToValidUTF8(string(v), "?"))
}

// describe reads an interface description.
func (r *Reader) describe(b []byte) error {
	if len(b) < 8 {
		return r.fail("a pcapng interface of %d bytes", len(b))
	}
	if len(r.Interfaces) >= MaxInterfaces {
		return r.fail("more than %d interfaces", MaxInterfaces)
	}
	i := Interface{Link: LinkType(r.order.Uint16(b)), SnapLen: r.order.Uint32(b[4:]), FCS: -1, resolution: 1e6}
	r.options(b[8:], func(code uint16, v []byte) {
		switch {
		case code == optName:
			i.Name = text(v[:min(len(v), 256)])
		case code == optDescription:
			i.Description = text(v[:min(len(v), 256)])
		case code == optMAC && len(v) == 6:
			i.MAC, i.HasMAC = [6]byte(v), true
		case code == optIPv4 && len(v) == 8 && len(i.Addresses) < maxAddresses:
			i.Addresses = append(i.Addresses, netip.AddrFrom4([4]byte(v)))
		case code == optIPv6 && len(v) == 17 && len(i.Addresses) < maxAddresses:
			i.Addresses = append(i.Addresses, netip.AddrFrom16([16]byte(v)))
		case code == optSpeed && len(v) == 8:
			i.Speed = r.order.Uint64(v)
		case code == optResolution && len(v) == 1:
			i.resolution = resolution(v[0])
		case code == optFilter:
			i.Filter = true
		case code == optFCS && len(v) == 1:
			i.FCS = int(v[0])
		case code == optOffset && len(v) == 8:
			i.offset = int64(r.order.Uint64(v))
		}
	})
	r.Interfaces = append(r.Interfaces, i)
	return nil
}

// statistics reads when the capture of an interface ended and what it lost.
func (r *Reader) statistics(b []byte) {
	if len(b) < 12 {
		return
	}
	i := int(r.order.Uint32(b)) + r.section
	if i < r.section || i >= len(r.Interfaces) {
		return
	}
	r.options(b[12:], func(code uint16, v []byte) {
		switch {
		case code == optEndTime && len(v) == 8:
			var end Record
			r.Interfaces[i].stamp(uint64(r.order.Uint32(v))<<32|uint64(r.order.Uint32(v[4:])), &end)
			if !r.Ended.HasTime || before(&r.Ended, &end) {
				r.Ended.Sec, r.Ended.Pico, r.Ended.HasTime = end.Sec, end.Pico, true
			}
		case (code == optIfDrop || code == optOSDrop) && len(v) == 8:
			r.Ended.Drops += r.order.Uint64(v)
		}
	})
}

// resolution returns the units per second that an if_tsresol names: a power of
// ten, or of two with the top bit set. What does not fit 64 bits is a second.
func resolution(v byte) uint64 {
	n := int(v & 0x7f)
	if v&0x80 != 0 {
		if n > 63 {
			return 1
		}
		return 1 << n
	}
	if n > 19 {
		return 1
	}
	u := uint64(1)
	for range n {
		u *= 10
	}
	return u
}

// stamp converts a time stamp of an interface.
func (i *Interface) stamp(t uint64, rec *Record) {
	sec, rest := t/i.resolution, t%i.resolution
	hi, lo := bits.Mul64(rest, 1e12)
	pico, _ := bits.Div64(hi, lo, i.resolution) // rest < resolution
	rec.Sec, rec.Pico, rec.HasTime = int64(sec)+i.offset, int64(pico), true
}

// packet reads an enhanced packet block.
func (r *Reader) packet(b []byte, rec *Record) error {
	if len(b) < 20 {
		return r.fail("a pcapng packet of %d bytes", len(b))
	}
	*rec = Record{Interface: int(r.order.Uint32(b)) + r.section, Original: bounded(r.order.Uint32(b[16:]))}
	t := uint64(r.order.Uint32(b[4:]))<<32 | uint64(r.order.Uint32(b[8:]))
	have := int(r.order.Uint32(b[12:]))
	return r.fill(b[20:], have, t, rec)
}

// packetOld reads the packet block of the first drafts.
func (r *Reader) packetOld(b []byte, rec *Record) error {
	if len(b) < 20 {
		return r.fail("a pcapng packet of %d bytes", len(b))
	}
	*rec = Record{Interface: int(r.order.Uint16(b)) + r.section, Original: bounded(r.order.Uint32(b[16:]))}
	t := uint64(r.order.Uint32(b[4:]))<<32 | uint64(r.order.Uint32(b[8:]))
	return r.fill(b[20:], int(r.order.Uint32(b[12:])), t, rec)
}

// fill takes data and options of a packet.
func (r *Reader) fill(b []byte, have int, t uint64, rec *Record) error {
	if rec.Interface < r.section || rec.Interface >= len(r.Interfaces) {
		return r.fail("a packet of interface %d: %d are described", rec.Interface-r.section, len(r.Interfaces)-r.section)
	}
	if have < 0 || have > len(b) {
		return r.fail("a packet of %d bytes in a block that has room for %d", have, len(b))
	}
	r.Interfaces[rec.Interface].stamp(t, rec)
	rec.Data = b[:have]
	rec.Original = max(rec.Original, have)
	r.options(b[min((have+3)&^3, len(b)):], func(code uint16, v []byte) {
		switch {
		case code == optComment && rec.Comment == "":
			rec.Comment = text(v[:min(len(v), 1024)])
		case code == optFlags && len(v) == 4:
			f := r.order.Uint32(v)
			rec.Direction = Direction(f & 3 % 3)
			rec.CRCError = f&flagCRCError != 0
		case code == optDropCount && len(v) == 8:
			rec.Drops = r.order.Uint64(v)
		}
	})
	r.trim(rec)
	return nil
}

// flagCRCError is set in the flags of a packet that arrived damaged.
const flagCRCError = 1 << 24

// simple reads a simple packet block, which has no time.
func (r *Reader) simple(b []byte, rec *Record) error {
	if len(b) < 4 {
		return r.fail("a pcapng packet of %d bytes", len(b))
	}
	if r.section >= len(r.Interfaces) {
		return r.fail("a packet of interface 0: none is described")
	}
	*rec = Record{Interface: r.section, Original: bounded(r.order.Uint32(b))}
	have := min(rec.Original, len(b)-4)
	if s := int(r.Interfaces[r.section].SnapLen); s > 0 {
		have = min(have, s)
	}
	rec.Data = b[4 : 4+have]
	r.trim(rec)
	return nil
}
