package main

import (
	"fmt"

	"rdmasim/scenarios/tune"
)

// tuneGauge reads the progress of a search.
type tuneGauge struct{}

func (a *app) newTuneMeter(f *tuneFlags) *meter[tune.Progress] {
	return newMeter(a, f.jsonProgress, f.quiet, gauge[tune.Progress](tuneGauge{}))
}

func (tuneGauge) measure(tune.Progress) {}

func (tuneGauge) line(p tune.Progress) string {
	left, known := p.Left()
	if !known {
		return fmt.Sprintf("%s: %d runs", p.Stage, p.Runs)
	}
	return fmt.Sprintf("%s: %d of at most %d runs  %s left", p.Stage, p.Runs, p.Of, wallClock(left.Seconds()))
}

// tuneObject is one line of --json-progress of a search.
type tuneObject struct {
	Stage string   `json:"stage"`
	Runs  int      `json:"runs"`
	Of    int      `json:"of"`
	WallS float64  `json:"wall_s"`
	EtaS  *float64 `json:"eta_s"`
	Done  bool     `json:"done"`
}

func (tuneGauge) object(p tune.Progress, done bool) any {
	o := tuneObject{Stage: p.Stage, Runs: p.Runs, Of: p.Of, WallS: p.Elapsed.Seconds(), Done: done}
	if left, known := p.Left(); known {
		s := left.Seconds()
		o.EtaS = &s
	}
	return o
}
