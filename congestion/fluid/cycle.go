package fluid

import (
	"fmt"
	"math"

	"rdmasim/sim"
)

var _ = describe(Oracle{
	ID:    "dcqcn_cycle",
	Title: "where N equal flows settle under any rules of DCQCN: the mean over what may happen between two cuts",
	Equation: `time from cut to cut: S = tau + an exponential time of mean 1/h, h = p R_C/packet: P(S > s) = e^(-h (s - tau))
increases at s_k = k T and k B/R_C: R_T += A_k (0, R_AI, i R_HAI by the stages), R_C = (R_C + R_T)/2
at a cut: R_C -= D, D = cut_gain alpha R_C; R_T = the rate before it if the rules clamp then, else as it was
alpha: e^(-g s/tau') between CNPs, +g at each
E[sum of increases] = E[D] and E[R_T - R_C] the same after every cut, at mean rate C/N: solved for h; p = 8 packet h/R_C; q = p/Pmax (Kmax-Kmin) + Kmin`,
	Source: "derivation: a renewal process whose cycles run from cut to cut; rules of SIGCOMM'15, section 3, with those of NICs",
	Limits: "p <= Pmax; target rates below line rate, rates above the least rate; rates of a flow that stay near their mean. Fluid: packets sit above it, since RED is convex",
})

// ClampRule says after what a cut sets the target rate to the rate before it.
type ClampRule int

// Rules for the target rate.
const (
	ClampAlways    ClampRule = iota // SIGCOMM'15, section 3, equation 1
	ClampAfterAny                   // only if timer or byte counter has increased the rate since the last cut
	ClampAfterByte                  // only if the byte counter has
)

// Cycle is N equal flows through one queue under rules of DCQCN that the model
// of "ECN or Delay" does not have: those of NICs and of other simulators. With
// the rules of the paper it meets that model where cuts are rare against the
// rate timer.
type Cycle struct {
	DCQCN // CNPInterval: between two CNPs, 0 where every mark comes back

	Line, Least sim.Rate     // bounds of R_C
	CutInterval sim.Duration // least time between two cuts; Polled: period of the check
	Polled      bool
	PerWindow   bool // windows of AlphaTimer, else every CNP restarts it
	AlphaFirst  bool // a CNP raises alpha before it cuts
	CutGain     float64
	MinFactor   float64 // share that a cut leaves at least
	Clamp       ClampRule
	CountFirst  bool // an event counts before its stage is compared with F
	HyperTimer  bool // hyper increase looks at the timer's stage alone
	// Hyper gives how often R_HAI is added at so many stages beyond F; nil = never.
	Hyper func(beyond int) float64
	RHAI  sim.Rate
}

// check reports the first parameter for which the model has no meaning.
func (m *Cycle) check() error {
	d := m.DCQCN
	if d.CNPInterval == 0 {
		d.CNPInterval = 1
	}
	if d.RAI == 0 {
		d.RAI = 1
	}
	if err := d.check(); err != nil {
		return err
	}
	switch {
	case m.CNPInterval < 0 || m.CutInterval < 0 || m.Polled && m.CutInterval == 0:
		return fmt.Errorf("fluid DCQCN: intervals of CNPs %v and cuts %v: want none negative, and a period for checks", m.CNPInterval, m.CutInterval)
	case !m.PerWindow && m.AlphaTimer < m.CNPInterval:
		return fmt.Errorf("alpha_timer %v is shorter than cnp_interval %v: alpha decays between CNPs that could not come sooner, which the model does not have for alpha_update per_cnp", m.AlphaTimer, m.CNPInterval)
	case !(m.CutGain > 0 && m.CutGain <= 1) || m.G >= 1:
		return fmt.Errorf("fluid DCQCN: cut gain %v, g %v: want above 0, at most 1, and g below 1", m.CutGain, m.G)
	case m.RHAI < 0 || m.RAI < 0 || m.RAI == 0 && (m.RHAI == 0 || m.Hyper == nil):
		return fmt.Errorf("fluid DCQCN: nothing increases the rate")
	}
	return nil
}

// dead is the least time between two cuts in seconds. A check that comes once
// per period finds a mark half a period after it came, on average.
func (m *Cycle) dead() float64 {
	if m.Polled {
		return m.CutInterval.Seconds() / 2
	}
	return max(m.CNPInterval, m.CutInterval).Seconds()
}

// windows is how often per second alpha rises, where marks come h times per
// second: windows with a notification, of which one is at most one CNP interval long.
func (m *Cycle) windows(h float64) float64 {
	tau, w := m.CNPInterval.Seconds(), m.AlphaTimer.Seconds()
	if w <= tau {
		return h / (1 + h*tau)
	}
	return (1 - math.Exp(-h*(w-tau))/(1+h*tau)) / w
}

// alike reports whether every cut raises alpha once and nothing else does.
func (m *Cycle) alike() bool {
	return !m.PerWindow || !m.Polled && m.CutInterval <= m.CNPInterval && m.AlphaTimer <= m.CNPInterval
}

// Balance solves the model for its rest state. Queue has a meaning only
// where Valid; the error says what keeps the flows from resting at all. Source:
// the oracle dcqcn_cycle.
func (m *Cycle) Balance() (FixedPoint, error) {
	r, err := m.rest()
	if err != nil {
		return FixedPoint{}, err
	}
	f := FixedPoint{Alpha: r.meanAlpha(), Rate: m.share(), CNPRate: r.notified(), P: r.hazard / m.packetsOfFlow()}
	f.Target = f.Rate + r.meanGap()
	f.Valid = f.P <= m.Pmax
	f.Queue = f.P/m.Pmax*float64(m.Kmax-m.Kmin) + float64(m.Kmin)
	return f, nil
}

// share is the fair share of a flow in bit/s, packetsOfFlow in packets/s.
func (m *Cycle) share() float64         { return float64(m.Capacity) / float64(m.Flows) }
func (m *Cycle) packetsOfFlow() float64 { return m.share() / (8 * float64(m.Packet)) }

// rest looks for the hazard at which increases and cuts are equal. Where marks
// are rare increases outweigh cuts, and the other way round: one root.
func (m *Cycle) rest() (*rest, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if m.share() <= float64(m.Least) {
		return nil, fmt.Errorf("the fair share of %.4g Gb/s is not above the least rate %v: no marking can slow the flows down to it", m.share()/1e9, m.Least)
	}
	least := math.Log(1/leastTail) / (mostSpans / 4 * m.shortest())
	most := m.packetsOfFlow()
	if at(m, least).drift < 0 {
		return nil, fmt.Errorf("the flows rest with less than %.3g CNPs per second each: rates swing from cut to cut, there is no smooth rest state", least)
	}
	if at(m, most).drift > 0 {
		return nil, fmt.Errorf("increases outweigh cuts even if every packet is marked")
	}
	r := at(m, bisectLog(least, most, func(h float64) bool { return at(m, h).drift > 0 }))
	return r, r.check()
}

// shortest is the shortest time between two increases in seconds.
func (m *Cycle) shortest() float64 {
	t := m.RateTimer.Seconds()
	if m.ByteCounter > 0 {
		t = min(t, 8*float64(m.ByteCounter)/m.share())
	}
	return t
}

// check says what of a rest state the model does not have.
func (r *rest) check() error {
	m := r.m
	share := m.share()
	switch {
	case r.deepest() > 1-m.MinFactor && m.MinFactor > 0:
		return fmt.Errorf("cuts of %.3g of the rate would meet min_decrease_factor %.3g", r.deepest(), m.MinFactor)
	case share+r.highest > float64(m.Line):
		return fmt.Errorf("targets rise to %.4g Gb/s, above the line rate %v, to which the model does not hold them", (share+r.highest)/1e9, m.Line)
	case r.swing() > mostSwing:
		return fmt.Errorf("rates of a flow would swing by %.0f %% around their mean: few CNPs, each followed by large increases, make no smooth rest state", 100*r.swing())
	}
	return nil
}

// mostSwing is the standard deviation of a flow's rate against its mean above
// which products of means say little of means of products.
const mostSwing = 0.5

// swing is the standard deviation of a flow's rate relative to its mean. A
// cycle moves the rate by spread at random, and what is off by x decays by
// twice the relative cut per cycle: a cut is proportional to the rate, and so
// is how often it comes.
func (r *rest) swing() float64 {
	share := r.m.share()
	back := 2 * r.cut / share
	return math.Sqrt((r.spread*r.spread+r.cut*r.cut)/(2*back)) / share
}

// deepest is the largest share of the rate that a cut takes on average.
func (r *rest) deepest() float64 { return r.m.CutGain * (r.mu*r.spans[0].alpha + r.nu) }
