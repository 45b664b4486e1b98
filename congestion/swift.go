package congestion

import (
	"fmt"
	"math"

	"rdmasim/sim"
)

// SwiftParams are the knobs of Swift (Kumar et al., SIGCOMM'20, sections 3.2
// and 3.5, algorithm 1). The paper gives no values for most of them; the
// defaults are those of the public simulator htsim, which calls several of
// them guesses. Windows are in packets of one segment.
type SwiftParams struct {
	BaseTarget  sim.Duration `key:"base_target" doc:"target round trip without hops and flow scaling"`
	HopDelay    sim.Duration `key:"hop_delay" doc:"added to the target per link of the forward path, where known"`
	ScaleRange  sim.Duration `key:"fs_range" doc:"flow scaling adds at most this to the target"`
	ScaleMin    sim.Ratio    `key:"fs_min_cwnd" doc:"window in packets at and below which flow scaling is at its most"`
	ScaleMax    sim.Ratio    `key:"fs_max_cwnd" doc:"window in packets at and above which flow scaling is nothing"`
	AI          sim.Ratio    `key:"ai" doc:"additive increase in packets per round trip"`
	Beta        sim.Ratio    `key:"beta" doc:"multiplicative decrease per relative excess of delay"`
	MaxMDF      sim.Ratio    `key:"max_mdf" doc:"a decrease takes at most this share of the window"`
	MinCwnd     sim.Ratio    `key:"min_cwnd" doc:"least window in packets"`
	MaxCwnd     sim.Ratio    `key:"max_cwnd" doc:"largest window in packets"`
	InitialCwnd sim.Ratio    `key:"initial_cwnd" doc:"window at the start in packets; 0 = what fills the path without queues"`
	Segment     sim.Bytes    `key:"segment" doc:"payload of the packet in which windows are counted: the path MTU"`
}

var _ = sim.Register(Algorithms, "swift", "delay-based window control with a target delay (Kumar et al., SIGCOMM'20)",
	SwiftParams{
		BaseTarget: 20 * sim.Microsecond, HopDelay: 3053 * sim.Nanosecond, // htsim: base / 6.55
		ScaleRange: 100 * sim.Microsecond, ScaleMin: 0.1, ScaleMax: 100, // htsim: 5 times base
		AI: 1, Beta: 0.8, MaxMDF: 0.5,
		MinCwnd: 0.01, MaxCwnd: 1000, Segment: 4096 * sim.Byte,
	}, nil, NewSwift)

// swift is the algorithm: parameters and the two constants of flow scaling.
type swift struct {
	p           SwiftParams
	scaleAlpha  float64 // in ps
	scaleOffset float64 // in ps, the paper's beta_fs
}

// NewSwift checks the parameters and returns the algorithm.
func NewSwift(p SwiftParams) (Algorithm, error) {
	err := firstError(
		within("base_target", p.BaseTarget, sim.Nanosecond, sim.Second),
		within("hop_delay", p.HopDelay, 0, sim.Second),
		within("fs_range", p.ScaleRange, 0, sim.Second),
		within("fs_min_cwnd", p.ScaleMin, 1e-6, 1e6),
		within("fs_max_cwnd", p.ScaleMax, 1e-6, 1e9),
		within("ai", p.AI, 0, 1e6),
		within("beta", p.Beta, 0, 1),
		within("max_mdf", p.MaxMDF, 0, 0.99),
		within("min_cwnd", p.MinCwnd, 1e-6, 1),
		within("max_cwnd", p.MaxCwnd, 1, 1e9),
		within("initial_cwnd", p.InitialCwnd, 0, 1e9),
		within("segment", p.Segment, 1, 64*sim.KiB),
	)
	if err == nil && p.ScaleMin >= p.ScaleMax {
		err = fmt.Errorf("fs_min_cwnd %v: want less than fs_max_cwnd %v", p.ScaleMin, p.ScaleMax)
	}
	if err != nil {
		return nil, fmt.Errorf("congestion swift: %w", err)
	}
	s := &swift{p: p}
	least := 1 / math.Sqrt(float64(p.ScaleMax))
	s.scaleAlpha = float64(p.ScaleRange) / (1/math.Sqrt(float64(p.ScaleMin)) - least)
	s.scaleOffset = -s.scaleAlpha * least
	return s, nil
}

func (s *swift) Feedback() (Feedback, sim.Duration) { return RoundTrips, 0 }
func (s *swift) ECT() bool                          { return false }

func (s *swift) NewReactionPoint(line sim.Rate, baseRTT sim.Duration) ReactionPoint {
	w := float64(s.p.InitialCwnd)
	if w == 0 {
		w = float64(line.BytesIn(baseRTT))/float64(s.p.Segment) + 1
	}
	return &swiftPoint{s: s, line: line, rtt: max(baseRTT, 1), cwnd: s.clip(w)}
}

func (s *swift) clip(w float64) float64 {
	return min(max(w, float64(s.p.MinCwnd)), float64(s.p.MaxCwnd))
}

// target returns the target delay in ps for a window and a path of so many
// links: base + hops*h + clip(a/sqrt(cwnd) + b, 0, fs_range). SIGCOMM'20,
// section 3.5.
func (s *swift) target(cwnd float64, hops int) float64 {
	scale := s.scaleAlpha/math.Sqrt(cwnd) + s.scaleOffset
	scale = min(max(scale, 0), float64(s.p.ScaleRange))
	return float64(s.p.BaseTarget) + float64(float64(hops)*float64(s.p.HopDelay)) + scale
}

// swiftPoint is Swift's reaction point of one queue pair.
type swiftPoint struct {
	s        *swift
	line     sim.Rate
	rtt      sim.Duration // latest sample
	cwnd     float64      // packets
	decrease sim.Time     // last decrease
	hops     int
	cut      bool // there has been a decrease
}

// Rate returns the line rate while the window holds a packet; below that, one
// packet per RTT/cwnd (SIGCOMM'20, section 3.2).
func (q *swiftPoint) Rate(sim.Time) sim.Rate {
	if q.cwnd >= 1 {
		return q.line
	}
	bits := float64(q.s.p.Segment) * 8 * q.cwnd
	return min(q.line, max(sim.Kbps, sim.Rate(bits/q.rtt.Seconds())))
}

// Window returns the window, at least one packet: smaller ones are paced.
func (q *swiftPoint) Window(sim.Time) sim.Bytes {
	return sim.Bytes(max(q.cwnd, 1) * float64(q.s.p.Segment))
}

func (q *swiftPoint) OnSend(sim.Time, sim.Bytes) {}
func (q *swiftPoint) OnCNP(sim.Time)             {}

// OnAck grows the window while the delay is below the target, and shrinks it
// by the relative excess, at most once per round trip, otherwise.
func (q *swiftPoint) OnAck(now sim.Time, a Ack) {
	if a.RTT <= 0 {
		return
	}
	q.rtt, q.hops = a.RTT, a.Hops
	delay, target := float64(a.RTT), q.s.target(q.cwnd, a.Hops)
	acked := float64(a.Bytes) / float64(q.s.p.Segment)
	switch {
	case delay < target:
		q.cwnd = q.s.clip(q.cwnd + float64(float64(q.s.p.AI)*acked/max(q.cwnd, 1)))
	case q.mayDecrease(now):
		q.shrink(now, float64(q.s.p.Beta)*(delay-target)/delay)
	}
}

// OnLoss takes the largest decrease, at most once per round trip, as Swift
// does in fast recovery.
func (q *swiftPoint) OnLoss(now sim.Time) {
	if q.mayDecrease(now) {
		q.shrink(now, float64(q.s.p.MaxMDF))
	}
}

func (q *swiftPoint) mayDecrease(now sim.Time) bool {
	return !q.cut || now.Sub(q.decrease) >= q.rtt
}

func (q *swiftPoint) shrink(now sim.Time, by float64) {
	q.cwnd = q.s.clip(q.cwnd * (1 - min(by, float64(q.s.p.MaxMDF))))
	q.decrease, q.cut = now, true
}

// Observe reports rate, window in packets, latest delay and target in seconds.
func (q *swiftPoint) Observe(now sim.Time, f func(name string, value float64)) {
	f("rate", float64(q.Rate(now)))
	f("cwnd", q.cwnd)
	f("delay", q.rtt.Seconds())
	f("target_delay", q.s.target(q.cwnd, q.hops)/float64(sim.Second))
}
