package tune

import (
	"rdmasim/reports/tuning"
	"rdmasim/scenarios"
)

// SpecOf returns the scenario of one workload with the settings of a point.
func (t *Tuning) SpecOf(workload int, p *tuning.Point) (*scenarios.Spec, error) {
	return t.sources[workload].Spec(t.sets(workload, t.Settings(p.Values)))
}

// Today returns the scenario of the plan as it is today.
func (t *Tuning) Today() *scenarios.Spec { return t.spec }
