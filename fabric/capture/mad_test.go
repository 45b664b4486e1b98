package capture

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim"
	"rdmasim/sim/simtest"
)

// cmSamples are a message of each kind that is written.
func cmSamples() []CM {
	return []CM{
		{Kind: CMReq, Transaction: 7, Local: 0x1234, Service: serviceIP | 4711, QPN: 0xabcdef, PSN: 0x123456, ResponderRes: 4, InitiatorDepth: 5, RetryCount: 6, RNRRetry: 7,
			AckTimeout: 18, PathMTU: 5, MaxRetries: 15, ResponseTimeout: 20, Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), SrcPort: 4712},
		{Kind: CMReq, Local: 1, Service: 99, QPN: 2, PSN: 3, Transport: 1, PathMTU: 1, Src: netip.MustParseAddr("fd00::1"), Dst: netip.MustParseAddr("fd00::2")},
		{Kind: CMRep, Transaction: 7, Local: 9, Remote: 0x1234, QPN: 0xfedcba, PSN: 0x654321, ResponderRes: 3, InitiatorDepth: 2, RNRRetry: 5},
		{Kind: CMRtu, Local: 0x1234, Remote: 9},
		{Kind: CMRej, Local: 9, Remote: 0x1234, Reason: 28},
		{Kind: CMDreq, Local: 0x1234, Remote: 9, QPN: 0xfedcba},
		{Kind: CMDrep, Local: 9, Remote: 0x1234},
	}
}

// cmFrame is the frame of a message.
func cmFrame(t testing.TB, c CM) []byte {
	body := c.AppendMAD(nil)
	require.Len(t, body, SizeMAD)
	p := Packet{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), TTL: 64, SrcPort: 0xc000, Payload: SizeMAD, Body: body,
		BTH: BTH{Opcode: OpcodeUDSendOnly, DestQP: GSI, PKey: DefaultPKey, Migrated: true}, Ext: Extended{DETH: DETH{QKey: QKeyGSI, SrcQP: GSI}}}
	b, err := p.Append(nil)
	require.NoError(t, err)
	return b
}

// What is written is read as it was, by Frame and by gopacket's layers.
func TestConnectionManagement(t *testing.T) {
	for _, c := range cmSamples() {
		b := cmFrame(t, c)
		var f Frame
		f.Decode(LinkEthernet, b, len(b))
		require.Equal(t, ICRCValid, f.ICRC)
		got, ok := f.CM()
		require.True(t, ok)
		require.Equal(t, c, got)
		p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.Default)
		require.Nil(t, p.ErrorLayer())
		l, ok := p.Layer(LayerTypeCM).(*CMLayer)
		require.True(t, ok)
		require.Equal(t, c, l.CM)
		buf := gopacket.NewSerializeBuffer()
		require.NoError(t, l.SerializeTo(buf, gopacket.SerializeOptions{}))
		require.Equal(t, c.AppendMAD(nil), buf.Bytes())
	}
	var c CM
	require.False(t, c.decodeMAD(make([]byte, SizeMAD)), "another class")
	req := cmSamples()[0]
	b := req.AppendMAD(nil)
	require.False(t, c.decodeMAD(b[:leastMAD-1]), "cut off")
	require.True(t, c.decodeMAD(b[:leastMAD]))
	require.Equal(t, []any{req.QPN, req.PSN, req.PathMTU, uint16(0)}, []any{c.QPN, c.PSN, c.PathMTU, c.SrcPort})
}

// tshark reads the same numbers.
func TestTsharkReadsConnectionManagement(t *testing.T) {
	simtest.Tool(t, "tshark", "tshark")
	path := filepath.Join(t.TempDir(), "cm.pcapng")
	file, err := os.Create(path)
	require.NoError(t, err)
	w, err := NewWriter(file, "test", 0)
	require.NoError(t, err)
	require.NoError(t, w.Interface(Interface{Name: "a", Link: LinkEthernet}))
	for i, c := range cmSamples() {
		b := cmFrame(t, c)
		require.NoError(t, w.Packet(sim.Time(i)*sim.Time(sim.Microsecond), &Record{Data: b, Original: len(b)}))
	}
	require.NoError(t, w.Flush())
	require.NoError(t, file.Close())
	lines := simtest.Tshark(t, path, "-T", "fields", "-e", "infiniband.mad.attributeid", "-e", "infiniband.cm.req.localqpn", "-e", "infiniband.cm.req.startpsn", "-e", "infiniband.cm.rep.localqpn",
		"-e", "infiniband.cm.rep.startpsn", "-e", "infiniband.cm.rej.reason", "-e", "_ws.malformed")
	require.Len(t, lines, len(cmSamples()))
	for i, want := range []string{"0x0010\t0xabcdef\t0x123456", "0x0010\t0x000002\t0x000003", "0x0013\t\t\t0xfedcba\t0x654321", "0x0014", "0x0012\t\t\t\t\t0x001c", "0x0015", "0x0016"} {
		assert.True(t, strings.HasPrefix(lines[i], want), "%q begins with %q", lines[i], want)
		assert.NotContains(t, lines[i], "alformed")
	}
}

// Whatever the datagram, it is read without a panic, and what is written of it
// is read as it was.
func FuzzCM(f *testing.F) {
	for _, c := range cmSamples() {
		f.Add(c.AppendMAD(nil))
	}
	f.Add(bytes.Repeat([]byte{1}, SizeMAD))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c, again CM
		if !c.decodeMAD(b) {
			return
		}
		require.True(t, again.decodeMAD(c.AppendMAD(nil)))
		if !c.Src.Is4() && c.Src.IsValid() || c.Kind != CMReq {
			assert.Equal(t, c, again)
		}
	})
}
