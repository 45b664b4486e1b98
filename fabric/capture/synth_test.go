package capture

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/simtest"
	"rdmasim/verbs"
)

// ends are two hosts of a simulation.
func ends() []Endpoint {
	var list []Endpoint
	for i := range 2 {
		v4, v6 := HostAddress(i, 0)
		list = append(list, Endpoint{Node: i, IPv4: v4, IPv6: v6})
	}
	return list
}

// What packets of a simulation say is what their frames say.
func TestSimulatedPacketsOnTheWire(t *testing.T) {
	const both = packet.FlagFirst | packet.FlagLast
	rc, uc, ud := packet.ServiceRC, packet.ServiceUC, packet.ServiceUD
	p := func(kind packet.Kind, op verbs.Opcode, flags uint8, ext uint32, change func(*packet.Packet)) packet.Packet {
		m := packet.Packet{Kind: kind, Opcode: uint8(op), Flags: flags, Ext: ext, Src: 0, Dst: 1, SrcQP: 0x21, DstQP: 0x42, PSN: 77, Payload: 100, TTL: 64, SrcPort: 0xc001, Aux: 5}
		if change != nil {
			change(&m)
		}
		return m
	}
	service := func(s uint8) func(*packet.Packet) { return func(m *packet.Packet) { m.Opcode |= s } }
	response := func(m *packet.Packet) { m.Opcode |= packet.OpResponse }
	for _, c := range []struct {
		m    packet.Packet
		want string
	}{
		{p(packet.Data, verbs.OpWrite, packet.FlagFirst, 9000, nil), "RC RDMA WRITE First length 9000"},
		{p(packet.Data, verbs.OpWrite, 0, 0, nil), "RC RDMA WRITE Middle"},
		{p(packet.Data, verbs.OpWrite, packet.FlagLast|packet.FlagAckReq, 0, nil), "RC RDMA WRITE Last ack"},
		{p(packet.Data, verbs.OpWrite, both, 0, nil), "RC RDMA WRITE Only length 100"},
		{p(packet.Data, verbs.OpWriteImm, both, 0xabc, nil), "RC RDMA WRITE Only with Immediate length 100 imm 0xabc"},
		{p(packet.Data, verbs.OpWriteImm, packet.FlagLast, 0xabc, service(uc)), "UC RDMA WRITE Last with Immediate imm 0xabc"},
		{p(packet.Data, verbs.OpSend, packet.FlagFirst, 0, nil), "RC SEND First"},
		{p(packet.Data, verbs.OpSendImm, both, 0xabc, nil), "RC SEND Only with Immediate imm 0xabc"},
		{p(packet.Data, verbs.OpSendInv, packet.FlagLast, 0xdef, nil), "RC SEND Last with Invalidate rkey 0xdef"},
		{p(packet.Data, verbs.OpSend, both, 0, service(ud)), "UD SEND Only qkey 5 from 0x21"},
		{p(packet.Data, verbs.OpSendImm, both, 0xabc, service(ud)), "UD SEND Only with Immediate imm 0xabc qkey 5 from 0x21"},
		{p(packet.Data, verbs.OpRead, both, 4000, nil), "RC RDMA READ Request length 4000"},
		{p(packet.Data, verbs.OpRead, packet.FlagFirst, 6, response), "RC RDMA READ response First ACK msn 6"},
		{p(packet.Data, verbs.OpRead, 0, 6, response), "RC RDMA READ response Middle"},
		{p(packet.Data, verbs.OpRead, both, 6, response), "RC RDMA READ response Only ACK msn 6"},
		{p(packet.Data, verbs.OpCompareSwap, both, 0, nil), "RC CmpSwap"},
		{p(packet.Data, verbs.OpFetchAdd, both, 0, nil), "RC FetchAdd"},
		{p(packet.Ack, verbs.OpFetchAdd, 0, packet.SyndromeAck, response), "RC ATOMIC Acknowledge ACK msn 5"},
		{p(packet.Ack, verbs.OpWrite, 0, packet.SyndromeAck, service(rc)), "RC Acknowledge ACK msn 5"},
		{p(packet.Nak, verbs.OpWrite, 0, packet.SyndromeSequence, nil), "RC Acknowledge PSN sequence error msn 5"},
		{p(packet.Nak, verbs.OpWrite, 0, packet.SyndromeAccess|99<<packet.SackShift, nil), "RC Acknowledge remote access error msn 5"},
		{p(packet.Nak, verbs.OpWrite, 0, packet.SyndromeRNR|12, nil), "RC Acknowledge RNR NAK 12 msn 5"},
		{p(packet.CNP, 0, 0, 0, nil), "CNP"},
	} {
		s := synth{endpoints: ends()}
		b, err := s.append(nil, &c.m, PortMAC(0, 0), PortMAC(1, 0))
		require.NoError(t, err)
		var f Frame
		f.Decode(LinkEthernet, b, len(b))
		require.Equal(t, KindRoCEv2, f.Kind)
		assert.Equal(t, ICRCValid, f.ICRC)
		assert.EqualValues(t, 0x42, f.BTH.DestQP)
		assert.Equal(t, "11.0.0.1", f.Src.String())
		assert.Equal(t, c.want, say(&f))
	}
}

// say tells what a frame says.
func say(f *Frame) string {
	text := f.BTH.Opcode.String()
	ext := f.Info().Ext
	add := func(e Ext, format string, args ...any) {
		if ext&e != 0 {
			text += " " + fmt.Sprintf(format, args...)
		}
	}
	add(ExtRETH, "length %d", f.Ext.RETH.Length)
	add(ExtImmDt, "imm 0x%x", f.Ext.ImmDt.Data)
	add(ExtIETH, "rkey 0x%x", f.Ext.IETH.RKey)
	add(ExtDETH, "qkey %d from 0x%x", f.Ext.DETH.QKey, f.Ext.DETH.SrcQP)
	if y := f.Ext.AETH.Syndrome; ext&ExtAETH != 0 {
		text += " " + y.String()
		if y.IsRNR() {
			text += " " + strconv.Itoa(int(y.Value()))
		}
		text += fmt.Sprintf(" msn %d", f.Ext.AETH.MSN)
	}
	if f.BTH.AckReq {
		text += " ack"
	}
	return text
}

// Wireshark reads every opcode as what it is, with IPv4 and IPv6, tagged and in
// a tunnel, and pause frames too.
func TestTsharkReadsEveryOpcode(t *testing.T) {
	if testing.Short() {
		t.Skip("tshark takes a second")
	}
	simtest.Tool(t, "tshark", "tshark")
	var file bytes.Buffer
	w, err := NewWriter(&file, "a test", 0)
	require.NoError(t, err)
	require.NoError(t, w.Interface(Interface{Name: "eth0", Link: LinkEthernet}))
	var want []string
	put := func(b []byte, line string) {
		require.NoError(t, w.Packet(sim.Time(len(want))*sim.Time(sim.Microsecond), &Record{Data: b, Original: len(b)}))
		want = append(want, line)
	}
	every(func(o Opcode, info *OpcodeInfo) {
		if info.Transport == TransportRD || info.Transport == TransportXRC {
			return // tshark does not take their headers apart
		}
		for _, v6 := range []bool{false, true} {
			p := sample(o, v6)
			line := fmt.Sprintf("%d\t%d\t%d", uint8(o), p.BTH.DestQP, p.BTH.PSN)
			for _, e := range []struct {
				ext  Ext
				text string
			}{{ExtRETH, "101"}, {ExtAETH, "31"}, {ExtDETH, strconv.Itoa(0x222222)}} {
				line += "\t"
				if info.Ext&e.ext != 0 {
					line += e.text
				}
			}
			b, err := p.Append(nil)
			require.NoError(t, err)
			put(b, line)
		}
	})
	put(AppendPause(nil, [6]byte{2}, &Pause{Priority: true, Classes: 8, Quanta: [8]uint16{3: 65535}}), strings.Repeat("\t", 5))
	require.NoError(t, w.Flush())
	name := filepath.Join(t.TempDir(), "all.pcapng")
	require.NoError(t, os.WriteFile(name, file.Bytes(), 0o644))
	got := simtest.Tshark(t, name, "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "infiniband.bth.destqp", "-e", "infiniband.bth.psn",
		"-e", "infiniband.reth.dmalen", "-e", "infiniband.aeth.syndrome", "-e", "infiniband.deth.srcqp", "-e", "_ws.expert.message", "-e", "_ws.malformed")
	require.Len(t, got, len(want))
	for i, line := range got {
		f := strings.Split(line, "\t")
		for k := range f {
			if n, err := strconv.ParseUint(f[k], 0, 64); err == nil {
				f[k] = strconv.FormatUint(n, 10)
			}
		}
		assert.Equal(t, want[i]+"\t\t", strings.Join(f, "\t"), "packet %d", i+1)
	}
}
