package capture_test

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"rdmasim/fabric/capture"
	"rdmasim/sim"
)

// write returns the frame of an RDMA WRITE of 8 bytes.
func write() []byte {
	p := capture.Packet{
		SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2},
		Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), TTL: 64, DSCP: 26, ECN: capture.ECT0, SrcPort: 49152,
		BTH:     capture.BTH{Opcode: capture.OpcodeRCWriteOnly, DestQP: 0x18, PSN: 100, AckReq: true, PKey: capture.DefaultPKey},
		Ext:     capture.Extended{RETH: capture.RETH{VirtualAddress: 0x1000, RKey: 7, Length: 8}},
		Payload: 8,
	}
	frame, err := p.Append(nil)
	if err != nil {
		panic(err)
	}
	return frame
}

// A packet is written with its lengths, checksums and ICRC, and read again.
func ExamplePacket_Append() {
	var f capture.Frame
	frame := write()
	f.Decode(capture.LinkEthernet, frame, len(frame))
	fmt.Println(f.Kind, &f.BTH, f.Ext.RETH.Length, f.ICRC == capture.ICRCValid)
	// Output: RoCEv2 RC RDMA WRITE Only QP=0x000018 PSN=100 8 true
}

// gopacket knows the layers once the package is imported.
func ExampleBTHLayer() {
	p := gopacket.NewPacket(write(), layers.LayerTypeEthernet, gopacket.Default)
	for _, l := range p.Layers() {
		fmt.Print(l.LayerType(), " ")
	}
	fmt.Println(p.Layer(capture.LayerTypeBTH).(*capture.BTHLayer).DestQP)
	// Output: Ethernet IPv4 UDP BTH RETH Payload ICRC 24
}

// A packet is composed of gopacket's layers and those of this package; at last
// its ICRC is filled in.
func ExampleSealICRC() {
	ip := &layers.IPv4{Version: 4, IHL: 5, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: []byte{10, 0, 0, 1}, DstIP: []byte{10, 0, 0, 2}}
	udp := &layers.UDP{SrcPort: 49152, DstPort: capture.RoCEv2Port}
	bth := &capture.BTHLayer{BTH: capture.BTH{Opcode: capture.OpcodeRCSendOnly, DestQP: 5, PKey: capture.DefaultPKey}}
	b := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, ip, udp, bth, gopacket.Payload("hello wire"), &capture.ICRCLayer{})
	if err != nil {
		panic(err)
	}
	packet := b.Bytes()
	ok := capture.SealICRC(packet)
	var f capture.Frame
	f.Decode(capture.LinkRaw101, packet, len(packet))
	fmt.Println(ok, f.BTH.Opcode, string(f.Data), f.ICRC == capture.ICRCValid)
	// Output: true RC SEND Only hello wire true
}

// A capture file is written and read.
func ExampleWriter() {
	var file bytes.Buffer
	w, _ := capture.NewWriter(&file, "an example", 0)
	_ = w.Interface(capture.Interface{Name: "h0:0", Link: capture.LinkEthernet, Speed: 100e9})
	frame := write()
	_ = w.Packet(sim.Time(1500*sim.Nanosecond), &capture.Record{Data: frame, Original: len(frame), Direction: capture.DirOut, Comment: "the first"})
	_ = w.Flush()

	r, _ := capture.NewReader(&file)
	var rec capture.Record
	for r.Next(&rec) != io.EOF {
		fmt.Println(r.Interfaces[rec.Interface].Name, rec.Pico/1000, "ns", rec.Comment)
	}
	// Output: h0:0 1500 ns the first
}
