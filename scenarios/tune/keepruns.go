package tune

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"rdmasim/reports/metric"
	"rdmasim/reports/tuning"
	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// keepRuns leaves run directories with time series of the lead, of today and of
// the worst point, all on one seed of the workload that today regrets most.
func (t *Tuning) keepRuns(ctx context.Context, s *search, o Options) error {
	every, err := sim.ParseDuration(t.Series)
	if err != nil || every == 0 || s.final == nil {
		return err
	}
	list := s.judge.assess(s.complete(s.store.list), s.seeds)
	s.judge.order(list)
	worst, w := list[len(list)-1].e, 0
	for _, v := range list {
		if v.e == s.today {
			for k := range v.regret {
				if v.regret[k] > v.regret[w] {
					w = k
				}
			}
		}
	}
	for _, x := range []struct {
		name string
		e    *entry
	}{{tuning.RunBest, s.final.lead}, {tuning.RunToday, s.today}, {tuning.RunWorst, worst}} {
		dir := filepath.Join(o.Out, tuning.DirRuns, x.name)
		if x.e == nil {
			continue
		}
		if err := os.RemoveAll(dir); err != nil { // of an earlier sitting
			return err
		}
		settings := append(s.space.settings(x.e.p), "series.interval="+t.Series, "seed="+strconv.FormatUint(s.fresh[0], 10))
		spec, err := t.sources[w].Spec(t.sets(w, settings))
		if err == nil {
			err = keepRun(ctx, spec, dir, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepRun leaves one run directory with its metrics.
func keepRun(ctx context.Context, spec *scenarios.Spec, dir string, o Options) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	if _, err := scenarios.Run(ctx, spec, scenarios.Options{Out: dir, Workers: o.Jobs, Version: o.Version}); err != nil {
		return err
	}
	run, err := trace.Open(dir)
	if err != nil {
		return err
	}
	m, err := metric.Compute(run)
	if err != nil {
		return err
	}
	_, err = m.Check(spec.Expect)
	return errors.Join(err, m.Write(dir))
}
