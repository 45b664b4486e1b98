package capture

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seeds are frames of every opcode and encapsulation, and pause frames.
func seeds(t testing.TB) (list [][]byte) {
	every(func(o Opcode, _ *OpcodeInfo) {
		for _, v6 := range []bool{false, true} {
			p := sample(o, v6)
			b, err := p.Append(nil)
			require.NoError(t, err)
			list = append(list, b)
		}
	})
	p := sample(OpcodeAck, false)
	p.VLAN = &VLAN{ID: 5, Priority: 6}
	p.VXLAN = &Tunnel{Src: p.Src, Dst: p.Dst}
	b, err := p.Append(nil)
	require.NoError(t, err)
	list = append(list, b)
	return append(list, AppendPause(nil, [6]byte{1}, &Pause{Priority: true, Classes: 8, Quanta: [8]uint16{3: 65535}}), AppendPause(nil, [6]byte{1}, &Pause{Quanta: [8]uint16{1}}))
}

// Whatever the bytes, a frame is taken apart without a panic, and where it is
// RoCEv2, as gopacket's layers take it apart.
func FuzzDecodeFrame(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(uint16(LinkEthernet), b)
		f.Add(uint16(LinkRaw101), b[14:])
		f.Add(uint16(LinkSLL), append(append([]byte{0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0}, b[12:14]...), b[14:]...))
		f.Add(uint16(LinkERF), append(append(make([]byte, 8), 2, 0, 0, 0, 0, 0, 0, 0, 0, 0), b...))
	}
	for _, b := range tunnels(f, seeds(f)[0]) {
		f.Add(uint16(LinkEthernet), b)
	}
	f.Add(uint16(LinkInfiniBand), append([]byte{0, 2, 0, 1, 0, 7, 0, 2}, make([]byte, 24)...))
	f.Fuzz(func(t *testing.T, link uint16, b []byte) {
		var x Frame
		x.Decode(LinkType(link), b, len(b))
		for cut := range min(len(b), 100) {
			var y Frame
			y.Decode(LinkType(link), b[:cut], len(b))
			if y.ICRC == ICRCValid {
				assert.True(t, y.Kind.RDMA())
			}
		}
		if LinkType(link) != LinkEthernet {
			return
		}
		p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.NoCopy)
		if x.Kind != KindRoCEv2 || x.Tunnelled || x.VLANCount > 0 || len(x.Data) != x.Payload || p.ErrorLayer() != nil {
			return
		}
		if l, ok := p.Layer(LayerTypeBTH).(*BTHLayer); ok {
			assert.Equal(t, x.BTH, l.BTH)
		}
	})
}

// A header that is written is read as it was.
func FuzzHeaders(f *testing.F) {
	f.Add(bytes.Repeat([]byte{0xa5}, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < SizeGRH {
			return
		}
		var bth, again BTH
		bth.decode(b)
		out := make([]byte, SizeBTH)
		bth.encode(out)
		again.decode(out)
		assert.Equal(t, bth, again)
		for i, size := range extSizes {
			var x, y Extended
			x.header(i).decode(b)
			out := make([]byte, size)
			x.header(i).encode(out)
			y.header(i).decode(out)
			assert.Equal(t, x, y)
		}
		var g, h GRH
		g.decode(b)
		out = make([]byte, SizeGRH)
		g.encode(out)
		h.decode(out)
		assert.Equal(t, g, h)
		var l, m LRH
		l.decode(b)
		out = make([]byte, SizeLRH)
		l.encode(out)
		m.decode(out)
		assert.Equal(t, l, m)
		var p, q Pause
		if p.decode(b) {
			out = make([]byte, p.size())
			p.encode(out)
			require.True(t, q.decode(out))
			assert.Equal(t, p, q)
		}
	})
}

// Whatever the file, it is read to its end or to an error, within bounds.
func FuzzReader(f *testing.F) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		f.Add(writePcap(order, magicMicro, 1, seeds(f)[:3], 7))
		f.Add(writePcap(order, magicNano, uint32(LinkRaw101)|0x24000000, seeds(f)[:3], 7))
		f.Add(writePcapng(order))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		var rec Record
		total := 0
		if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte("BZh")) {
			total = -1 << 40 // unpacked, there may be more
		}
		for r.Next(&rec) == nil {
			total += len(rec.Data)
			require.LessOrEqual(t, total, len(b), "no byte is there twice")
			require.Less(t, rec.Interface, len(r.Interfaces))
			require.GreaterOrEqual(t, rec.Original, len(rec.Data))
			require.GreaterOrEqual(t, rec.Pico, int64(0))
		}
	})
}
