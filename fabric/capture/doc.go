// Package capture is RDMA on the wire: the headers of RoCEv2, RoCEv1 and
// InfiniBand, pause frames, the invariant CRC, and capture files.
//
// The headers are gopacket layers. Importing the package registers them, so
// that gopacket dissects UDP port 4791, EtherType 0x8915 and MAC control frames:
//
//	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
//	bth, ok := p.Layer(capture.LayerTypeBTH).(*capture.BTH)
//
// Frame.Decode does the same for a stream of millions of packets without an
// allocation. Serialize writes a packet with its ICRC. Reader reads pcap and
// pcapng, Writer writes pcapng, and Recorder writes what a simulation sends.
//
// It is the only package that knows gopacket.
package capture
