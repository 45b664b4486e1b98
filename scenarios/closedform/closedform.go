// Package closedform answers from formulas, in milliseconds, what a run of a
// scenario takes minutes to show, and says of each answer whether it holds.
package closedform

import (
	"fmt"
	"math"

	"rdmasim/congestion"
	"rdmasim/congestion/fluid"
	"rdmasim/reports/tuning"
	"rdmasim/scenarios"
	"rdmasim/sim"
)

// question is one closed form. Its oracle gives equation, source and limits.
type question struct {
	key, name, unit string
	oracle          string
	own             *fluid.Oracle // instead: what the oracle says, for switches as they are here
	metric          string
	bound           string
	// answer returns the value, what it means here and what went in; an error
	// says why the form does not hold here.
	answer func(c *view) (value float64, text string, err error)
}

// view is a scenario as closed forms see it.
type view struct {
	spec   *scenarios.Spec
	b      *scenarios.Bottleneck
	dcqcn  *congestion.DCQCNParams // nil: another algorithm
	inputs []tuning.Input
	apart  bool   // the metric of the question shows something else here
	oracle string // instead of the question's
}

// use notes an input and returns it.
func (c *view) use(name string, v float64, unit, from string) float64 {
	c.inputs = append(c.inputs, tuning.Input{Name: name, Value: v, Unit: unit, From: from})
	return v
}

// Estimate answers every question about a scenario. An error is one of the
// scenario; what does not hold is not an error.
func Estimate(s *scenarios.Spec) (*tuning.Estimates, error) {
	b, err := scenarios.FindBottleneck(s)
	if err != nil {
		return nil, err
	}
	e := &tuning.Estimates{Schema: tuning.EstimateSchema, Scenario: s.Name}
	if b == nil {
		e.Notes = append(e.Notes, "No workload sends anything at its beginning: there is nothing to estimate.")
		return e, nil
	}
	e.Where, e.Flows, e.Share = b.Where, b.Flows, float64(b.Rate)/float64(max(b.Flows, 1))
	for _, q := range questions() {
		c := newView(s, b)
		e.Items = append(e.Items, q.ask(c))
	}
	e.Margins = Margins(s, b, tuning.SettingToday)
	e.Notes = notes(s, b)
	return e, nil
}

func newView(s *scenarios.Spec, b *scenarios.Bottleneck) *view {
	c := &view{spec: s, b: b}
	if p, ok := s.NIC.Congestion.Params.(congestion.DCQCNParams); ok {
		c.dcqcn = &p
	}
	return c
}

func notes(s *scenarios.Spec, b *scenarios.Bottleneck) (list []string) {
	list = append(list, "The bottleneck is the port to the host at which most senders begin together, as the workloads post their first messages; collisions of paths inside the fabric are not looked at.")
	if b.Others > 0 {
		list = append(list, fmt.Sprintf("%d messages to other hosts begin as early and are left out.", b.Others))
	}
	if len(s.Switches)+len(s.NICs)+len(s.Faults) > 0 {
		list = append(list, "Exceptions for some NICs and faults are left out; the switch of the bottleneck is taken as it is set.")
	}
	return list
}

// ask answers one question.
func (q *question) ask(c *view) tuning.Estimate {
	o, _ := fluid.Explain(q.oracle)
	if q.own != nil {
		o = *q.own
	}
	e := tuning.Estimate{Key: q.key, Name: q.name, Unit: q.unit, Formula: o.Equation, Source: o.Source, Limit: o.Limits, Metric: q.metric, Bound: q.bound}
	v, text, err := q.answer(c)
	if c.oracle != "" {
		if o, known := fluid.Explain(c.oracle); known == nil {
			e.Formula, e.Source, e.Limit = o.Equation, o.Source, o.Limits
		}
	}
	e.Inputs, e.Text = c.inputs, text
	if c.apart {
		e.Metric, e.Bound = "", ""
	}
	switch {
	case err != nil:
		e.Why = err.Error()
	case math.IsNaN(v) || math.IsInf(v, 0):
		e.Why = "the formula has no finite value here"
	default:
		e.Value, e.Valid = &v, true
	}
	return e
}

// needs checks what questions about a queue have in common.
func (c *view) meets() error {
	if c.b.Where == "" {
		return fmt.Errorf("the host hangs on no switch")
	}
	if c.b.Senders < 2 {
		return fmt.Errorf("no two hosts begin to send to one host within a round trip")
	}
	return nil
}

// model returns the control loop of the scenario's DCQCN, or why it is none.
func (c *view) model() (*loop, error) {
	if c.b.Where == "" {
		return nil, fmt.Errorf("the host hangs on no switch")
	}
	if c.b.Flows < 2 {
		return nil, fmt.Errorf("no two flows meet")
	}
	return newLoop(c.spec, c.b, c.b.Flows)
}

// Model returns the fluid model of DCQCN with the parameters of a scenario. The
// error says what of the scenario the model does not have.
func Model(s *scenarios.Spec, b *scenarios.Bottleneck) (fluid.DCQCN, error) {
	p, ok := s.NIC.Congestion.Params.(congestion.DCQCNParams)
	switch {
	case !ok:
		return fluid.DCQCN{}, fmt.Errorf("congestion is %s, not dcqcn", s.NIC.Congestion.Name)
	case !b.ECN.On || b.ECN.Pmax <= 0:
		return fluid.DCQCN{}, fmt.Errorf("priority %d is not marked at %s", b.Priority, b.Where)
	case b.ECN.KeepPmax:
		return fluid.DCQCN{}, fmt.Errorf("above Kmax the model marks every packet, the switch Pmax of them")
	case p.Feedback != congestion.FeedbackCNP || p.CNPInterval <= 0:
		return fluid.DCQCN{}, fmt.Errorf("the model has CNPs at a least interval above 0; here feedback is %s, cnp_interval %v", p.Feedback, p.CNPInterval)
	case p.CutInterval > p.CNPInterval || p.Cut != congestion.CutAtCNP:
		return fluid.DCQCN{}, fmt.Errorf("the model cuts at every CNP; here cuts are %s, at least %v apart", p.Cut, p.CutInterval)
	case p.AlphaTimer < p.CNPInterval:
		return fluid.DCQCN{}, fmt.Errorf("alpha_timer %v is shorter than cnp_interval %v: alpha decays between CNPs that could not come sooner, which the model does not have", p.AlphaTimer, p.CNPInterval)
	case p.CutGain != 0.5:
		return fluid.DCQCN{}, fmt.Errorf("the model cuts by alpha/2, here by alpha * %v", p.CutGain)
	case !p.Clamp:
		return fluid.DCQCN{}, fmt.Errorf("the model sets the target rate at every cut (clamp_target), here only after an increase")
	case p.FirstCNPRate > 0:
		return fluid.DCQCN{}, fmt.Errorf("first_cnp_rate %v is not in the model", p.FirstCNPRate)
	}
	steps := p.F
	if p.StageTest == congestion.TestAfterCount && steps > 0 {
		steps-- // the rule by the letter: one step of fast recovery less
	}
	return fluid.DCQCN{Capacity: payloadRate(b), Flows: max(b.Flows, 1), Packet: b.Frame, CNPInterval: p.CNPInterval, AlphaTimer: p.AlphaTimer,
		RateTimer: p.RateTimer, ByteCounter: p.ByteCounter, F: steps, G: float64(p.G), RAI: p.RAI, Kmin: sim.Bytes(b.ECN.Kmin), Kmax: sim.Bytes(b.ECN.Kmax),
		Pmax: b.ECN.Pmax, Delay: b.RTT}, nil
}

// payloadRate is the rate of the bottleneck in bytes of frames, without
// preamble and gap, as queues count them.
func payloadRate(b *scenarios.Bottleneck) sim.Rate {
	return sim.Rate(float64(b.Rate) * float64(b.Frame) / float64(b.Wire))
}

// fixedPoint returns the rest state, or why there is none.
func (c *view) fixedPoint() (*loop, fluid.FixedPoint, error) {
	m, err := c.model()
	if err != nil {
		return nil, fluid.FixedPoint{}, err
	}
	c.noteModel(m)
	c.oracle = m.oracle("", cyclePoint)
	f, err := m.FixedPoint()
	switch {
	case err != nil:
		return m, f, err
	case !f.Valid:
		return m, f, fmt.Errorf("the fixed point needs %.3g of the packets marked, above Pmax %.3g: %d flows keep the queue at Kmax and beyond", f.P, m.Pmax, m.Flows)
	case c.b.Once && float64(c.b.Burst) < 20*f.Rate/8*m.AlphaTimer.Seconds():
		return m, f, fmt.Errorf("messages of %v end before the rates settle", c.b.Burst)
	}
	if err := c.pfcFirst(f.Queue); err != nil {
		return m, f, err
	}
	return m, f, nil
}

// hyper is the chance that no CNP comes until hyper increase begins.
func hyper(p congestion.DCQCNParams, f fluid.FixedPoint) float64 {
	t := float64(p.F+1) * p.RateTimer.Seconds()
	if p.HyperStage == congestion.HyperBoth && p.ByteCounter > 0 {
		t = max(t, float64(p.F+1)*float64(p.ByteCounter)*8/f.Rate)
	}
	return math.Exp(-f.CNPRate * t)
}

// pfcFirst says when pauses hold the queue below a length.
func (c *view) pfcFirst(queue float64) error {
	if !c.b.Lossless {
		return nil
	}
	if each, ok := c.b.Xoff(max(c.b.Inputs, 1)); ok && queue > each*float64(max(c.b.Inputs, 1)) {
		return fmt.Errorf("pauses begin at %s over %d ports, before the queue is that long", size(each*float64(c.b.Inputs)), c.b.Inputs)
	}
	return nil
}

func (c *view) noteModel(m *loop) {
	c.use("C", float64(c.b.Rate), tuning.BitsPerS, c.b.Where)
	c.use("N", float64(m.Flows), tuning.Count, "traffic")
	c.use("packet", float64(m.Packet), tuning.Bytes, "nic")
	c.use("Kmin", float64(m.Kmin), tuning.Bytes, "switch")
	c.use("Kmax", float64(m.Kmax), tuning.Bytes, "switch")
	c.use("Pmax", m.Pmax, tuning.Ratio, "switch")
	c.use("tau", m.CNPInterval.Seconds(), tuning.Seconds, "cnp_interval")
	c.use("tau'", m.AlphaTimer.Seconds(), tuning.Seconds, "alpha_timer")
	c.use("T", m.RateTimer.Seconds(), tuning.Seconds, "rate_timer")
	c.use("B", float64(m.ByteCounter), tuning.Bytes, "byte_counter")
	c.use("F", float64(m.F), tuning.Count, "f, stage_test")
	c.use("g", m.G, tuning.Ratio, "g")
	c.use("R_AI", float64(m.RAI), tuning.BitsPerS, "r_ai")
	if m.cycle != nil {
		c.use("R_HAI", float64(m.cycle.RHAI), tuning.BitsPerS, "r_hai")
		c.use("cut_gain", m.cycle.CutGain, tuning.Ratio, "cut_gain")
		c.use("cut_interval", m.cycle.CutInterval.Seconds(), tuning.Seconds, "cut_interval")
	}
}

// size prints bytes with three digits.
func size(v float64) string {
	switch {
	case v >= 999.5e3:
		return fmt.Sprintf("%.3g MB", v/1e6)
	case v >= 999.5:
		return fmt.Sprintf("%.3g KB", v/1e3)
	}
	return fmt.Sprintf("%.0f B", v)
}
