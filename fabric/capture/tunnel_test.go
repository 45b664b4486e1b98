package capture

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ipv4Around returns a packet of a protocol from 192.168.0.1.
func ipv4Around(protocol byte, tos byte, inside []byte) []byte {
	h := []byte{0x45, tos, 0, 0, 0, 1, 0x40, 0, 64, protocol, 0, 0, 192, 168, 0, 1, 192, 168, 0, 2}
	binary.BigEndian.PutUint16(h[2:], uint16(len(h)+len(inside)))
	return append(h, inside...)
}

// udpAround returns a datagram to a port.
func udpAround(port uint16, inside []byte) []byte {
	h := binary.BigEndian.AppendUint16([]byte{0x30, 0x39}, port)
	h = binary.BigEndian.AppendUint16(h, uint16(8+len(inside)))
	return append(append(h, 0, 0), inside...)
}

func etherAround(etherType uint16, inside []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{2, 9, 9, 9, 9, 2, 2, 9, 9, 9, 9, 1}, etherType), inside...)
}

func bytesOf(t testing.TB, digits string, rest []byte) []byte {
	b, err := hex.DecodeString(digits)
	require.NoError(t, err)
	return append(b, rest...)
}

// tunnels are encapsulations of an Ethernet frame.
func tunnels(t testing.TB, eth []byte) map[string][]byte {
	of := func(digits string, rest []byte) []byte { return bytesOf(t, digits, rest) }
	ip := func(protocol byte, inside []byte) []byte {
		return etherAround(EtherTypeIPv4, ipv4Around(protocol, 3, inside))
	}
	hop := append([]byte{protoGRE, 0, 1, 4, 0, 0, 0, 0}, of("00006558", eth)...)
	v6 := append(binary.BigEndian.AppendUint16([]byte{0x60, 0, 0, 0}, uint16(len(hop))), 0, 64)
	v6 = append(append(v6, bytes.Repeat([]byte{0xfd}, 32)...), hop...)
	return map[string][]byte{
		"GRE":                   ip(protoGRE, of("00006558", eth)),
		"GRE with key":          ip(protoGRE, of("2000655800000007", eth)),
		"GRE with all":          ip(protoGRE, of("b0006558"+"00000000"+"00000007"+"00000001", eth)),
		"GRE of IP":             ip(protoGRE, of("00000800", eth[14:])),
		"GRE in IPv6":           etherAround(EtherTypeIPv6, v6),
		"ERSPAN I":              ip(protoGRE, of("000088be", eth)),
		"ERSPAN II":             ip(protoGRE, of("100088be00000005"+"1000000100000000", eth)),
		"ERSPAN III":            ip(protoGRE, of("100022eb00000005"+"200000010000000000000000", eth)),
		"ERSPAN III, subheader": ip(protoGRE, of("100022eb00000005"+"200000010000000000000001"+"1122334455667788", eth)),
		"ERSPAN III of IP":      ip(protoGRE, of("100022eb00000005"+"200000010000000000000800", eth[14:])),
		"VXLAN":                 ip(protoUDP, udpAround(VXLANPort, of("0800000000010000", eth))),
		"Geneve":                ip(protoUDP, udpAround(genevePort, of("0000655800010000", eth))),
		"Geneve with options":   ip(protoUDP, udpAround(genevePort, of("020065580001000001020304a1a2a3a4", eth))),
		"IP in IP":              ip(protoIPv4, eth[14:]),
		"MPLS":                  etherAround(EtherTypeMPLS, of("0001004000020140", eth[14:])),
		"MPLS pseudowire":       etherAround(EtherTypeMPLS, of("0001014000000000", eth)),
		"GRE in GRE":            ip(protoGRE, of("00000800", ipv4Around(protoGRE, 0, of("00006558", eth)))),
		"VXLAN in ERSPAN":       ip(protoGRE, of("000088be", etherAround(EtherTypeIPv4, ipv4Around(protoUDP, 0, udpAround(VXLANPort, of("0800000000010000", eth)))))),
	}
}

// Mirrors and overlays: what is inside is found, with its ICRC, and only a mark
// that an overlay may have got counts.
func TestTunnels(t *testing.T) {
	p := sample(OpcodeRCWriteFirst, false)
	p.ECN = ECT0
	eth, err := p.Append(nil)
	require.NoError(t, err)
	for name, b := range tunnels(t, eth) {
		var f Frame
		f.Decode(LinkEthernet, b, len(b))
		require.Equal(t, KindRoCEv2, f.Kind, "%s: %s", name, f.Why)
		assert.Equal(t, "11.0.0.1", f.Src.String(), name)
		assert.Equal(t, ICRCValid, f.ICRC, name)
		assert.Equal(t, OpcodeRCWriteFirst, f.BTH.Opcode, name)
		assert.Equal(t, name != "MPLS", f.Tunnelled, name)
		mirror := name[:2] == "ER" || name == "VXLAN in ERSPAN"
		assert.Equal(t, !mirror && name[:2] != "MP" && name != "GRE in IPv6", f.CE(), "%s: the outside is marked", name)
		for cut := range b { // any length whatever
			f.Decode(LinkEthernet, b[:cut], len(b))
		}
	}
	// Deeper than anybody nests them.
	b := eth[14:]
	for range maxTunnels + 1 {
		b = ipv4Around(protoIPv4, 0, b)
	}
	var f Frame
	f.Decode(LinkRaw101, b, len(b))
	assert.Equal(t, KindOther, f.Kind)
	// A pause frame in a mirror is one.
	b = etherAround(EtherTypeIPv4, ipv4Around(protoGRE, 0, bytesOf(t, "000088be", AppendPause(nil, [6]byte{1}, &Pause{Priority: true, Classes: 8}))))
	f.Decode(LinkEthernet, b, len(b))
	assert.Equal(t, KindPause, f.Kind)
}

// What is captured of a frame is taken from it, however little that is.
func TestHeadersThatWereCutOff(t *testing.T) {
	every(func(o Opcode, info *OpcodeInfo) {
		p := sample(o, false)
		eth, err := p.Append(nil)
		require.NoError(t, err)
		var whole Frame
		whole.Decode(LinkEthernet, eth, len(eth))
		for cut := 54; cut < len(eth); cut++ { // from the end of the BTH on
			var f Frame
			f.Decode(LinkEthernet, eth[:cut], len(eth))
			require.Equal(t, KindRoCEv2, f.Kind, "%v cut at %d: %s", o, cut, f.Why)
			assert.True(t, f.Truncated)
			assert.Equal(t, whole.BTH, f.BTH)
			assert.Equal(t, whole.Payload, f.Payload, "by its lengths")
			assert.Equal(t, f.Have == whole.Have, f.Complete())
			if info.Verb != VerbCNP {
				assert.Equal(t, cut >= 54+info.Ext.Size(), f.Complete(), "%v cut at %d", o, cut)
			}
			if f.Have&ExtAETH != 0 {
				assert.Equal(t, whole.Ext.AETH, f.Ext.AETH)
			}
		}
	})
}

// Captures that are packed are unpacked on the way.
func TestReaderUnpacks(t *testing.T) {
	plain := writePcap(binary.LittleEndian, magicNano, 1, [][]byte{[]byte("first"), []byte("second")}, 0)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(plain)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for cut, want := range map[int]int{0: 2, 9: 0} { // the trailer of 8 bytes and one more
		r, err := NewReader(bytes.NewReader(packed.Bytes()[:packed.Len()-cut]))
		require.NoError(t, err)
		n := 0
		var rec Record
		for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
			n++
		}
		if cut == 0 {
			assert.Equal(t, io.EOF, err)
			assert.Equal(t, want, n)
		} else {
			assert.True(t, IsCut(err), "%v", err)
		}
	}
}

// Files of a patched libpcap have eight bytes more in front of every packet.
func TestReaderOfPatchedLibpcap(t *testing.T) {
	plain := writePcap(binary.BigEndian, magicMicro, 1, nil, 0)
	b := binary.BigEndian.AppendUint32(nil, magicModified)
	b = append(b, plain[4:]...)
	for range 2 {
		for _, v := range []uint32{7, 9, 3, 3, 1, 0x08000004} {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		b = append(b, "abc"...)
	}
	r, err := NewReader(bytes.NewReader(b))
	require.NoError(t, err)
	for range 2 {
		var rec Record
		require.NoError(t, r.Next(&rec))
		assert.Equal(t, "abc", string(rec.Data))
		assert.EqualValues(t, 7, rec.Sec)
		assert.EqualValues(t, 9_000_000, rec.Pico)
	}
}
