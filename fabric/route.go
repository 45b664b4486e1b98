package fabric

import (
	"rdmasim/fabric/ecmp"
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
		members := s.Cfg.Router.LAG(s.Cfg.Index, port)
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

// Peek returns the port by which a packet would leave, without changing
// anything: methods that draw at random answer with the first next hop.
func (s *Switch) Peek(m *packet.Packet) int {
	if s.Cfg.Balance == BalanceECMP {
		return s.route(-1, m)
	}
	set := s.Cfg.Router.Next(s.Cfg.Index, int(m.Dst))
	if len(set) == 0 {
		return -1
	}
	if set[0]&LAGBit != 0 {
		return int(s.Cfg.Router.LAG(s.Cfg.Index, set[0])[0])
	}
	return int(set[0])
}

func (s *Switch) balance(m *packet.Packet, set []uint16) uint16 {
	if s.Cfg.HashHPCC {
		// That model's ACKs have the ports of their data swapped. Its next hops
		// are in the order of the addresses of its switches, of which each has
		// a mapping of memory of its own (2 MB) below that of the one before.
		h := ecmp.Hash(s.Cfg.Addresses[m.Src], s.Cfg.Addresses[m.Dst], m.SrcPort, m.DstPort, uint32(s.Cfg.Index))
		return set[len(set)-1-int(h%uint32(len(set)))]
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
