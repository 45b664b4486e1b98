package capture

import (
	"encoding/binary"
	"net/netip"

	"rdmasim/fabric/packet"
	"rdmasim/verbs"
)

// Encapsulation is what is around RoCEv2 packets from host to host.
type Encapsulation uint8

// Encapsulations, as in nic.encapsulation of a scenario.
const (
	EncapNone Encapsulation = iota
	EncapVLAN
	EncapIPv6
	EncapVXLAN
)

// Numbers that a simulation does not have and a packet must.
const (
	VLANID     = 100 // of tagged frames
	VXLANVNI   = 1   // of tunnelled frames
	DefaultKey = 0x1000
)

// Endpoint is the address of a port of a host.
type Endpoint struct {
	Node, Port int
	IPv4, IPv6 netip.Addr
	Encap      Encapsulation
}

// HostAddress returns the addresses of a port of a host by the number of its
// node and its place among the host's ports: 11.x.y.z, where x and y are the
// number of the node as in the HPCC ns-3 model, of whose rule for ECMP the
// address is a part, and z counts from 1; and an address of fd0b::/16.
func HostAddress(node, rail int) (v4, v6 netip.Addr) {
	v4 = netip.AddrFrom4([4]byte{byte(11 + node>>16), byte(node >> 8), byte(node), byte(1 + rail)})
	var b [16]byte
	b[0], b[1] = 0xfd, 0x0b
	binary.BigEndian.PutUint32(b[8:], uint32(node))
	binary.BigEndian.PutUint32(b[12:], uint32(1+rail))
	return v4, netip.AddrFrom16(b)
}

// PortMAC returns the locally administered MAC address of a port of a node.
func PortMAC(node, port int) [6]byte {
	return [6]byte{2, byte(node >> 16), byte(node >> 8), byte(node), byte(port >> 8), byte(port)}
}

// synth makes the bytes of simulated packets.
type synth struct {
	endpoints []Endpoint
	fill      bool // a pattern instead of zeros
	packet    Packet
	tunnel    Tunnel
	tag       VLAN
	mad       []byte
}

// append appends the frame of a packet between two ports, without FCS.
func (s *synth) append(b []byte, m *packet.Packet, src, dst [6]byte) ([]byte, error) {
	switch m.Kind {
	case packet.Pause:
		return AppendPause(b, src, &Pause{Quanta: [8]uint16{m.Quanta}}), nil
	case packet.PFC:
		p := Pause{Priority: true, Classes: m.Classes}
		for i := range p.Quanta {
			if m.Classes&(1<<i) != 0 {
				p.Quanta[i] = m.Quanta
			}
		}
		return AppendPause(b, src, &p), nil
	}
	from, to := &s.endpoints[m.Src], &s.endpoints[m.Dst]
	srcQP, dstQP := m.WireQPs()
	p := &s.packet
	*p = Packet{SrcMAC: src, DstMAC: dst, Src: from.IPv4, Dst: to.IPv4, DSCP: m.DSCP, ECN: m.ECN, TTL: m.TTL, SrcPort: m.SrcPort,
		Payload: int(m.Payload), Zero: !s.fill, Fill: byte(m.PSN),
		BTH: BTH{Migrated: true, PKey: DefaultPKey, DestQP: dstQP, PSN: m.PSN, AckReq: m.Flags&packet.FlagAckReq != 0}}
	s.around(p, m, from, src, dst)
	switch m.Kind {
	case packet.Corrupt:
		s.data(p, m, srcQP)
		n := len(b)
		b, err := p.Append(b)
		if err == nil && len(b) > n {
			b[len(b)-1] ^= 0xff // its ICRC does not hold
		}
		return b, err
	case packet.Data:
		s.data(p, m, srcQP)
	case packet.Ack, packet.Nak:
		p.BTH.Opcode, p.BTH.BECN, p.BTH.AckReq, p.Payload = OpcodeAck, m.Flags&packet.FlagEcho != 0, false, 0
		p.Ext.AETH = AETH{Syndrome(m.Ext & packet.SyndromeMask), m.Aux}
		if m.IsResponse() {
			p.BTH.Opcode = OpcodeAtomicAck
			if verbs.Opcode(m.Op()) == verbs.OpRead {
				p.BTH.Opcode, p.Ext.AETH.MSN = OpcodeReadFeedback, 0
			}
		}
	case packet.CNP:
		p.BTH = BTH{Opcode: OpcodeCNP, Migrated: true, BECN: true, PKey: DefaultPKey, DestQP: dstQP}
	}
	return p.Append(b)
}

// around adds a tag, a tunnel or IPv6.
func (s *synth) around(p *Packet, m *packet.Packet, from *Endpoint, src, dst [6]byte) {
	switch from.Encap {
	case EncapVLAN:
		s.tag = VLAN{ID: VLANID, Priority: m.Prio & 7}
		p.VLAN = &s.tag
	case EncapIPv6:
		to := &s.endpoints[m.Dst]
		p.Src, p.Dst, p.FlowLabel = from.IPv6, to.IPv6, uint32(m.SrcPort)
	}
	if from.Encap == EncapVXLAN || m.Flags&packet.FlagVXLAN != 0 {
		// The tunnel takes the mark; what is inside is as it was sent.
		s.tunnel = Tunnel{SrcMAC: src, DstMAC: dst, Src: from.IPv4, Dst: s.endpoints[m.Dst].IPv4, ECN: m.ECN, TTL: m.TTL, SrcPort: 0xc000 | m.SrcPort&0x3fff, VNI: VXLANVNI}
		p.VXLAN = &s.tunnel
		p.TTL = 64
		if p.ECN == CE {
			p.ECN = ECT0
		}
		p.SrcMAC, p.DstMAC = PortMAC(from.Node, from.Port), PortMAC(s.endpoints[m.Dst].Node, s.endpoints[m.Dst].Port)
	}
}

// verbsOf are the verb and the last extended header of each verbs.Opcode.
var verbsOf = [...]struct {
	verb Verb
	ext  Ext
}{
	verbs.OpWrite:       {VerbWrite, 0},
	verbs.OpWriteImm:    {VerbWrite, ExtImmDt},
	verbs.OpSend:        {VerbSend, 0},
	verbs.OpSendImm:     {VerbSend, ExtImmDt},
	verbs.OpRead:        {VerbRead, 0},
	verbs.OpCompareSwap: {VerbCompareSwap, 0},
	verbs.OpFetchAdd:    {VerbFetchAdd, 0},
	verbs.OpSendInv:     {VerbSend, ExtIETH},
}

// data fills in what a packet of a message carries: see packet's wire.go.
func (s *synth) data(p *Packet, m *packet.Packet, srcQP uint32) {
	if m.DstQP == packet.GSI && m.Service() == packet.ServiceUD && m.Ext != 0 {
		s.management(p, m)
		return
	}
	place := Place(0)
	if m.Flags&packet.FlagFirst != 0 {
		place |= First
	}
	if m.Flags&packet.FlagLast != 0 {
		place |= Last
	}
	op := verbsOf[verbs.OpWrite]
	if int(m.Op()) < len(verbsOf) {
		op = verbsOf[m.Op()]
	}
	switch {
	case m.IsResponse():
		op.verb, op.ext = VerbReadResponse, 0
		p.Ext.AETH = AETH{SyndromeAck, m.Ext}
	case op.verb == VerbRead, op.verb == VerbCompareSwap, op.verb == VerbFetchAdd:
		place, p.Payload = Only, 0
	}
	p.BTH.Opcode, _ = Transport(m.Service()>>5).Opcode(op.verb, place, op.ext)
	length := m.Ext
	if op.verb == VerbWrite && place == Only {
		length = uint32(m.Payload)
	}
	p.Ext.RETH = RETH{VirtualAddress: s.address(srcQP), RKey: DefaultKey + srcQP, Length: length}
	p.Ext.AtomicETH = AtomicETH{VirtualAddress: s.address(srcQP), RKey: DefaultKey + srcQP}
	p.Ext.ImmDt.Data, p.Ext.IETH.RKey = m.Ext, m.Ext
	p.Ext.DETH = DETH{QKey: m.Aux, SrcQP: srcQP}
}

// servicePort is the port of the first application: that of perftest.
const servicePort = 18515

// management fills in a message of connection management, as librdmacm sends it:
// the asking side's queue pair names the connection on both sides.
func (s *synth) management(p *Packet, m *packet.Packet) {
	kind := CMKind(m.Ext & (1<<packet.CMShift - 1))
	asks := kind == CMReq || kind == CMRtu || kind == CMDreq
	asker := m.Src
	if !asks {
		asker = m.Dst
	}
	ours, theirs := m.Aux, packet.Accepted(asker, m.Aux)
	if !asks {
		ours, theirs = theirs, ours
	}
	c := CM{Kind: kind, Transaction: uint64(asker)<<32 | uint64(m.Aux), Local: ours, Remote: theirs, QPN: ours, Reason: uint16(m.Ext >> packet.CMShift),
		ResponderRes: 16, InitiatorDepth: 16, RetryCount: 7, RNRRetry: 7, AckTimeout: 14, ResponseTimeout: 20, MaxRetries: 15, PathMTU: uint8(m.Quanta),
		Service: serviceIP | servicePort + uint64(m.Classes), Src: p.Src, Dst: p.Dst, SrcPort: m.SrcPort}
	if kind == CMDreq {
		c.QPN = theirs
	}
	s.mad = c.AppendMAD(s.mad[:0])
	p.Body = s.mad
	p.BTH.Opcode, p.BTH.DestQP = OpcodeUDSendOnly, GSI
	p.Ext.DETH = DETH{QKey: QKeyGSI, SrcQP: GSI}
}

// address is where the messages of a queue pair go: to a buffer of its own.
func (s *synth) address(qp uint32) uint64 { return 1<<40 | uint64(qp)<<16 }
