package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
)

// Bounds of what a reader takes from a file.
const (
	// MaxRecord is the longest block or packet record that is read, in bytes.
	MaxRecord = 16 << 20
	// MaxInterfaces bounds the interfaces of a pcapng file.
	MaxInterfaces = 65536
	readBuffer    = 256 << 10
)

// Direction of a packet, seen from its interface.
type Direction uint8

// Directions.
const (
	DirUnknown Direction = iota
	DirIn
	DirOut
)

// Interface is where packets were captured.
type Interface struct {
	Name        string // if_name, or ""
	Description string
	Link        LinkType
	SnapLen     uint32
	Speed       uint64 // bit/s, 0 = not told
	MAC         [6]byte
	HasMAC      bool
	Addresses   []netip.Addr // of the host that the interface belongs to
	Filter      bool         // packets were selected, so that some are missing
	FCS         int          // bytes of FCS behind a frame; -1 = not told

	resolution uint64 // units of a time stamp per second
	offset     int64  // seconds to add
}

// Record is one captured packet. Data is valid until the next call of Next.
type Record struct {
	Interface int   // index in Reader.Interfaces
	Sec       int64 // time stamp: seconds since 1970
	Pico      int64 // and picoseconds
	HasTime   bool
	Data      []byte
	Original  int // bytes on the wire
	Direction Direction
	CRCError  bool // the frame was received with a wrong FCS
	Comment   string
	Drops     uint64 // packets that the capture lost between this one and the one before, as it says
}

// Reader reads pcap and pcapng files of both byte orders, record by record;
// those packed by gzip or bzip2 are unpacked on the way.
// Whatever it is given, it takes no more memory than MaxRecord and its
// interfaces.
type Reader struct {
	// Interfaces are those described so far. A pcap file has one.
	Interfaces []Interface
	// Application wrote the file, as a pcapng file says.
	Application string
	// Ended is when the capture ended, as its statistics say: HasTime is false
	// where they do not. Drops are the packets that it lost by them.
	Ended Record

	r       *bufio.Reader
	at      int64
	buf     []byte
	order   binary.ByteOrder
	ng      bool
	section int // first interface of the section
	nano    bool
	extra   int // bytes that the head of a record has besides
	drops   map[int]uint64
}

// Magic numbers of capture files.
const (
	magicMicro    = 0xa1b2c3d4
	magicNano     = 0xa1b23c4d
	magicModified = 0xa1b2cd34 // of a patched libpcap
	magicSection  = 0x0a0d0d0a
	magicOrder    = 0x1a2b3c4d
)

// extraModified is what heads of records have besides in files of a patched
// libpcap: interface, protocol and packet type.
const extraModified = 8

// ErrNotCapture is returned for what is neither pcap nor pcapng.
var ErrNotCapture = errors.New("neither pcap nor pcapng")

// NewReader reads the head of a capture.
func NewReader(in io.Reader) (*Reader, error) {
	packed := bufio.NewReaderSize(in, readBuffer)
	plain, err := unpacked(packed)
	if err != nil {
		return nil, err
	}
	r := &Reader{r: plain}
	head, err := r.r.Peek(4)
	if err != nil {
		if len(head) == 0 && err == io.EOF {
			return nil, fmt.Errorf("the file is empty: want pcap or pcapng")
		}
		if err == io.EOF {
			return nil, ErrNotCapture
		}
		return nil, err
	}
	switch magic := binary.LittleEndian.Uint32(head); {
	case magic == magicSection:
		r.ng = true
		r.drops = map[int]uint64{}
		return r, nil
	case magic == magicMicro || magic == magicNano || magic == magicModified:
		r.order = binary.LittleEndian
	default:
		r.order = binary.BigEndian
	}
	return r, r.pcapHead()
}

// pcapHead reads the 24 bytes in front of a pcap file.
func (r *Reader) pcapHead() error {
	magic := r.order
	b, err := r.take(24)
	if err != nil {
		if err == io.ErrUnexpectedEOF {
			return ErrNotCapture
		}
		return err
	}
	switch magic.Uint32(b) {
	case magicMicro:
	case magicNano:
		r.nano = true
	case magicModified:
		r.extra = extraModified
	default:
		return ErrNotCapture
	}
	link := r.order.Uint32(b[20:])
	fcs := -1
	if link&0x04000000 != 0 { // f-bit: FCS length in 16-bit units follows
		fcs = int(link>>28) * 2
	}
	r.Interfaces = []Interface{{Link: LinkType(link & 0xffff), SnapLen: r.order.Uint32(b[16:]), FCS: fcs, resolution: 1e9}}
	return nil
}

// take returns the next n bytes, valid until the next call.
func (r *Reader) take(n int) ([]byte, error) {
	// A length may be a lie: memory grows with what is really there.
	for have := 0; ; {
		step := min(n, max(cap(r.buf), 2*have, 4096))
		if cap(r.buf) < step {
			grown := make([]byte, step)
			copy(grown, r.buf[:have])
			r.buf = grown
		}
		b := r.buf[:step]
		m, err := io.ReadFull(r.r, b[have:])
		r.at += int64(m)
		if err == io.EOF && (have > 0 || n == 0) {
			err = io.ErrUnexpectedEOF
			if n == 0 {
				err = nil
			}
		}
		if have = step; err != nil || have == n {
			return b, err
		}
	}
}

// fail says where in the file something does not fit.
func (r *Reader) fail(format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", r.at, fmt.Sprintf(format, args...))
}

// errCut is what a file that ends within a record gives.
var errCut = errors.New("the file ends within a record: it was cut off")

// IsCut reports whether an error of Next is that the file was cut off: what came
// before it is good.
func IsCut(err error) bool { return errors.Is(err, errCut) }

// Next reads the next packet, io.EOF after the last one.
func (r *Reader) Next(rec *Record) error {
	if r.ng {
		return r.nextBlock(rec)
	}
	b, err := r.take(16 + r.extra)
	if err != nil {
		return cutOff(err)
	}
	sec, frac := r.order.Uint32(b), r.order.Uint32(b[4:])
	have, original := r.order.Uint32(b[8:]), r.order.Uint32(b[12:])
	if have > MaxRecord {
		return r.fail("a packet of %d bytes: more than %d, so this is no pcap record", have, MaxRecord)
	}
	*rec = Record{Sec: int64(sec), Pico: int64(frac) * 1e6, HasTime: true, Original: bounded(original)}
	if r.nano {
		rec.Pico = int64(frac) * 1000
	}
	if rec.Data, err = r.take(int(have)); err != nil {
		return cutOff(noEOF(err))
	}
	rec.Original = max(rec.Original, len(rec.Data))
	r.trim(rec)
	return nil
}

func bounded(n uint32) int { return int(min(n, MaxRecord)) }

func cutOff(err error) error {
	if err == io.ErrUnexpectedEOF {
		return errCut
	}
	return err
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// trim takes an FCS off that the interface says is there.
func (r *Reader) trim(rec *Record) {
	if fcs := r.Interfaces[rec.Interface].FCS; fcs > 0 && rec.Original > fcs {
		rec.Original -= fcs
		rec.Data = rec.Data[:min(len(rec.Data), rec.Original)]
	}
}
