package fluid

import (
	"fmt"
	"math"
	"math/cmplx"
)

var _ = describe(Oracle{
	ID:    "dcqcn_cycle_margin",
	Title: "how far the control loop of any rules of DCQCN is from oscillating of itself",
	Equation: `L(s) = -k N r H e^(-s tau*)/(s (1 - p H e^(-s tau*))), k = Pmax/(Kmax-Kmin), r = C/N in packets/s
H(s): change of the mean rate by a change of the hazard h of dcqcn_cycle, exact: the flows of every age since their last cut obey (d/dt + d/ds) n = -h n, with n, R_C, R_T and alpha reset at age 0 by the rules
phase margin = least 180 + arg L over the frequencies with |L| = 1`,
	Source: "derivation: linearisation of dcqcn_cycle by the age of cycles, all flows alike; Bode's criterion as in ECN or Delay, CoNEXT'16, section 3.2",
	Limits: "small swings around a fixed point of dcqcn_cycle on the slope of the marking curve; the mean of a product of rate and alpha is that of their means; no PFC",
})

var _ = describe(Oracle{
	ID:       "dcqcn_cycle_settling",
	Title:    "how fast small differences between flows vanish under any rules of DCQCN",
	Equation: `1 = p H(s) e^(-s tau*), H of dcqcn_cycle_margin: the root with the largest real part; time = ln(10 N)/-s`,
	Source:   "derivation: at a constant queue flows do not know of each other, so that a difference goes as one flow's own mode",
	Limits:   "differences that are small against the rates",
})

// PhaseMargin linearises the model at its fixed point. Source: the oracle
// dcqcn_cycle_margin.
func (m *Cycle) PhaseMargin() (Margin, error) {
	r, err := m.rest()
	if err != nil {
		return Margin{}, err
	}
	switch p := r.hazard / m.packetsOfFlow(); {
	case p > m.Pmax:
		return Margin{}, fmt.Errorf("the fixed point needs %.3g of the packets marked, above Pmax %.3g", p, m.Pmax)
	case m.Kmax <= m.Kmin:
		return Margin{}, fmt.Errorf("Kmin and Kmax are both %v: a step has no slope", m.Kmin)
	}
	delay := m.Delay.Seconds()
	if m.Polled && !r.checks {
		delay += m.dead()
	}
	most := maxOmega
	if delay > 0 {
		most = min(most, mostTurns/delay)
	}
	return leastMargin(func(w float64) complex128 { return r.loop(complex(0, w), delay) }, most, perDecadeOfCycle)
}

// The loop of a cycle is dear, so that it is asked less often; where the delay
// turns the phase by more than mostTurns radians, its gain is far below 1.
const (
	perDecadeOfCycle = 24
	mostTurns        = 20.0
)

// loop returns the open loop at s.
func (r *rest) loop(s complex128, delay float64) complex128 {
	m := r.m
	perFlow, flows := m.packetsOfFlow(), float64(m.Flows)
	slope := m.Pmax / (float64(m.Kmax-m.Kmin) / float64(m.Packet))
	lag := cmplx.Exp(-s * complex(delay, 0))
	h := r.response(s) / complex(8*float64(m.Packet), 0) * lag
	return -complex(slope*flows*perFlow, 0) * h / (s * (1 - complex(r.hazard/perFlow, 0)*h))
}

// SettleRate returns how fast small differences between flows vanish, per
// second: the slowest mode of one flow at constant marking, 1 = p H e^(-s tau*).
// Source: the oracle dcqcn_cycle_settling.
func (m *Cycle) SettleRate() (float64, error) {
	r, err := m.rest()
	if err != nil {
		return 0, err
	}
	p := complex(r.hazard/m.packetsOfFlow()/(8*float64(m.Packet)), 0)
	f := func(s complex128) complex128 {
		return 1 - p*r.response(s)*cmplx.Exp(-s*complex(m.Delay.Seconds(), 0))
	}
	slowest := math.Inf(-1)
	for x := r.hazard * 1e-4; x < r.hazard; x *= 2 {
		for _, y := range []float64{0.01, 1} {
			if s, ok := root(f, complex(-x, y*x)); ok && real(s) < 0 && real(s) > -0.9*r.hazard {
				slowest = max(slowest, real(s))
			}
		}
	}
	if math.IsInf(slowest, -1) {
		return 0, fmt.Errorf("differences between flows vanish within a few CNPs")
	}
	return -slowest, nil
}

// root looks for a zero by the secant method.
func root(f func(complex128) complex128, a complex128) (complex128, bool) {
	b := a * 1.01
	fa, fb := f(a), f(b)
	for range 60 {
		if fa == fb || cmplx.IsNaN(fb) || cmplx.IsInf(fb) {
			return 0, false
		}
		a, b = b, b-fb*(b-a)/(fb-fa)
		if fa, fb = fb, f(b); cmplx.Abs(b-a) < 1e-9*cmplx.Abs(b) {
			return b, cmplx.Abs(fb) < 1e-6
		}
	}
	return 0, false
}

// parts are integrals over one span for a change that goes as e^(s t).
type parts struct {
	keep, lost complex128 // what is left at its end; what one unit of hazard takes of it
	stay, gone complex128 // the same, over the time of the span
}

func newParts(s complex128, h, length float64, turn complex128) parts {
	e := math.Exp(-h * length)
	p := parts{keep: complex(e, 0) * turn, lost: complex(e, 0) * (1 - turn) / s}
	p.stay = (1 - p.keep) / (s + complex(h, 0))
	p.gone = (complex(hold(h, length), 0) - p.stay) / s
	return p
}

// moments of all flows by the age of their cycle: how many, and the sums of R_C,
// R_T - R_C and alpha. A moment has five columns: by a unit of each moment at
// age 0, and by a unit of hazard.
type column [5]complex128

const byHazard = 4

// response returns by how many bit/s the mean rate changes per change of the
// hazard, at e^(s t).
func (r *rest) response(s complex128) complex128 {
	m := r.m
	var now, sum, out [4]column // number, R_C, gap, alpha: at an age; their integrals; what reaches age 0
	var cuts column             // what cuts take of R_C
	for i := range now {
		now[i][i] = 1
	}
	unit := complex128(1) // of hazard, in a span with one
	if r.checks {         // which has the marks of a period
		period := complex(m.CutInterval.Seconds(), 0)
		unit = (1 - cmplx.Exp(-s*period)) / (s * period) / complex(narrow, 0)
	}
	for i := range r.spans {
		x := &r.spans[i]
		for c := range 5 {
			if x.increase {
				now[2][c] = (now[2][c] + complex(x.add, 0)*now[0][c]) / 2
				now[1][c] += now[2][c]
			}
			if x.tick {
				now[3][c] *= complex(1-m.G, 0)
			}
		}
		r.pass(s, unit, x, &now, &sum, &out, &cuts)
	}
	for c := range 5 {
		out[1][c] -= cuts[c]
		out[2][c] += cuts[c]
		if !m.PerWindow {
			out[3][c] *= complex(1-m.G, 0)
		}
		if m.alike() {
			out[3][c] += complex(m.G, 0) * out[0][c]
		}
	}
	if !m.alike() {
		d := r.hazard * 1e-4
		out[3][byHazard] += complex(m.G*(m.windows(r.hazard+d)-m.windows(r.hazard-d))/(2*d), 0)
	}
	z := solve(out)
	total := sum[1][byHazard]
	for c := range z {
		total += sum[1][c] * z[c]
	}
	return total
}

// pass takes the moments through a span and adds up what happens in it.
func (r *rest) pass(s, unit complex128, x *span, now, sum, out *[4]column, cuts *column) {
	turn := cmplx.Exp(-s * complex(x.length, 0))
	even := newParts(s, x.hazard, x.length, turn)
	fading := newParts(s, x.hazard+r.decay, x.length, turn) // of what alpha weighs
	h, density := complex(x.hazard, 0), complex(r.cuts*x.begin, 0)
	stay, fade := complex(hold(x.hazard, x.length), 0), complex(hold(x.hazard+r.decay, x.length), 0)
	rate, gap, alpha := complex(x.rate, 0), complex(x.gap, 0), complex(x.alpha, 0)
	held := [4]complex128{density, density * rate, density * gap, density * alpha}
	gain, mu, nu := complex(r.m.CutGain, 0), complex(r.mu, 0), complex(r.nu, 0)
	for c := range 5 {
		eta := complex128(0)
		if c == byHazard && x.hazard > 0 {
			eta = unit
		}
		var area [4]complex128
		for i := range area {
			p := &even
			if i == 3 {
				p = &fading
			}
			area[i] = now[i][c]*p.stay - eta*held[i]*p.gone
		}
		// The mean of R_C alpha changes by what either changes by.
		rates := now[1][c]*fading.stay - eta*held[1]*fading.gone
		count := now[0][c]*fading.stay - eta*held[0]*fading.gone
		both := alpha*rates + rate*area[3] - rate*alpha*count

		out[0][c] += h*area[0] + eta*held[0]*stay
		reached := h*area[1] + eta*held[1]*stay
		out[1][c] += reached
		cuts[c] += gain * (mu*(h*both+eta*held[1]*alpha*fade) + nu*reached)
		if !x.clamps {
			out[2][c] += h*area[2] + eta*held[2]*stay
		}
		out[3][c] += h*area[3] + eta*held[3]*fade
		for i := range area {
			sum[i][c] += area[i]
			p := &even
			if i == 3 {
				p = &fading
			}
			now[i][c] = now[i][c]*p.keep - eta*held[i]*p.lost
		}
	}
}

// solve returns the moments at age 0 that are what reaches age 0: z = M z + f,
// by Gauss's elimination with the largest pivot.
func solve(out [4]column) (z [4]complex128) {
	var a [4][5]complex128
	for i := range a {
		for c := range 4 {
			a[i][c] = -out[i][c]
		}
		a[i][i]++
		a[i][4] = out[i][byHazard]
	}
	for k := range a {
		best := k
		for i := k + 1; i < len(a); i++ {
			if cmplx.Abs(a[i][k]) > cmplx.Abs(a[best][k]) {
				best = i
			}
		}
		a[k], a[best] = a[best], a[k]
		for i := k + 1; i < len(a); i++ {
			f := a[i][k] / a[k][k]
			for c := k; c < 5; c++ {
				a[i][c] -= f * a[k][c]
			}
		}
	}
	for k := len(a) - 1; k >= 0; k-- {
		z[k] = a[k][4]
		for c := k + 1; c < 4; c++ {
			z[k] -= a[k][c] * z[c]
		}
		z[k] /= a[k][k]
	}
	return z
}

// Response returns by how many bit/s the mean rate of a flow changes per change
// of its marks per second that goes as a wave of so many Hz, with its phase; what
// a change of rate does to the marks is not in it. Source: H of the oracle
// dcqcn_cycle_margin.
func (m *Cycle) Response(hertz float64) (complex128, error) {
	r, err := m.rest()
	if err != nil {
		return 0, err
	}
	return r.response(complex(0, 2*math.Pi*hertz)), nil
}
