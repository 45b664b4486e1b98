package capture

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim"
	"rdmasim/sim/simtest"
)

// ibPacket returns a SEND of 6 bytes behind a GRH, or without one.
func ibPacket(withGRH bool) (grh, bth []byte) {
	h := BTH{Opcode: OpcodeRCSendOnly, DestQP: 0x31, PSN: 9, Pad: 2, PKey: DefaultPKey}
	bth = make([]byte, SizeBTH)
	h.encode(bth)
	bth = append(bth, "hello!\x00\x00"...)
	if withGRH {
		g := GRH{TrafficClass: 2, Length: uint16(len(bth) + SizeICRC), Next: GRHNextBTH, HopLimit: 3, SGID: netip.MustParseAddr("fe80::1"), DGID: netip.MustParseAddr("fe80::2")}
		grh = make([]byte, SizeGRH)
		g.encode(grh)
	}
	return grh, bth
}

// roceV1 returns a RoCEv1 frame.
func roceV1() []byte {
	grh, bth := ibPacket(true)
	p := append(grh, bth...)
	p = binary.LittleEndian.AppendUint32(p, icrcGRH(nil, p))
	return append([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x89, 0x15}, p...)
}

// infiniBand returns a packet with an LRH, with or without a GRH, and its VCRC.
func infiniBand(withGRH bool) []byte {
	grh, bth := ibPacket(withGRH)
	h := LRH{VL: 1, SL: 2, Next: LinkLocal, DLID: 7, SLID: 8, Words: uint16((SizeLRH + len(grh) + len(bth) + SizeICRC) / 4)}
	if withGRH {
		h.Next = LinkGRH
	}
	lrh := make([]byte, SizeLRH)
	h.encode(lrh)
	var crc uint32
	if withGRH {
		crc = icrcGRH(lrh, append(append([]byte(nil), grh...), bth...))
	} else {
		crc = icrcLocal(lrh, bth)
	}
	p := append(append(lrh, grh...), bth...)
	return append(binary.LittleEndian.AppendUint32(p, crc), 0, 0)
}

// However a frame begins, what it carries is found.
func TestEveryLinkType(t *testing.T) {
	p := sample(OpcodeRCSendOnly, false)
	eth, err := p.Append(nil)
	require.NoError(t, err)
	p6 := sample(OpcodeRCSendOnly, true)
	eth6, err := p6.Append(nil)
	require.NoError(t, err)
	cooked := append([]byte{0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0}, eth[14:]...)
	cooked2 := append([]byte{8, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0}, eth[14:]...)
	erf := append(append(make([]byte, 8), 0x82, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0), eth...)
	erfIB := append(append(make([]byte, 8), 21, 0, 0, 0, 0, 0, 0, 0), infiniBand(true)...)
	fcs := append(append([]byte(nil), eth...), 1, 2, 3, 4)
	for name, c := range map[string]struct {
		link LinkType
		data []byte
		kind FrameKind
		src  string
	}{
		"Ethernet":          {LinkEthernet, eth, KindRoCEv2, "11.0.0.1"},
		"with FCS":          {LinkEthernet, fcs, KindRoCEv2, "11.0.0.1"},
		"IP":                {LinkRaw101, eth[14:], KindRoCEv2, "11.0.0.1"},
		"IPv6":              {LinkIPv6Only, eth6[14:], KindRoCEv2, "fd00::1"},
		"BSD loopback":      {LinkNull, append([]byte{2, 0, 0, 0}, eth[14:]...), KindRoCEv2, "11.0.0.1"},
		"OpenBSD loopback":  {LinkLoop, append([]byte{0, 0, 0, 2}, eth[14:]...), KindRoCEv2, "11.0.0.1"},
		"IP, number 12":     {LinkRaw12, eth[14:], KindRoCEv2, "11.0.0.1"},
		"IP, number 14":     {LinkRaw14, eth6[14:], KindRoCEv2, "fd00::1"},
		"Linux cooked":      {LinkSLL, cooked, KindRoCEv2, "11.0.0.1"},
		"Linux cooked 2":    {LinkSLL2, cooked2, KindRoCEv2, "11.0.0.1"},
		"ERF":               {LinkERF, erf, KindRoCEv2, "11.0.0.1"},
		"RoCEv1":            {LinkEthernet, roceV1(), KindRoCEv1, "fe80::1"},
		"InfiniBand":        {LinkInfiniBand, infiniBand(false), KindInfiniBand, "::8"},
		"InfiniBand routed": {LinkInfiniBand, infiniBand(true), KindInfiniBand, "fe80::1"},
		"ERF of InfiniBand": {LinkERF, erfIB, KindInfiniBand, "fe80::1"},
	} {
		var f Frame
		f.Decode(c.link, c.data, len(c.data))
		assert.Equal(t, c.kind, f.Kind, "%s: %s", name, f.Why)
		assert.Equal(t, c.src, f.Src.String(), name)
		assert.Equal(t, ICRCValid, f.ICRC, name)
		assert.Equal(t, OpcodeRCSendOnly, f.BTH.Opcode, name)
		assert.True(t, c.link.Known())
	}
	assert.False(t, LinkType(147).Known())
}

func TestGopacketDissectsGRHAndLRH(t *testing.T) {
	g := gopacket.NewPacket(roceV1(), layers.LayerTypeEthernet, gopacket.Default)
	require.Nil(t, g.ErrorLayer())
	assert.Equal(t, "fe80::2", g.Layer(LayerTypeGRH).(*GRHLayer).DGID.String())
	assert.EqualValues(t, 0x31, g.Layer(LayerTypeBTH).(*BTHLayer).DestQP)
	for _, withGRH := range []bool{false, true} {
		g = gopacket.NewPacket(infiniBand(withGRH), LayerTypeLRH, gopacket.Default)
		require.Nil(t, g.ErrorLayer())
		assert.EqualValues(t, 8, g.Layer(LayerTypeLRH).(*LRHLayer).SLID)
		assert.Equal(t, "hello!", string(g.ApplicationLayer().Payload()))
		assert.NotNil(t, g.Layer(LayerTypeICRC))
	}
}

// Wireshark agrees about RoCEv1 and InfiniBand.
func TestTsharkReadsRoCEv1AndInfiniBand(t *testing.T) {
	if testing.Short() {
		t.Skip("tshark takes a second")
	}
	simtest.Tool(t, "tshark", "tshark")
	var file bytes.Buffer
	w, err := NewWriter(&file, "a test", 0)
	require.NoError(t, err)
	require.NoError(t, w.Interface(Interface{Name: "eth0", Link: LinkEthernet}))
	require.NoError(t, w.Interface(Interface{Name: "ib0", Link: LinkERF}))
	erf := func(b []byte) []byte {
		h := append(make([]byte, 8), 21, 0)
		h = binary.BigEndian.AppendUint16(h, uint16(16+len(b)))
		h = append(h, 0, 0)
		return append(binary.BigEndian.AppendUint16(h, uint16(len(b))), b...)
	}
	for i, b := range [][]byte{roceV1(), erf(infiniBand(false)), erf(infiniBand(true))} {
		require.NoError(t, w.Packet(sim.Time(i)*sim.Time(sim.Microsecond), &Record{Interface: min(i, 1), Data: b, Original: len(b)}))
	}
	require.NoError(t, w.Flush())
	name := filepath.Join(t.TempDir(), "ib.pcapng")
	require.NoError(t, os.WriteFile(name, file.Bytes(), 0o644))
	got := simtest.Tshark(t, name, "--disable-protocol", "rpcordma", "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "infiniband.bth.destqp", "-e", "infiniband.bth.psn", "-e", "infiniband.grh.dgid", "-e", "infiniband.lrh.slid", "-e", "_ws.malformed")
	require.Len(t, got, 3)
	assert.Equal(t, "4\t0x000031\t9\tfe80::2\t\t", got[0])
	assert.Contains(t, got[1], "4\t0x000031\t9\t\t")
	assert.Contains(t, got[2], "4\t0x000031\t9\tfe80::2\t")
}
