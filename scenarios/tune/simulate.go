package tune

import (
	"context"
	"math"
	"slices"

	"rdmasim/scenarios/sweep"
)

// evaluator returns what runs units on the simulator.
func (t *Tuning) evaluator(version string) Evaluator {
	o := sweep.Options{Version: version}
	for i := range t.Figures {
		o.Measures = append(o.Measures, t.Figures[i].expr.Text)
	}
	return func(ctx context.Context, u Unit) (Observation, error) {
		r, err := sweep.Evaluate(ctx, t.sources[u.Workload], t.sets(u.Workload, u.Settings), u.Seed, o)
		if err != nil {
			return Observation{}, err
		}
		if r.Status != sweep.OK {
			return Observation{Failed: r.Error}, nil
		}
		out := Observation{}
		for _, text := range o.Measures {
			v, ok := r.Value(text)
			if !ok {
				v = math.NaN()
			}
			out.Figures = append(out.Figures, v)
		}
		for _, text := range t.judge.expect {
			out.Held = append(out.Held, !slices.Contains(r.Failed, text))
		}
		out.Simulated, _ = r.Value("run.simulated_s")
		return out, nil
	}
}
