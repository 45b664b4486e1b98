package fluid

import (
	"fmt"
	"math"

	"rdmasim/sim"
)

var _ = describe(Oracle{
	ID:    "dcqcn_fluid",
	Title: "DCQCN over time as delay differential equations",
	Equation: `dq/dt     = sum R_C - C
dalpha/dt = g/tau' (1-(1-p^)^(tau' R^) - alpha)
dR_T/dt   = -(R_T-R_C)/tau a + R_AI R^ (c + e)
dR_C/dt   = -R_C alpha/(2 tau) a + (R_T-R_C)/2 R^ (b + d)
with p^ = p(q(t-tau*)), R^ = R_C(t-tau*), and a to e of the fixed point at p^, R^`,
	Source: "Zhu et al., ECN or Delay, CoNEXT'16, figure 1",
	Limits: "no hyper increase, no PFC, R_T = R_C at every cut; R_C and R_T at most C",
})

// State is a moment of the fluid model. The slices have one value per flow and
// are reused from sample to sample.
type State struct {
	Time   float64   // s
	Queue  float64   // bytes
	Rate   []float64 // R_C, bit/s
	Target []float64 // R_T, bit/s
	Alpha  []float64
}

const (
	maxStep  = 1 * sim.Microsecond // well below every time constant of the model
	maxSteps = 50_000_000
)

// fluidState is the state vector in packets and seconds.
type fluidState struct {
	q             float64
	rc, rt, alpha []float64
}

func newFluidState(n int) *fluidState {
	v := make([]float64, 3*n)
	return &fluidState{rc: v[:n], rt: v[n : 2*n], alpha: v[2*n:]}
}

func (s *fluidState) set(o *fluidState) {
	s.q = o.q
	copy(s.rc, o.rc)
	copy(s.rt, o.rt)
	copy(s.alpha, o.alpha)
}

// Integrate runs the model for a duration and calls sample at time 0 and then
// once per interval every. start gives the first rate of every flow; nil
// starts all at line rate, as DCQCN does. Source: the oracle dcqcn_fluid;
// method of Heun with a step that divides the delay.
func (m DCQCN) Integrate(duration, every sim.Duration, start []sim.Rate, sample func(State)) error {
	if err := m.check(); err != nil {
		return err
	}
	if start != nil && len(start) != m.Flows {
		return fmt.Errorf("fluid DCQCN: %d start rates for %d flows", len(start), m.Flows)
	}
	if every <= 0 || m.Delay < 0 {
		return fmt.Errorf("fluid DCQCN: sample interval %v, delay %v: want a positive interval, a delay that is not negative", every, m.Delay)
	}
	step, lag := maxStep, 0
	if m.Delay > 0 {
		lag = int((m.Delay + maxStep - 1) / maxStep)
		step = m.Delay / sim.Duration(lag)
	}
	if step <= 0 || int64(duration)/int64(step)*int64(m.Flows) > maxSteps || lag*m.Flows > maxSteps {
		return fmt.Errorf("fluid DCQCN: %v with %d flows and a delay of %v takes more than %d steps", duration, m.Flows, m.Delay, maxSteps)
	}
	in := newIntegrator(m, lag, step.Seconds(), start)
	next := sim.Duration(0)
	for t := sim.Duration(0); t <= duration; t += step {
		if t >= next {
			sample(in.state(t.Seconds()))
			next += every
		}
		in.step()
	}
	return nil
}

type integrator struct {
	m           DCQCN
	dt          float64
	c           float64 // capacity, packets/s
	now, probe  *fluidState
	d1, d2      *fluidState
	past        []fluidPast // ring of the last lag+1 steps
	at          int
	out         State
	bits, bytes float64 // per packet
}

// fluidPast is what the delayed terms need of a moment.
type fluidPast struct {
	p  float64
	rc []float64
}

func newIntegrator(m DCQCN, lag int, dt float64, start []sim.Rate) *integrator {
	n := m.Flows
	in := &integrator{
		m: m, dt: dt, c: m.packets(m.Capacity), bytes: float64(m.Packet), bits: 8 * float64(m.Packet),
		now: newFluidState(n), probe: newFluidState(n), d1: newFluidState(n), d2: newFluidState(n),
		past: make([]fluidPast, lag+1),
		out:  State{Rate: make([]float64, n), Target: make([]float64, n), Alpha: make([]float64, n)},
	}
	for i := range n {
		r := in.c
		if start != nil {
			r = min(m.packets(start[i]), in.c)
		}
		in.now.rc[i], in.now.rt[i], in.now.alpha[i] = r, r, 1
	}
	for i := range in.past {
		in.past[i].rc = make([]float64, n)
		in.remember(i, in.now)
	}
	return in
}

func (in *integrator) remember(i int, s *fluidState) {
	in.past[i].p = in.m.Mark(s.q * in.bytes)
	copy(in.past[i].rc, s.rc)
}

// step advances one dt. past[at] is the present, past[at+1] lies the delay
// before it, past[at+2] one dt later than that.
func (in *integrator) step() {
	n := len(in.past)
	in.remember(in.at, in.now)
	in.slope(in.now, in.past[(in.at+1)%n], in.d1)
	in.probe.set(in.now)
	in.move(in.probe, in.d1, in.dt)
	later := (in.at + 2) % n
	if n == 1 {
		later = 0
		in.remember(0, in.probe)
	}
	in.slope(in.probe, in.past[later], in.d2)
	in.move(in.now, in.d1, in.dt/2)
	in.move(in.now, in.d2, in.dt/2)
	in.at = (in.at + 1) % n
}

// slope writes the derivatives at s with delayed terms of the past into d.
func (in *integrator) slope(s *fluidState, past fluidPast, d *fluidState) {
	m := in.m
	tau, rai := m.CNPInterval.Seconds(), m.packets(m.RAI)
	d.q = -in.c
	for i, rc := range s.rc {
		old := past.rc[i]
		v := m.events(past.p, old)
		d.q += rc
		d.alpha[i] = m.G / m.AlphaTimer.Seconds() * (m.anyMark(past.p, m.AlphaTimer.Seconds()*old) - s.alpha[i])
		gap := s.rt[i] - rc
		d.rt[i] = -gap/tau*v.a + rai*old*(v.c+v.e)
		d.rc[i] = -rc*s.alpha[i]/(2*tau)*v.a + gap/2*old*(v.b+v.d)
	}
}

// move adds dt times d to s and keeps it in its bounds.
func (in *integrator) move(s, d *fluidState, dt float64) {
	s.q = max(0, s.q+d.q*dt)
	for i := range s.rc {
		s.rc[i] = min(max(s.rc[i]+d.rc[i]*dt, in.c*1e-9), in.c)
		s.rt[i] = min(max(s.rt[i]+d.rt[i]*dt, in.c*1e-9), in.c)
		s.alpha[i] = math.Min(1, s.alpha[i]+d.alpha[i]*dt)
	}
}

func (in *integrator) state(t float64) State {
	in.out.Time, in.out.Queue = t, in.now.q*in.bytes
	for i := range in.now.rc {
		in.out.Rate[i], in.out.Target[i] = in.now.rc[i]*in.bits, in.now.rt[i]*in.bits
	}
	copy(in.out.Alpha, in.now.alpha)
	return in.out
}
