package capture

import (
	"bufio"
	"encoding/binary"
	"io"

	"rdmasim/sim"
)

// Writer writes a pcapng file: one section, nanosecond stamps, named interfaces,
// directions and comments.
type Writer struct {
	w    *bufio.Writer
	n    int64 // bytes written
	buf  []byte
	snap int // 0 = whole frames
}

// NewWriter begins a file. application says who wrote it; snap is how many
// bytes of a frame are kept, 0 for all.
func NewWriter(w io.Writer, application string, snap int) (*Writer, error) {
	p := &Writer{w: bufio.NewWriterSize(w, 256<<10), snap: snap}
	p.begin(blockSection)
	p.buf = binary.LittleEndian.AppendUint32(p.buf, magicOrder)
	p.buf = binary.LittleEndian.AppendUint32(p.buf, 1) // version 1.0
	p.buf = binary.LittleEndian.AppendUint64(p.buf, 1<<64-1)
	p.option(optApplication, []byte(application))
	p.endOptions()
	return p, p.end()
}

// begin starts a block; its length is filled in by end.
func (p *Writer) begin(kind uint32) {
	p.buf = binary.LittleEndian.AppendUint32(p.buf[:0], kind)
	p.buf = append(p.buf, 0, 0, 0, 0)
}

// end writes the block.
func (p *Writer) end() error {
	n := uint32(len(p.buf) + 4)
	binary.LittleEndian.PutUint32(p.buf[4:], n)
	p.buf = binary.LittleEndian.AppendUint32(p.buf, n)
	p.n += int64(n)
	_, err := p.w.Write(p.buf)
	return err
}

func (p *Writer) option(code uint16, v []byte) {
	p.buf = binary.LittleEndian.AppendUint16(p.buf, code)
	p.buf = binary.LittleEndian.AppendUint16(p.buf, uint16(len(v)))
	p.buf = append(p.buf, v...)
	p.pad()
}

func (p *Writer) pad() {
	for len(p.buf)%4 != 0 {
		p.buf = append(p.buf, 0)
	}
}

func (p *Writer) endOptions() { p.buf = append(p.buf, 0, 0, 0, 0) }

// Interface describes the next interface; they are numbered from 0.
func (p *Writer) Interface(i Interface) error {
	p.begin(blockInterface)
	p.buf = binary.LittleEndian.AppendUint16(p.buf, uint16(i.Link))
	p.buf = append(p.buf, 0, 0)
	p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(p.snap))
	p.option(optName, []byte(i.Name))
	if i.Description != "" {
		p.option(optDescription, []byte(i.Description))
	}
	for _, a := range i.Addresses {
		if a.Is4() {
			v := a.As4()
			p.option(optIPv4, append(v[:], 255, 255, 255, 0))
		} else {
			v := a.As16()
			p.option(optIPv6, append(v[:], 64))
		}
	}
	if i.HasMAC {
		p.option(optMAC, i.MAC[:])
	}
	if i.Speed > 0 {
		p.option(optSpeed, binary.LittleEndian.AppendUint64(nil, i.Speed))
	}
	p.option(optResolution, []byte{9})
	p.option(optFCS, []byte{0})
	p.endOptions()
	return p.end()
}

// Packet writes one packet. Of rec, Interface, Data, Original, Direction,
// CRCError and Comment are used; at is its time since 1970.
func (p *Writer) Packet(at sim.Time, rec *Record) error {
	data := rec.Data
	if p.snap > 0 && len(data) > p.snap {
		data = data[:p.snap]
	}
	ns := uint64(at) / uint64(sim.Nanosecond)
	p.begin(blockPacket)
	p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(rec.Interface))
	p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(ns>>32))
	p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(ns))
	p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(len(data)))
	p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(rec.Original))
	p.buf = append(p.buf, data...)
	p.pad()
	flags := uint32(rec.Direction)
	if rec.CRCError {
		flags |= flagCRCError
	}
	options := false
	if flags != 0 {
		p.option(optFlags, binary.LittleEndian.AppendUint32(nil, flags))
		options = true
	}
	if rec.Comment != "" {
		p.option(optComment, []byte(rec.Comment))
		options = true
	}
	if options {
		p.endOptions()
	}
	return p.end()
}

// Ended says when the capture of an interface ended.
func (p *Writer) Ended(iface int, at sim.Time) error {
	ns := uint64(at) / uint64(sim.Nanosecond)
	stamp := binary.LittleEndian.AppendUint32(nil, uint32(ns>>32))
	stamp = binary.LittleEndian.AppendUint32(stamp, uint32(ns))
	p.begin(blockStatistics)
	p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(iface))
	p.buf = append(p.buf, stamp...)
	p.option(optEndTime, stamp)
	p.endOptions()
	return p.end()
}

// statisticsBytes is the length of the block that Ended writes.
const statisticsBytes = 40

// Bytes returns how long the file is so far.
func (p *Writer) Bytes() int64 { return p.n }

// Flush writes what is buffered.
func (p *Writer) Flush() error { return p.w.Flush() }

// size returns how long the block of a packet is.
func (p *Writer) size(rec *Record) int64 {
	n := len(rec.Data)
	if p.snap > 0 {
		n = min(n, p.snap)
	}
	size := 32 + (n+3)&^3
	if rec.Direction != DirUnknown || rec.CRCError {
		size += 8
	}
	if rec.Comment != "" {
		size += 4 + (len(rec.Comment)+3)&^3
	}
	if size > 32+(n+3)&^3 {
		size += 4
	}
	return int64(size)
}
