package main

import (
	"fmt"
	"strings"

	"rdmasim/reports/metric"
	"rdmasim/sim"
)

// runGauge reads the progress of a run. Its event rate is smoothed.
type runGauge struct {
	shown progress // by the last line
	rate  float64  // events/s
}

func (a *app) newRunMeter(f *runFlags) *meter[progress] {
	return newMeter(a, f.jsonProgress, f.quiet, gauge[progress](&runGauge{}))
}

func (g *runGauge) measure(p progress) {
	if wall := p.Wall - g.shown.Wall; wall > 0 && p.Events >= g.shown.Events {
		rate := float64(p.Events-g.shown.Events) / wall
		if g.rate == 0 {
			g.rate = rate
		} else {
			g.rate += (rate - g.rate) * 0.2
		}
	}
	g.shown = p
}

// progressObject is one line of --json-progress of a run.
type progressObject struct {
	SimulatedS float64  `json:"simulated_s"`
	EndS       *float64 `json:"end_s"`
	Fraction   *float64 `json:"fraction"`
	Events     uint64   `json:"events"`
	PacketHops uint64   `json:"packet_hops"`
	EventsPerS float64  `json:"events_per_s"`
	WallS      float64  `json:"wall_s"`
	EtaS       *float64 `json:"eta_s"`
	Done       bool     `json:"done"`
}

func (g *runGauge) object(p progress, done bool) any {
	o := progressObject{SimulatedS: p.SimTime.Seconds(), Events: p.Events, PacketHops: p.Hops, EventsPerS: g.rate, WallS: p.Wall, Done: done}
	if f, ok := fraction(p); ok {
		end := p.End.Seconds()
		o.EndS, o.Fraction = &end, &f
		if left, ok := eta(p); ok {
			o.EtaS = &left
		}
	}
	return o
}

// line has simulated time, share, events per second, time left.
func (g *runGauge) line(p progress) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s simulated", metric.Format(p.SimTime.Seconds(), metric.Seconds))
	if f, ok := fraction(p); ok {
		fmt.Fprintf(&b, " of %s  %3.0f%%", metric.Format(p.End.Seconds(), metric.Seconds), 100*f)
	}
	if g.rate > 0 {
		fmt.Fprintf(&b, "  %s events/s", roughly(g.rate))
	}
	if left, ok := eta(p); ok {
		fmt.Fprintf(&b, "  %s left", wallClock(left))
	}
	return b.String()
}

// fraction returns the share of simulated time that has passed, false when the
// end is not known.
func fraction(p progress) (float64, bool) {
	if p.End <= 0 || p.End == sim.Never {
		return 0, false
	}
	return min(float64(p.SimTime)/float64(p.End), 1), true
}

// eta returns the seconds that are left at the pace so far.
func eta(p progress) (float64, bool) {
	f, ok := fraction(p)
	if !ok || f <= 0 || p.Wall <= 0 {
		return 0, false
	}
	return p.Wall * (1 - f) / f, true
}
