package fluid

import (
	"math"

	"rdmasim/sim"
)

var _ = describe(Oracle{
	ID:    "dcqcn_fixed_point",
	Title: "where N equal DCQCN flows settle: marking, alpha, target rate, queue and CNPs",
	Equation: `a^2 alpha / ((b+d)(c+e)) = tau^2 R_AI R_C at R_C = C/N, solved for p
a = 1-(1-p)^(tau R_C)  b = p/((1-p)^-B - 1)  c = b(1-p)^(FB)  d = p/((1-p)^(-T R_C) - 1)  e = d(1-p)^(F T R_C)
alpha = 1-(1-p)^(tau' R_C)  R_T = R_C (1+(c+e) tau R_AI/a)  q = p/Pmax (Kmax-Kmin) + Kmin  CNPs per flow = a/tau`,
	Source: "Zhu et al., ECN or Delay, CoNEXT'16, section 3.1, with the exact root instead of the published approximation",
	Limits: "p <= Pmax; beyond, marking jumps to 1 at Kmax and the queue sits near Kmax. Fluid: packets sit above it, since RED is convex",
})

var _ = describe(Oracle{
	ID:       "dcqcn_fixed_point_approx",
	Title:    "the published closed form of the marking probability at DCQCN's fixed point",
	Equation: "p = ( R_AI N^2/(tau' C^2) (1/B + N/(T C))^2 )^(1/3), in packets and seconds",
	Source:   "Zhu et al., ECN or Delay, CoNEXT'16, section 3.1",
	Limits:   "it drops terms of order p^4 and overestimates the exact root by 16 to 48 % at the paper's parameters",
})

// FixedPoint is the state in which every flow has C/N and nothing changes.
type FixedPoint struct {
	P       float64 // marking probability per packet
	Alpha   float64
	Rate    float64 // R_C of a flow, bit/s
	Target  float64 // R_T of a flow, bit/s
	Queue   float64 // bytes
	CNPRate float64 // CNPs per second of one flow
	Valid   bool    // P <= Pmax: the queue is below Kmax
}

// FixedPoint solves the fluid model for its rest state. Queue has a meaning
// only where Valid. Source: the oracle dcqcn_fixed_point.
func (m DCQCN) FixedPoint() (FixedPoint, error) {
	if err := m.check(); err != nil {
		return FixedPoint{}, err
	}
	r := m.packets(m.Capacity) / float64(m.Flows)
	// The balance rises with p from 0 to infinity: one root.
	p := bisectLog(1e-15, 1-1e-12, func(p float64) bool { return m.balance(p, r) < 0 })
	return m.at(p, r), nil
}

// balance is negative where increases outweigh cuts at marking p and r packets
// per second, positive where cuts do.
func (m DCQCN) balance(p, r float64) float64 {
	v := m.events(p, r)
	alpha := m.anyMark(p, m.AlphaTimer.Seconds()*r)
	tau := m.CNPInterval.Seconds()
	lhs := v.a * v.a * alpha / ((v.b + v.d) * (v.c + v.e))
	if math.IsNaN(lhs) {
		lhs = math.Inf(1) // no increases left at all
	}
	return lhs - tau*tau*m.packets(m.RAI)*r
}

// at returns the other quantities of the fixed point with marking p.
func (m DCQCN) at(p, r float64) FixedPoint {
	v := m.events(p, r)
	tau := m.CNPInterval.Seconds()
	bits := 8 * float64(m.Packet)
	return FixedPoint{
		P: p, Alpha: m.anyMark(p, m.AlphaTimer.Seconds()*r),
		Rate: r * bits, Target: r * bits * (1 + (v.c+v.e)*tau*m.packets(m.RAI)/v.a),
		Queue:   p/m.Pmax*float64(m.Kmax-m.Kmin) + float64(m.Kmin),
		CNPRate: v.a / tau, Valid: p <= m.Pmax,
	}
}

// ApproximateP returns the published closed form of the marking probability.
// Source: the oracle dcqcn_fixed_point_approx.
func (m DCQCN) ApproximateP() float64 {
	c, n := m.packets(m.Capacity), float64(m.Flows)
	perPacket := n / (m.RateTimer.Seconds() * c)
	if m.ByteCounter > 0 {
		perPacket += float64(m.Packet) / float64(m.ByteCounter)
	}
	return math.Cbrt(m.packets(m.RAI) * n * n / (m.AlphaTimer.Seconds() * c * c) * perPacket * perPacket)
}

// ApproximateQueue returns the queue in bytes at the published closed form.
// Source: the oracle dcqcn_fixed_point_approx.
func (m DCQCN) ApproximateQueue() float64 {
	return m.ApproximateP()/m.Pmax*float64(m.Kmax-m.Kmin) + float64(m.Kmin)
}

// LeastShare returns the smallest C/N whose fixed point has p <= Pmax: below
// it there is no smooth rest state. Capacity and Flows do not matter.
func (m DCQCN) LeastShare() (sim.Rate, error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	// p* falls as the share grows: look for the share at which p* is Pmax.
	bits := 8 * float64(m.Packet)
	r := bisectLog(1e3/bits, 1e15/bits, func(r float64) bool { return m.balance(m.Pmax, r) < 0 })
	return sim.Rate(math.Round(r * bits)), nil
}

// bisectLog returns the point between lo and hi, both positive, at which below
// turns from true to false, to the precision of a float64.
func bisectLog(lo, hi float64, below func(float64) bool) float64 {
	for range 200 {
		mid := math.Sqrt(lo) * math.Sqrt(hi)
		if mid <= lo || mid >= hi {
			break
		}
		if below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
