package capture

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The two published frames whose ICRC was taken from an adapter: a CNP that a
// ConnectX-4 Lx sent, and a SEND on an unreliable connection.
const (
	publishedCNP = "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118000000000000000000000000000000000000000082fd002a"
	publishedUC  = "e41d2dab2bc27cfe90643b32080045010040047840004011b4d5c0a80007c0a80007c00012b7002c00002460ffff000000d300cf17104630818be28935d90e9a95505401be885e50000078f353f3"
)

func frame(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	require.NoError(t, err)
	return b
}

func TestPublishedICRCs(t *testing.T) {
	for text, want := range map[string]uint32{publishedCNP: 0x82fd002a, publishedUC: 0x78f353f3} {
		b := frame(t, text)
		body := b[sizeEthernet : len(b)-SizeICRC]
		got, ok := AppendICRC(append([]byte(nil), body...))
		require.True(t, ok)
		assert.Equal(t, want, binary.BigEndian.Uint32(got[len(body):]), "as written in the frame, least significant byte first")

		var f Frame
		f.Decode(LinkEthernet, b, len(b))
		assert.Equal(t, KindRoCEv2, f.Kind)
		assert.Equal(t, ICRCValid, f.ICRC)

		// What routers change does not matter; anything else does.
		for i := sizeEthernet; i < len(b)-SizeICRC; i++ {
			changed := append([]byte(nil), b...)
			changed[i] ^= 1
			var g Frame
			g.Decode(LinkEthernet, changed, len(changed))
			variant := map[int]bool{15: true, 22: true, 24: true, 25: true, 40: true, 41: true, 46: true}[i]
			if variant {
				assert.Equal(t, ICRCValid, g.ICRC, "byte %d may change on the way", i)
			} else {
				assert.NotEqual(t, ICRCValid, g.ICRC, "byte %d may not change", i)
			}
		}
	}
}

func TestPublishedFramesAreTakenApart(t *testing.T) {
	var f Frame
	b := frame(t, publishedCNP)
	f.Decode(LinkEthernet, b, len(b))
	assert.Equal(t, OpcodeCNP, f.BTH.Opcode)
	assert.True(t, f.BTH.BECN)
	assert.EqualValues(t, 0x118, f.BTH.DestQP)
	assert.EqualValues(t, 48, f.DSCP)
	assert.Equal(t, ECT0, f.ECN)
	assert.Equal(t, "10.0.17.1", f.Src.String())
	assert.Zero(t, f.Payload)

	b = frame(t, publishedUC)
	f.Decode(LinkEthernet, b, len(b))
	assert.Equal(t, "UC SEND Only", f.BTH.Opcode.String())
	assert.EqualValues(t, 0xd3, f.BTH.DestQP)
	assert.EqualValues(t, 0xcf1710, f.BTH.PSN)
	assert.Equal(t, 18, f.Payload, "two bytes of padding")
}

// every calls f for each opcode that the standard has.
func every(f func(Opcode, *OpcodeInfo)) {
	for o := range 256 {
		if i := Opcode(o).Info(); i.Valid() {
			f(Opcode(o), i)
		}
	}
}

// sample returns a packet of an opcode with something in every field.
func sample(o Opcode, v6 bool) Packet {
	p := Packet{SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, DSCP: 26, ECN: ECT0, TTL: 64, SrcPort: 0xc123,
		Src: netip.MustParseAddr("11.0.0.1"), Dst: netip.MustParseAddr("11.0.1.1"), Payload: 101, Fill: 7,
		BTH: BTH{Opcode: o, Solicited: true, Migrated: true, PKey: DefaultPKey, DestQP: 0x123456, AckReq: true, PSN: 0xfedcba},
		Ext: Extended{RDETH: RDETH{0xabcdef}, DETH: DETH{0x11111111, 0x222222}, RETH: RETH{0x123456789abcdef0, 0x55667788, 101},
			AtomicETH: AtomicETH{0x1020304050607080, 0x99aabbcc, 1, 2}, AETH: AETH{SyndromeAck, 0x010203}, AtomicAckETH: AtomicAckETH{77},
			ImmDt: ImmDt{0xcafe}, IETH: IETH{0xbeef}}}
	if v6 {
		p.Src, p.Dst, p.FlowLabel = netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2"), 0x12345
	}
	switch v := o.Info().Verb; {
	case v == VerbRead || v == VerbAck || v == VerbAtomicAck || v == VerbCompareSwap || v == VerbFetchAdd || v == VerbCNP || v == VerbResync:
		p.Payload = 0
	}
	return p
}

func TestEveryOpcodeSurvivesTheWire(t *testing.T) {
	n := 0
	every(func(o Opcode, info *OpcodeInfo) {
		n++
		for _, v6 := range []bool{false, true} {
			for _, tag := range []*VLAN{nil, {ID: 100, Priority: 3}} {
				for _, tunnel := range []*Tunnel{nil, {Src: netip.MustParseAddr("1.1.1.1"), Dst: netip.MustParseAddr("2.2.2.2"), ECN: CE, VNI: 77, TTL: 9}} {
					p := sample(o, v6)
					p.VLAN, p.VXLAN = tag, tunnel
					b, err := p.Append(nil)
					require.NoError(t, err)
					var f Frame
					f.Decode(LinkEthernet, b, len(b))
					require.Equal(t, KindRoCEv2, f.Kind, "%v: %s", o, f.Why)
					assert.Equal(t, ICRCValid, f.ICRC, o)
					want := p.BTH
					want.Pad = uint8(-p.Payload & 3)
					assert.Equal(t, want, f.BTH)
					assert.Equal(t, p.Payload, f.Payload, o)
					assert.Equal(t, p.Src, f.Src)
					assert.Equal(t, tunnel != nil, f.Tunnelled)
					assert.Equal(t, tunnel != nil, f.CE())
					assert.Equal(t, tag != nil, f.VLANCount == 1)
					for i := range extSizes {
						if info.Ext&(1<<i) != 0 {
							assert.Equal(t, p.Ext.header(i), f.Ext.header(i), "%v extension %d", o, i)
						}
					}
				}
			}
		}
	})
	assert.Equal(t, 23+12+22+2+1+23, n, "RC, UC, RD, UD, CNP, XRC")
}

func TestGopacketDissects(t *testing.T) {
	every(func(o Opcode, info *OpcodeInfo) {
		p := sample(o, false)
		b, err := p.Append(nil)
		require.NoError(t, err)
		g := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.Default)
		require.Nil(t, g.ErrorLayer(), "%v", o)
		bth, ok := g.Layer(LayerTypeBTH).(*BTHLayer)
		require.True(t, ok, "%v", o)
		assert.Equal(t, o, bth.Opcode)
		for i := range extSizes {
			l := g.Layer(extLayers[i])
			if info.Ext&(1<<i) == 0 {
				assert.Nil(t, l)
				continue
			}
			assert.Equal(t, p.Ext.header(i), l.(*ExtendedLayer).Header)
		}
		want, _ := ICRC(b[sizeEthernet : len(b)-SizeICRC])
		assert.Equal(t, want, g.Layer(LayerTypeICRC).(*ICRCLayer).ICRC)
	})
}
