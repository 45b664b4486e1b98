package fluid

import (
	"fmt"
	"math"
	"math/cmplx"
)

var _ = describe(Oracle{
	ID:    "dcqcn_phase_margin",
	Title: "how far DCQCN's control loop is from oscillating of itself",
	Equation: `L(s) = -k N/s e_C^T (s I - A - A_d e^(-s tau*))^-1 b e^(-s tau*), k = Pmax/(Kmax-Kmin)
A, A_d, b: derivatives of d(alpha, R_T, R_C)/dt of dcqcn_fluid at the fixed point by the state, the delayed rate and the delayed marking
phase margin = least 180 + arg L over the frequencies with |L| = 1`,
	Source: "Zhu et al., ECN or Delay, CoNEXT'16, section 3.2: linearisation of all flows alike, Bode's criterion",
	Limits: "small swings around a fixed point on the slope of the marking curve; no hyper increase, no PFC",
})

// Margin is the stability of the control loop at its fixed point.
type Margin struct {
	Degrees   float64 // of phase; below 0 the loop oscillates of itself
	Frequency float64 // at which the loop has gain 1, in Hz
}

// Frequencies that are searched for gain 1, in rad/s, and steps per decade.
const (
	minOmega  = 1e-1
	maxOmega  = 1e8
	perDecade = 400
)

// PhaseMargin linearises the fluid model at its fixed point. The error says
// where there is none on the slope of the marking curve. Source: the oracle
// dcqcn_phase_margin.
func (m DCQCN) PhaseMargin() (Margin, error) {
	f, err := m.FixedPoint()
	if err != nil {
		return Margin{}, err
	}
	switch {
	case !f.Valid:
		return Margin{}, fmt.Errorf("fluid DCQCN: the fixed point needs a marking probability of %.3g, above Pmax %.3g", f.P, m.Pmax)
	case m.Kmax <= m.Kmin:
		return Margin{}, fmt.Errorf("fluid DCQCN: Kmin and Kmax are both %v: a step has no slope", m.Kmin)
	}
	l := m.linearise(f)
	return leastMargin(l.at, maxOmega, perDecade)
}

// leastMargin looks for the least phase margin of an open loop that begins with
// a phase of -90 degrees at low frequencies, from minOmega to most rad/s.
func leastMargin(at func(w float64) complex128, most float64, perDecade int) (Margin, error) {
	best := Margin{Degrees: math.Inf(1)}
	gain, phase, below := at(minOmega), -math.Pi/2, minOmega
	for i := 1; i <= int(math.Log10(most/minOmega)*float64(perDecade)); i++ {
		w := minOmega * math.Pow(10, float64(i)/float64(perDecade))
		next := at(w)
		if i > 1 && (cmplx.Abs(gain) >= 1) != (cmplx.Abs(next) >= 1) {
			one := crossing(at, below, w, cmplx.Abs(gain) >= 1)
			if d := (math.Pi + phase + turned(gain, at(one))) * 180 / math.Pi; d < best.Degrees {
				best = Margin{Degrees: d, Frequency: one / (2 * math.Pi)}
			}
		}
		phase += turned(gain, next)
		gain, below = next, w
	}
	if math.IsInf(best.Degrees, 1) {
		return Margin{}, fmt.Errorf("fluid DCQCN: the loop never has gain 1")
	}
	return best, nil
}

// turned is the change of phase between frequencies that are near each other.
func turned(from, to complex128) float64 {
	turn := cmplx.Phase(to) - cmplx.Phase(from)
	return turn - 2*math.Pi*math.Round(turn/(2*math.Pi)) // without jumps
}

// crossing is where between two frequencies the gain is 1.
func crossing(at func(w float64) complex128, lo, hi float64, falls bool) float64 {
	for range 12 {
		mid := math.Sqrt(lo * hi)
		if (cmplx.Abs(at(mid)) >= 1) == falls {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Sqrt(lo * hi)
}

// loop is the linear model around the fixed point: state alpha, R_T, R_C of
// one flow in packets per second.
type loop struct {
	a, delayed [3][3]float64
	b          [3]float64 // by the delayed marking
	slope      float64    // k, per packet of queue
	flows      float64
	delay      float64 // s
}

// linearise takes the derivatives by central differences.
func (m DCQCN) linearise(f FixedPoint) loop {
	bits := 8 * float64(m.Packet)
	x := [3]float64{f.Alpha, f.Target / bits, f.Rate / bits}
	l := loop{flows: float64(m.Flows), delay: m.Delay.Seconds(), slope: m.Pmax / (float64(m.Kmax-m.Kmin) / float64(m.Packet))}
	const h = 1e-5
	derive := func(set func(sign float64) [3]float64, step float64) (d [3]float64) {
		up, down := set(1), set(-1)
		for i := range d {
			d[i] = (up[i] - down[i]) / (2 * step)
		}
		return d
	}
	for k := range 3 {
		step := h * x[k]
		d := derive(func(sign float64) [3]float64 {
			y := x
			y[k] += sign * step
			return m.slopes(y, f.P, x[2])
		}, step)
		for i := range 3 {
			l.a[i][k] = d[i]
		}
	}
	step := h * x[2]
	d := derive(func(sign float64) [3]float64 { return m.slopes(x, f.P, x[2]+sign*step) }, step)
	for i := range 3 {
		l.delayed[i][2] = d[i]
	}
	step = h * f.P
	l.b = derive(func(sign float64) [3]float64 { return m.slopes(x, f.P+sign*step, x[2]) }, step)
	return l
}

// slopes are the derivatives of alpha, R_T and R_C of the fluid model with the
// delayed marking p and rate r.
func (m DCQCN) slopes(x [3]float64, p, r float64) [3]float64 {
	v := m.events(p, r)
	tau, gap := m.CNPInterval.Seconds(), x[1]-x[2]
	return [3]float64{
		m.G / m.AlphaTimer.Seconds() * (m.anyMark(p, m.AlphaTimer.Seconds()*r) - x[0]),
		-gap/tau*v.a + m.packets(m.RAI)*r*(v.c+v.e),
		-x[2]*x[0]/(2*tau)*v.a + gap/2*r*(v.b+v.d),
	}
}

// at returns the open loop at a frequency in rad/s, by Cramer's rule for R_C.
func (l *loop) at(w float64) complex128 {
	s := complex(0, w)
	lag := cmplx.Exp(-s * complex(l.delay, 0))
	var m [3][3]complex128
	for i := range 3 {
		for k := range 3 {
			m[i][k] = complex(-l.a[i][k], 0) - complex(l.delayed[i][k], 0)*lag
		}
		m[i][i] += s
	}
	whole := det(m)
	for i := range 3 {
		m[i][2] = complex(l.b[i], 0)
	}
	return -complex(l.slope*l.flows, 0) / s * det(m) / whole * lag
}

func det(m [3][3]complex128) complex128 {
	return m[0][0]*(m[1][1]*m[2][2]-m[1][2]*m[2][1]) - m[0][1]*(m[1][0]*m[2][2]-m[1][2]*m[2][0]) + m[0][2]*(m[1][0]*m[2][1]-m[1][1]*m[2][0])
}
