package fabric

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// flowlets is the size of a switch's table of flowlets.
const flowlets = 4096

// flowlet remembers when a flow last sent and by which port.
type flowlet struct {
	at   sim.Time
	port uint16
	used bool
}

// route returns the port to the destination, -1 if there is none.
func (s *Switch) route(in int, m *packet.Packet) int {
	set := s.Cfg.Router.Next(s.Cfg.Index, int(m.Dst))
	var port uint16
	switch len(set) {
	case 0:
		return -1
	case 1:
		port = set[0]
	default:
		port = s.balance(m, set)
	}
	if port&LAGBit != 0 {
		members := s.Cfg.Router.LAG(s.Cfg.Index, int(port&^LAGBit))
		if len(members) == 0 {
			return -1
		}
		h := sim.Mix64(flowHash(m, s.seed) ^ lagSalt)
		port = members[reduce(h, len(members))]
	}
	return int(port)
}

// lagSalt makes the choice within a link aggregation group independent of the
// choice among next hops.
const lagSalt = 0x6c61672d73616c74

func (s *Switch) balance(m *packet.Packet, set []uint16) uint16 {
	if s.Cfg.HashHPCC {
		return set[HashHPCC(m, s.Cfg.Index)%uint32(len(set))]
	}
	switch s.Cfg.Balance {
	case BalanceSpray:
		return set[s.pick.IntN(len(set))]
	case BalanceFlowlet:
		f := &s.flows[flowHash(m, s.seed)%flowlets]
		now := s.node.Now()
		if !f.used || now.Sub(f.at) > s.Cfg.FlowletGap || !contains(set, f.port) {
			f.port, f.used = set[s.pick.IntN(len(set))], true
		}
		f.at = now
		return f.port
	default:
		return set[reduce(flowHash(m, s.seed), len(set))]
	}
}

func contains(set []uint16, p uint16) bool {
	for _, x := range set {
		if x == p {
			return true
		}
	}
	return false
}

// flowHash hashes addresses and ports of a packet; UDP's destination port and
// the protocol are constants.
func flowHash(m *packet.Packet, seed uint64) uint64 {
	return sim.Mix64(sim.Mix64(uint64(uint32(m.Src))<<32|uint64(uint32(m.Dst))) ^ uint64(m.SrcPort)<<16 ^ uint64(m.DstPort) ^ seed)
}

// reduce maps a hash to [0,n) by its upper bits.
func reduce(h uint64, n int) int { return int((h >> 32) * uint64(n) >> 32) }

// HashHPCC returns the ECMP hash of the HPCC ns-3 model for a packet at a node:
// the addresses are 11.x.y.1 by node number, the seed is the node's number.
func HashHPCC(m *packet.Packet, node int) uint32 {
	return murmur3(hpccAddr(m.Src), hpccAddr(m.Dst), uint32(m.SrcPort)|uint32(m.DstPort)<<16, uint32(node))
}

func hpccAddr(i int32) uint32 { return 0x0b000001 + uint32(i)/256<<16 + uint32(i)%256<<8 }

// murmur3 is MurmurHash3_x86_32 over three words, with the one constant that
// the HPCC model has changed: h += h<<2 instead of h *= 5 is the same product.
func murmur3(a, b, c, seed uint32) uint32 {
	h := seed
	for _, k := range [3]uint32{a, b, c} {
		k *= 0xcc9e2d51
		k = k<<15 | k>>17
		k *= 0x1b873593
		h ^= k
		h = h<<13 | h>>19
		h += h<<2 + 0xe6546b64
	}
	h ^= 12
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// VXLANHeader is outer Ethernet, IPv4, UDP and VXLAN header, RFC 7348 section 5.
const VXLANHeader = 50

// encapsulate adds and removes the tunnel header at the ports towards hosts.
// DSCP and ECN are copied outwards; on the way in, CE of the outer header is
// kept (RFC 6040, normal mode: a frame that is not ECT was never marked).
func (s *Switch) encapsulate(in, out int, m *packet.Packet) {
	toHost := s.Cfg.Ports[out].ToHost
	tunnelled := m.Flags&packet.FlagVXLAN != 0
	switch {
	case !tunnelled && !toHost:
		m.Flags |= packet.FlagVXLAN
		m.Size += VXLANHeader
	case tunnelled && toHost:
		m.Flags &^= packet.FlagVXLAN
		m.Size -= VXLANHeader
	}
}
