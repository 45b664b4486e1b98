package fluid

import "rdmasim/sim"

var _ = describe(Oracle{
	ID:       "wire_efficiency",
	Title:    "payload share of the wire for RoCEv2 packets, and the time a message takes",
	Equation: "frame = MTU + 14 (+4 VLAN) + 20 or 40 IP + 8 UDP + 12 BTH (+16 RETH) + 4 ICRC + 4 FCS; wire = frame + 20; share = MTU/wire",
	Source:   "IEEE 802.3; RFC 791, 8200, 768; InfiniBand Architecture Specification 1, sections 9.2 to 9.4 and annex A17 (RoCEv2)",
	Limits:   "full packets, no retransmission, no reverse traffic on the same link",
})

// Framing says which headers a RoCEv2 data packet carries.
type Framing struct {
	VLAN bool
	IPv6 bool
	RETH bool // WRITE ONLY and WRITE FIRST
}

// Frame returns the frame with FCS around a payload.
func (f Framing) Frame(payload sim.Bytes) sim.Bytes {
	n := payload + 14 + 20 + 8 + 12 + 4 + 4
	if f.VLAN {
		n += 4
	}
	if f.IPv6 {
		n += 20
	}
	if f.RETH {
		n += 16
	}
	return n
}

// Wire returns what the frame occupies on the wire.
func (f Framing) Wire(payload sim.Bytes) sim.Bytes { return f.Frame(payload) + wireOverhead }

// Efficiency returns the payload share of the wire. Source: the oracle wire_efficiency.
func (f Framing) Efficiency(mtu sim.Bytes) float64 { return float64(mtu) / float64(f.Wire(mtu)) }

// WriteTime returns how long the packets of one RC WRITE occupy a link: the
// first carries the RETH. Source: the oracle wire_efficiency.
func (f Framing) WriteTime(rate sim.Rate, message, mtu sim.Bytes) sim.Duration {
	f.RETH = false
	full, rest := message/mtu, message%mtu
	wire := full * f.Wire(mtu)
	if rest > 0 || full == 0 {
		wire += f.Wire(rest)
	}
	return rate.TxTime(wire + 16) // one RETH
}
