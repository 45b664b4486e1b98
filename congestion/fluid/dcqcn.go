package fluid

import (
	"fmt"
	"math"

	"rdmasim/sim"
)

// DCQCN is N equal flows under DCQCN through one queue: the parameters of the
// fluid model of "ECN or Delay" (Zhu et al., CoNEXT'16, section 3, table 1).
type DCQCN struct {
	Capacity    sim.Rate     // C of the bottleneck, and line rate of every sender
	Flows       int          // N
	Packet      sim.Bytes    // size on the wire; marking is per packet
	CNPInterval sim.Duration // tau
	AlphaTimer  sim.Duration // tau'
	RateTimer   sim.Duration // T
	ByteCounter sim.Bytes    // B, 0 = off
	F           int
	G           float64
	RAI         sim.Rate
	Kmin, Kmax  sim.Bytes
	Pmax        float64
	Delay       sim.Duration // tau*, from a mark to its effect at the queue
}

// SIGCOMM15 returns the parameters of the DCQCN paper for a bottleneck and a
// number of flows; loop delay 4 us.
func SIGCOMM15(capacity sim.Rate, flows int) DCQCN {
	return DCQCN{
		Capacity: capacity, Flows: flows, Packet: 1000 * sim.Byte,
		CNPInterval: 50 * sim.Microsecond, AlphaTimer: 55 * sim.Microsecond, RateTimer: 55 * sim.Microsecond,
		ByteCounter: 10 * sim.MB, F: 5, G: 1.0 / 256, RAI: 40 * sim.Mbps,
		Kmin: 5 * sim.KB, Kmax: 200 * sim.KB, Pmax: 0.01, Delay: 4 * sim.Microsecond,
	}
}

// check reports the first parameter for which the model has no meaning.
func (m DCQCN) check() error {
	switch {
	case m.Capacity <= 0 || m.Flows <= 0 || m.Packet <= 0:
		return fmt.Errorf("fluid DCQCN: capacity %v, flows %d, packet %v: want all positive", m.Capacity, m.Flows, m.Packet)
	case m.CNPInterval <= 0 || m.AlphaTimer <= 0 || m.RateTimer <= 0 || m.ByteCounter < 0 || m.F < 0:
		return fmt.Errorf("fluid DCQCN: timers %v, %v, %v, byte counter %v, F %d: want timers positive, the rest not negative", m.CNPInterval, m.AlphaTimer, m.RateTimer, m.ByteCounter, m.F)
	case m.RAI <= 0 || !(m.G > 0 && m.G <= 1) || !(m.Pmax > 0 && m.Pmax <= 1):
		return fmt.Errorf("fluid DCQCN: R_AI %v, g %v, Pmax %v: want R_AI positive, g and Pmax in (0,1]", m.RAI, m.G, m.Pmax)
	case m.Kmin < 0 || m.Kmax < m.Kmin:
		return fmt.Errorf("fluid DCQCN: Kmin %v, Kmax %v: want 0 <= Kmin <= Kmax", m.Kmin, m.Kmax)
	}
	return nil
}

// packets converts a rate to packets per second.
func (m DCQCN) packets(r sim.Rate) float64 { return float64(r) / (8 * float64(m.Packet)) }

// Mark returns the marking probability at a queue of q bytes: 0 up to Kmin,
// rising to Pmax at Kmax, 1 above. SIGCOMM'15, section 3, figure 5.
func (m DCQCN) Mark(q float64) float64 {
	switch {
	case q <= float64(m.Kmin):
		return 0
	case q > float64(m.Kmax):
		return 1
	default:
		return m.Pmax * (q - float64(m.Kmin)) / float64(m.Kmax-m.Kmin)
	}
}

// events are the terms a to e of the model for a marking probability p and a
// rate r in packets per second. a is the probability of a CNP in one CNP
// interval; b and d are increase events per packet of byte counter and timer,
// c and e those of them that are additive.
type events struct{ a, b, c, d, e float64 }

func (m DCQCN) events(p, r float64) events {
	stay := math.Log1p(-p) // ln(1-p)
	every := func(n float64) float64 {
		switch {
		case p <= 0:
			return 1 / n
		case p >= 1:
			return 0
		default:
			return p / math.Expm1(-n*stay)
		}
	}
	additive := func(n float64) float64 { return math.Exp(float64(m.F) * n * stay) }
	if p <= 0 {
		additive = func(float64) float64 { return 1 }
	}
	v := events{a: m.anyMark(p, m.CNPInterval.Seconds()*r)}
	if m.ByteCounter > 0 {
		n := float64(m.ByteCounter) / float64(m.Packet)
		v.b = every(n)
		v.c = v.b * additive(n)
	}
	n := m.RateTimer.Seconds() * r
	v.d = every(n)
	v.e = v.d * additive(n)
	return v
}

// anyMark returns the probability that at least one of n packets is marked.
func (m DCQCN) anyMark(p, n float64) float64 {
	if p >= 1 {
		return 1
	}
	return -math.Expm1(n * math.Log1p(-p))
}
