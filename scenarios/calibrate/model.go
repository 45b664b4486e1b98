package calibrate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// twin is the scenario of a run, to be simulated with other values: without
// its faults and expectations, and with one rule for all links at its end.
type twin struct {
	file    string
	links   []scenarios.LinkRule
	runs    int
	version string
}

// newTwin reads a scenario, by default that of the run, and simulates it as it is; rate
// and delay are those that most links of it have.
func newTwin(ctx context.Context, run *trace.Run, scenario, version string) (*twin, error) {
	t := &twin{file: run.Path(trace.FileScenario), version: version}
	if scenario != "" {
		t.file = scenario
	}
	s, err := t.load()
	if err != nil {
		return nil, &scenarios.InputError{Err: err}
	}
	t.links = s.Links
	rule := scenarios.LinkRule{A: "*", B: "*"}
	err = t.run(ctx, s, func(r *trace.Run) error {
		rule.Rate, rule.Delay, err = common(r)
		return err
	})
	t.links = append(t.links, rule)
	return t, err
}

// common returns the rate and the delay of the most links of a run.
func common(run *trace.Run) (sim.Rate, sim.Duration, error) {
	type kind struct{ rate, delay int64 }
	count := map[kind]int{}
	best := kind{}
	for _, l := range run.Topology.Links {
		k := kind{l.RateAB, int64(seconds(l.DelayABs))}
		count[k]++
		if count[k] > count[best] || count[k] == count[best] && k.rate > best.rate {
			best = k
		}
	}
	if best.rate <= 0 {
		return 0, 0, fmt.Errorf("the scenario has no link with a rate: there is nothing to fit")
	}
	return sim.Rate(best.rate), sim.Duration(best.delay), nil
}

func (t *twin) load() (*scenarios.Spec, error) {
	s, err := scenarios.Load(t.file, nil)
	if err != nil {
		return nil, err
	}
	s.Faults, s.Expect, s.Without, s.Diagnosis = nil, nil, nil, false
	s.Series.Interval = 0
	return s, nil
}

// with returns the scenario with values.
func (t *twin) with(params []*Param, x []float64) (*scenarios.Spec, error) {
	s, err := t.load()
	if err != nil {
		return nil, err
	}
	s.Links = append([]scenarios.LinkRule(nil), t.links...)
	for i, p := range params {
		p.set(s, x[i])
	}
	return s, nil
}

// run simulates a scenario into a directory that is gone afterwards.
func (t *twin) run(ctx context.Context, s *scenarios.Spec, read func(*trace.Run) error) error {
	dir, err := os.MkdirTemp("", "rdmasim-calibrate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out := filepath.Join(dir, "run")
	res, err := scenarios.Run(ctx, s, scenarios.Options{Out: out, Version: t.version})
	if err != nil {
		return err
	}
	if res.Partial {
		return context.Canceled
	}
	t.runs++
	run, err := trace.Open(out)
	if err != nil {
		return err
	}
	return read(run)
}

// simulate runs the scenario with values and returns the figures of the same
// groups and kinds as those measured.
func (t *twin) simulate(ctx context.Context, params []*Param, x []float64, want []Observation) ([]float64, error) {
	s, err := t.with(params, x)
	if err != nil {
		return nil, err
	}
	got := make([]float64, len(want))
	err = t.run(ctx, s, func(run *trace.Run) error {
		m, err := groups(run)
		if err != nil {
			return err
		}
		for i, o := range want {
			if o.Kind == CNPs {
				if got[i], _, _, err = cnps(run); err != nil {
					return err
				}
				got[i] = max(got[i], 1e-9) // none: a factor beyond all bounds
				continue
			}
			list := m[o.Group]
			if len(list) < least {
				return fmt.Errorf("%v: %d messages were measured, and %d completed in the simulation of the same scenario", o.Group, o.Messages, len(list))
			}
			got[i] = value(list, o.Kind)
		}
		return nil
	})
	return got, err
}
