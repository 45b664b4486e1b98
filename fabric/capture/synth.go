package capture

import (
	"encoding/binary"
	"net/netip"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
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
	// firstAccepted is the first number of queue pairs whose number the
	// requester of a simulation does not know yet when it connects.
	firstAccepted = 0x800000
	// lengthsKept bounds the messages of a queue pair whose length is known:
	// those of which the first packet may still be on its way.
	lengthsKept = 256
)

// Endpoint is the address of a port of a host.
type Endpoint struct {
	Node, Port int
	IPv4, IPv6 netip.Addr
	Encap      Encapsulation
	RNRTimer   uint8 // code in RNR NAKs of the host
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

// endOfQP is one end of a connection of a simulation.
type endOfQP struct {
	endpoint int32
	qp       uint32
}

// conversation is what the packets of a connection need besides what they say.
type conversation struct {
	peer    uint32      // number of the queue pair at the other end, once assigned
	lengths []announced // ring of announced messages
	next    int         // place in the ring
}

type announced struct {
	psn    uint32
	length uint32
}

// synth makes the bytes of simulated packets.
type synth struct {
	endpoints []Endpoint
	fill      bool // a pattern instead of zeros
	talk      map[endOfQP]*conversation
	accepted  []uint32 // numbers given so far, by endpoint
	packet    Packet
	tunnel    Tunnel
	tag       VLAN
}

func newSynth(endpoints []Endpoint, fill bool) *synth {
	return &synth{endpoints: endpoints, fill: fill, talk: map[endOfQP]*conversation{}, accepted: make([]uint32, len(endpoints))}
}

func (s *synth) of(m *packet.Packet) *conversation {
	k := endOfQP{m.Src, m.SrcQP}
	c := s.talk[k]
	if c == nil {
		c = &conversation{}
		s.talk[k] = c
	}
	return c
}

// connect gives the far end of a new connection a number.
func (s *synth) connect(m *packet.Packet) {
	c := s.of(m)
	c.lengths, c.next = c.lengths[:0], 0
	s.accepted[m.Dst]++
	c.peer = (firstAccepted + s.accepted[m.Dst]) & Mask24
}

// announce remembers how long a message of several packets is.
func (s *synth) announce(m *packet.Packet, length sim.Bytes) {
	c := s.of(m)
	a := announced{m.PSN, uint32(min(length, 1<<32-1))}
	if len(c.lengths) < lengthsKept {
		c.lengths = append(c.lengths, a)
		return
	}
	c.lengths[c.next] = a
	c.next = (c.next + 1) % lengthsKept
}

// length returns the length of the message that a packet begins.
func (s *synth) length(m *packet.Packet) uint32 {
	if m.Flags&packet.FlagLast != 0 {
		return uint32(m.Payload)
	}
	c := s.of(m)
	for i := range c.lengths {
		// From the newest to the oldest: PSNs come again.
		a := &c.lengths[(c.next+len(c.lengths)-1-i)%len(c.lengths)]
		if a.psn == m.PSN {
			return a.length
		}
	}
	return uint32(m.Payload)
}

// append appends the frame of a packet between two ports, without FCS.
func (s *synth) append(b []byte, m *packet.Packet, src, dst [6]byte) ([]byte, error) {
	if m.Kind == packet.PFC {
		p := Pause{Priority: true, Classes: m.Classes}
		for i := range p.Quanta {
			if m.Classes&(1<<i) != 0 {
				p.Quanta[i] = m.Quanta
			}
		}
		return AppendPause(b, src, &p), nil
	}
	from, to := &s.endpoints[m.Src], &s.endpoints[m.Dst]
	p := &s.packet
	*p = Packet{SrcMAC: src, DstMAC: dst, Src: from.IPv4, Dst: to.IPv4, DSCP: m.DSCP, ECN: m.ECN, TTL: m.TTL, SrcPort: m.SrcPort,
		Payload: int(m.Payload), Zero: !s.fill, Fill: byte(m.PSN),
		BTH: BTH{Migrated: true, PKey: DefaultPKey, DestQP: m.DstQP, PSN: m.PSN, AckReq: m.Flags&packet.FlagAckReq != 0}}
	s.around(p, m, from, src, dst)
	switch m.Kind {
	case packet.Data:
		s.data(p, m)
	case packet.Ack:
		p.BTH.Opcode, p.BTH.BECN, p.BTH.AckReq = OpcodeAck, m.Flags&packet.FlagEcho != 0, false
		p.Ext.AETH = AETH{SyndromeAck, m.Aux}
	case packet.Nak:
		p.BTH.Opcode, p.BTH.BECN, p.BTH.AckReq = OpcodeAck, m.Flags&packet.FlagEcho != 0, false
		p.Ext.AETH = AETH{NakSequence, m.Aux}
		if m.Flags&packet.FlagRNR != 0 {
			p.Ext.AETH.Syndrome = SyndromeRNR | Syndrome(from.RNRTimer&31)
		}
	case packet.CNP:
		p.BTH = BTH{Opcode: OpcodeCNP, Migrated: true, BECN: true, PKey: DefaultPKey, DestQP: m.DstQP}
	}
	if c := s.talk[endOfQP{m.Src, m.SrcQP}]; c != nil && c.peer != 0 {
		p.BTH.DestQP = c.peer
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

// data fills in what a packet of a message carries.
func (s *synth) data(p *Packet, m *packet.Packet) {
	place := Place(0)
	if m.Flags&packet.FlagFirst != 0 {
		place |= First
	}
	if m.Flags&packet.FlagLast != 0 {
		place |= Last
	}
	op := verbs.Opcode(m.Opcode)
	verb, ext := VerbWrite, Ext(0)
	switch op {
	case verbs.OpWriteImm:
		ext = ExtImmDt
	case verbs.OpSend:
		verb = VerbSend
	case verbs.OpSendImm:
		verb, ext = VerbSend, ExtImmDt
	case verbs.OpSendInv:
		verb, ext = VerbSend, ExtIETH
	}
	p.BTH.Opcode, _ = TransportRC.Opcode(verb, place, ext)
	if p.BTH.Opcode.Info().Ext&ExtRETH != 0 {
		p.Ext.RETH = RETH{VirtualAddress: s.address(m), RKey: DefaultKey + m.SrcQP, Length: s.length(m)}
	}
}

// address is where the messages of a queue pair go: to a buffer of its own.
func (s *synth) address(m *packet.Packet) uint64 { return 1<<40 | uint64(m.SrcQP)<<32&(1<<40-1) }
