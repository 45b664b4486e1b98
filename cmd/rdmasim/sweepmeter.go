package main

import (
	"fmt"

	"rdmasim/reports/metric"
	"rdmasim/scenarios/sweep"
)

// sweepGauge reads the progress of a sweep.
type sweepGauge struct{}

func (a *app) newSweepMeter(f *sweepFlags) *meter[sweep.Progress] {
	return newMeter(a, f.json, f.quiet, gauge[sweep.Progress](sweepGauge{}))
}

func (sweepGauge) measure(sweep.Progress) {}

func (sweepGauge) line(p sweep.Progress) string {
	text := fmt.Sprintf("%d of %s  %3.0f%%", p.Done, metric.Counted(p.Total, "run"), 100*float64(p.Done)/float64(max(p.Total, 1)))
	if p.Invalid > 0 {
		text += fmt.Sprintf("  %d invalid", p.Invalid)
	}
	if p.Wall > 0 && p.Done > 0 {
		text += fmt.Sprintf("  %.3g runs/s", float64(p.Done)/p.Wall)
	}
	if p.ETA >= 0 {
		text += "  " + wallClock(p.ETA) + " left"
	}
	return text
}

// sweepObject is one line of --json-progress of a sweep.
type sweepObject struct {
	Runs    int      `json:"runs"`
	Of      int      `json:"of"`
	Invalid int      `json:"invalid"`
	WallS   float64  `json:"wall_s"`
	EtaS    *float64 `json:"eta_s"`
	Done    bool     `json:"done"`
}

func (sweepGauge) object(p sweep.Progress, done bool) any {
	o := sweepObject{Runs: p.Done, Of: p.Total, Invalid: p.Invalid, WallS: p.Wall, Done: done}
	if p.ETA >= 0 {
		o.EtaS = &p.ETA
	}
	return o
}
