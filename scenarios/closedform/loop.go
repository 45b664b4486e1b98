package closedform

import (
	"fmt"

	"rdmasim/congestion"
	"rdmasim/congestion/fluid"
	"rdmasim/reports/tuning"
	"rdmasim/scenarios"
	"rdmasim/sim"
)

// loop is the control loop of a scenario: the model of "ECN or Delay" where the
// reaction point is that of the paper, else the one of cycles.
type loop struct {
	fluid.DCQCN              // what both have
	cycle       *fluid.Cycle // nil: the model of the paper
}

// Oracles that say what a loop is.
const (
	cyclePoint               = "dcqcn_cycle"
	paperMargin, cycleMargin = "dcqcn_phase_margin", "dcqcn_cycle_margin"
	settleOracle             = "dcqcn_cycle_settling"
)

// newLoop returns the loop of a scenario with so many flows, or why the models
// have none.
func newLoop(s *scenarios.Spec, b *scenarios.Bottleneck, flows int) (*loop, error) {
	m, err := Model(s, b)
	if err == nil {
		m.Flows = flows
		l := &loop{DCQCN: m}
		f, err := l.FixedPoint()
		if err != nil || hyper(s.NIC.Congestion.Params.(congestion.DCQCNParams), f) <= mostHyper {
			return l, err
		}
	}
	c, err := Cycle(s, b)
	if err != nil {
		return nil, err
	}
	c.Flows = flows
	return &loop{DCQCN: c.DCQCN, cycle: c}, nil
}

// mostHyper is the share of pauses between CNPs in which hyper increase may
// begin, which the model of the paper does not have.
const mostHyper = 0.1

func (l *loop) FixedPoint() (fluid.FixedPoint, error) {
	if l.cycle != nil {
		return l.cycle.Balance()
	}
	return l.DCQCN.FixedPoint()
}

func (l *loop) PhaseMargin() (fluid.Margin, error) {
	if l.cycle != nil {
		return l.cycle.PhaseMargin()
	}
	return l.DCQCN.PhaseMargin()
}

// oracle names what a loop's answers come from: that of the paper, or the one in
// its place.
func (l *loop) oracle(paper, cycle string) string {
	if l.cycle != nil {
		return cycle
	}
	return paper
}

// Cycle returns the model of DCQCN by cycles from cut to cut with the parameters
// of a scenario. The error says what of the scenario the model does not have.
func Cycle(s *scenarios.Spec, b *scenarios.Bottleneck) (*fluid.Cycle, error) {
	p, ok := s.NIC.Congestion.Params.(congestion.DCQCNParams)
	switch {
	case !ok:
		return nil, fmt.Errorf("congestion is %s, not dcqcn", s.NIC.Congestion.Name)
	case !b.ECN.On || b.ECN.Pmax <= 0:
		return nil, fmt.Errorf("priority %d is not marked at %s", b.Priority, b.Where)
	case p.VariableWindow > 0:
		return nil, fmt.Errorf("variable_window %v bounds what is in flight, which the model does not have", p.VariableWindow)
	case p.CutGain == 0 || p.G == 0 || p.G >= 1:
		return nil, fmt.Errorf("cut_gain %v and g %v: the model wants cuts, and an alpha that moves", p.CutGain, p.G)
	}
	m := &fluid.Cycle{
		DCQCN: fluid.DCQCN{Capacity: payloadRate(b), Flows: max(b.Flows, 1), Packet: b.Frame, AlphaTimer: p.AlphaTimer, RateTimer: p.RateTimer, ByteCounter: p.ByteCounter,
			F: p.F, G: float64(p.G), RAI: p.RAI, Kmin: sim.Bytes(b.ECN.Kmin), Kmax: sim.Bytes(b.ECN.Kmax), Pmax: b.ECN.Pmax, Delay: b.RTT},
		Line: b.Line, Least: p.MinRate, CutInterval: p.CutInterval, Polled: p.Cut == congestion.CutPolled,
		PerWindow: p.AlphaUpdate == congestion.AlphaPerWindow, AlphaFirst: p.AlphaFirst, CutGain: float64(p.CutGain), MinFactor: float64(p.MinDecreaseFactor),
		Clamp: clampRule(&p), CountFirst: p.StageTest == congestion.TestAfterCount, HyperTimer: p.HyperStage == congestion.HyperTimer, Hyper: hyperSteps(p.HyperStep), RHAI: p.RHAI,
	}
	if p.Feedback == congestion.FeedbackCNP {
		m.CNPInterval = p.CNPInterval
	}
	if p.MaxRate > 0 {
		m.Line = min(m.Line, p.MaxRate)
	}
	return m, nil
}

func clampRule(p *congestion.DCQCNParams) fluid.ClampRule {
	switch {
	case p.Clamp:
		return fluid.ClampAlways
	case p.ClampAfterTime:
		return fluid.ClampAfterAny
	}
	return fluid.ClampAfterByte
}

func hyperSteps(h congestion.HyperStep) func(beyond int) float64 {
	switch h {
	case congestion.HyperLinear:
		return func(beyond int) float64 { return float64(beyond) }
	case congestion.HyperLinearPlusOne:
		return func(beyond int) float64 { return float64(beyond) + 1 }
	}
	return func(int) float64 { return 1 }
}

// flowCounts are those of a stability curve.
var flowCounts = []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128}

// Margins returns the phase margin of a scenario's settings against the number
// of flows, or why there is none; nil without a bottleneck.
func Margins(s *scenarios.Spec, b *scenarios.Bottleneck, setting string) (list []tuning.Margin) {
	if b == nil || b.Where == "" {
		return nil
	}
	for _, n := range flowCounts {
		x := tuning.Margin{Setting: setting, Flows: n}
		l, err := newLoop(s, b, n)
		if err != nil {
			return []tuning.Margin{{Setting: setting, Flows: max(b.Flows, 1), Why: err.Error()}} // and so for any number
		}
		x.Model = l.oracle(paperMargin, cycleMargin)
		got, err := l.PhaseMargin()
		if err == nil {
			x.Degrees = &got.Degrees
		} else {
			x.Why = err.Error()
		}
		list = append(list, x)
	}
	return list
}
