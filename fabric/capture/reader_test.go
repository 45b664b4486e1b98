package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writePcap writes the records of a pcap file.
func writePcap(order binary.AppendByteOrder, magic uint32, link uint32, packets [][]byte, fraction uint32) []byte {
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(b, 2)
	b = order.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = order.AppendUint32(b, 262144)
	b = order.AppendUint32(b, link)
	for i, p := range packets {
		b = order.AppendUint32(b, uint32(1000+i))
		b = order.AppendUint32(b, fraction)
		b = order.AppendUint32(b, uint32(len(p)))
		b = order.AppendUint32(b, uint32(len(p)+3))
		b = append(b, p...)
	}
	return b
}

// block writes a pcapng block.
func block(order binary.AppendByteOrder, kind uint32, body []byte) []byte {
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	n := uint32(len(body) + 12)
	b := order.AppendUint32(nil, kind)
	b = order.AppendUint32(b, n)
	b = append(b, body...)
	return order.AppendUint32(b, n)
}

func option(order binary.AppendByteOrder, code uint16, v []byte) []byte {
	b := order.AppendUint16(nil, code)
	b = order.AppendUint16(b, uint16(len(v)))
	b = append(b, v...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// writePcapng writes a section with two interfaces of different resolution.
func writePcapng(order binary.AppendByteOrder) []byte {
	section := order.AppendUint32(nil, magicOrder)
	section = order.AppendUint16(section, 1)
	section = order.AppendUint16(section, 0)
	section = order.AppendUint64(section, 1<<64-1)
	section = append(section, option(order, optApplication, []byte("a test"))...)
	out := block(order, blockSection, append(section, 0, 0, 0, 0))
	face := func(name string, resolution byte) []byte {
		b := order.AppendUint16(nil, uint16(LinkEthernet))
		b = append(b, 0, 0)
		b = order.AppendUint32(b, 0)
		b = append(b, option(order, optName, []byte(name))...)
		b = append(b, option(order, optResolution, []byte{resolution})...)
		b = append(b, option(order, optSpeed, order.AppendUint64(nil, 100_000_000_000))...)
		return append(b, 0, 0, 0, 0)
	}
	out = append(out, block(order, blockInterface, face("one", 9))...)
	out = append(out, block(order, blockInterface, face("two", 0x80|10))...)
	out = append(out, block(order, blockStatistics, make([]byte, 12))...)
	packet := func(iface uint32, stamp uint64, data []byte, options ...[]byte) []byte {
		b := order.AppendUint32(nil, iface)
		b = order.AppendUint32(b, uint32(stamp>>32))
		b = order.AppendUint32(b, uint32(stamp))
		b = order.AppendUint32(b, uint32(len(data)))
		b = order.AppendUint32(b, 100)
		b = append(b, data...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
		for _, o := range options {
			b = append(b, o...)
		}
		return b
	}
	out = append(out, block(order, blockPacket, packet(0, 7_000_000_123, []byte("abc"), option(order, optFlags, order.AppendUint32(nil, 1|flagCRCError)), option(order, optComment, []byte("hello"))))...)
	out = append(out, block(order, blockPacket, packet(1, 3*1024+512, []byte("defgh")))...)
	return append(out, block(order, blockSimple, append(order.AppendUint32(nil, 4), "ijkl"...))...)
}

// all reads every record.
func all(t *testing.T, r *Reader) (list []Record) {
	t.Helper()
	for {
		var rec Record
		err := r.Next(&rec)
		if err == io.EOF {
			return list
		}
		require.NoError(t, err)
		rec.Data = bytes.Clone(rec.Data)
		list = append(list, rec)
	}
}

func TestPcapOfEveryKind(t *testing.T) {
	packets := [][]byte{[]byte("first"), {}, []byte("third one")}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for magic, unit := range map[uint32]int64{magicMicro: 1e6, magicNano: 1e3} {
			r, err := NewReader(bytes.NewReader(writePcap(order, magic, 1, packets, 42)))
			require.NoError(t, err)
			list := all(t, r)
			require.Len(t, list, 3)
			for i, rec := range list {
				assert.Equal(t, string(packets[i]), string(rec.Data))
				assert.Equal(t, int64(1000+i), rec.Sec)
				assert.Equal(t, 42*unit, rec.Pico)
				assert.Equal(t, len(packets[i])+3, rec.Original)
			}
		}
	}
}

func TestPcapngOfBothOrders(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		data := writePcapng(order)
		data = append(data, writePcapng(binary.BigEndian)...) // sections may follow each other in any order
		r, err := NewReader(bytes.NewReader(data))
		require.NoError(t, err)
		list := all(t, r)
		require.Len(t, list, 6)
		assert.Equal(t, "a test", r.Application)
		require.Len(t, r.Interfaces, 4)
		assert.Equal(t, "two", r.Interfaces[3].Name)
		assert.EqualValues(t, 100_000_000_000, r.Interfaces[0].Speed)
		for i, rec := range list[:3] {
			again := list[i+3]
			assert.Equal(t, rec.Interface+2, again.Interface)
			assert.Equal(t, rec.Data, again.Data)
			assert.Equal(t, rec.Pico, again.Pico)
		}
		assert.Equal(t, Record{Interface: 0, Sec: 7, Pico: 123_000, HasTime: true, Data: []byte("abc"), Original: 100, Direction: DirIn, CRCError: true, Comment: "hello"}, list[0])
		assert.EqualValues(t, 3, list[1].Sec)
		assert.EqualValues(t, 5e11, list[1].Pico, "half a second in units of 1/1024")
		assert.False(t, list[2].HasTime)
		assert.Equal(t, "ijkl", string(list[2].Data))
	}
}

func TestWhatIsNoCapture(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "the file is empty",
		"abc":                             "neither pcap nor pcapng",
		"hello world, this is no capture": "neither pcap nor pcapng",
		"\x1f\x8b\x07\x00" + strings.Repeat("x", 30): "a gzip file with a damaged head",
		"\x28\xb5\x2f\xfdxxxx":                       "compressed by zstd",
		"\xfd7zXZ\x00xx":                             "compressed by xz",
		"\x04\x22\x4d\x18xxxx":                       "compressed by lz4",
		"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00xxxxyyyy":   "without its byte-order magic",
	} {
		r, err := NewReader(strings.NewReader(text))
		if err == nil {
			err = r.Next(new(Record))
		}
		assert.ErrorContains(t, err, want, "%q", text)
	}
}

// A capture that was cut off is read up to there.
func TestCaptureThatWasCutOff(t *testing.T) {
	for _, data := range [][]byte{writePcap(binary.LittleEndian, magicNano, 1, [][]byte{[]byte("first"), []byte("second")}, 0), writePcapng(binary.LittleEndian)} {
		for cut := range len(data) {
			r, err := NewReader(bytes.NewReader(data[:cut]))
			for err == nil {
				err = r.Next(new(Record))
			}
			assert.True(t, err == io.EOF || IsCut(err) || cut < 24, "%d: %v", cut, err)
		}
	}
}

func TestMergeReadsInTheOrderOfTime(t *testing.T) {
	a := writePcap(binary.LittleEndian, magicNano, 1, [][]byte{[]byte("a0"), []byte("a1"), []byte("a2")}, 0)
	b := writePcap(binary.BigEndian, magicMicro, 1, [][]byte{[]byte("b0"), []byte("b1")}, 7)
	m, err := Merge([]Source{{"a", bytes.NewReader(a)}, {"b", bytes.NewReader(b[:len(b)-1])}})
	require.NoError(t, err)
	var got []string
	for {
		var rec Record
		err := m.Next(&rec)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		got = append(got, m.Interfaces[rec.Interface].Name+" "+string(rec.Data))
	}
	assert.Equal(t, []string{"a/if0 a0", "b/if0 b0", "a/if0 a1", "a/if0 a2"}, got, "the last of b was cut off")
	assert.Equal(t, []string{"b"}, m.Cut)
}
