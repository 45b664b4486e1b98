package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"rdmasim/fabric/switchconf"
	"rdmasim/reports/credibility"
	"rdmasim/reports/tuning"
	"rdmasim/scenarios"
	"rdmasim/scenarios/closedform"
	"rdmasim/scenarios/tune"
	"rdmasim/sim/trace"
)

// tuneFinish draws the report of a search and prints its answer. Counters that
// refute the model take the recommendation away, in tune.json too.
func (a *app) tuneFinish(t *tune.Tuning, r *tuning.Result, file, dir string, today *credibility.Today, f *tuneFlags) error {
	if r.Partial {
		today = nil // there is no run of today's settings yet
	}
	page, gate, err := a.tuneReport(t, r, dir, today, credibility.Options{Node: f.counter.node, Ports: f.pairs})
	if err != nil {
		return runError(fmt.Errorf("the search is complete in %s, but its report could not be made: %w", dir, err))
	}
	refuted := gate != nil && !gate.Credible
	if refuted {
		r.Winner, r.NoWinner = nil, "today's counters do not agree with the simulated today: what is best in the model says nothing of the network"
		if err := r.Write(dir); err != nil {
			return runError(err)
		}
		fmt.Fprintf(a.stdout, "%s: %d runs, %d points\n\nanswer       none: %s\n", r.Name, r.Budget.RunsDone, len(r.Points), r.NoWinner)
	} else if err := a.tuneAnswer(t, r, file, dir); err != nil {
		return runError(err)
	}
	if gate != nil {
		fmt.Fprintln(a.stdout)
		if err := writeCredibility(a.stdout, gate); err != nil {
			return runError(err)
		}
	}
	fmt.Fprintf(a.stdout, "report       %s\n", page)
	switch {
	case r.Partial:
		return &exitError{code: exitRun}
	case refuted:
		return &exitError{code: exitExpect}
	}
	return nil
}

// tuneReport completes the directory of a search with what its page shows
// beside the result: closed forms, today's counters, configurations and their
// rollback. It returns the path of the page, and the comparison with today's
// counters; nil without them.
func (a *app) tuneReport(t *tune.Tuning, r *tuning.Result, dir string, today *credibility.Today, o credibility.Options) (page string, gate *tuning.Credibility, err error) {
	if gate, err = tuneGate(dir, today, o); err != nil {
		return "", nil, err
	}
	refuted := gate != nil && !gate.Credible
	if err := tuneEstimate(t, r, dir, refuted); err != nil {
		return "", nil, err
	}
	if err := tuneExports(t, r, filepath.Join(dir, tuning.DirExport), refuted); err != nil {
		return "", nil, err
	}
	page, err = a.page(dir)
	return page, gate, err
}

// tuneEstimate writes estimate.json: the closed forms of the recommended settings
// (without a recommendation, today's) under the workload with the largest first
// burst, and the stability of both settings.
func tuneEstimate(t *tune.Tuning, r *tuning.Result, dir string, refuted bool) error {
	about, words := r.Point(r.Today), "Today's"
	if r.Winner != nil && !refuted {
		about, words = r.Point(*r.Winner), "The recommended"
	}
	var best *tuning.Estimates
	load, burst := 0, -1.0
	for w := range r.Workloads {
		spec, err := t.SpecOf(w, about)
		if err != nil {
			return err
		}
		e, err := closedform.Estimate(spec)
		if err != nil {
			return err
		}
		size := 0.0
		if x := e.Item(tuning.KeyFirstBurst); x != nil && x.Valid {
			size = *x.Value
		}
		if size > burst {
			best, load, burst = e, w, size
		}
	}
	if best == nil || len(best.Items) == 0 {
		return nil
	}
	best.Notes = append(best.Notes, fmt.Sprintf("%s settings under the workload %s, which has the largest first burst.", words, r.Workloads[load].Name))
	best.Margins = nil
	for _, x := range []struct {
		setting string
		p       *tuning.Point
	}{{tuning.SettingToday, r.Point(r.Today)}, {tuning.SettingRecommended, r.Best()}} {
		if x.p == nil {
			continue
		}
		spec, err := t.SpecOf(load, x.p)
		if err != nil {
			return err
		}
		b, err := scenarios.FindBottleneck(spec)
		if err != nil {
			return err
		}
		best.Margins = append(best.Margins, closedform.Margins(spec, b, x.setting)...)
	}
	return best.Write(dir)
}

// tuneGate compares today's counters, if there are any, with the run of today's
// settings.
func tuneGate(dir string, today *credibility.Today, o credibility.Options) (*tuning.Credibility, error) {
	file := filepath.Join(dir, tuning.FileCredibility)
	if today == nil {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		return nil, nil
	}
	run := filepath.Join(dir, tuning.DirRuns, tuning.RunToday)
	if _, err := os.Stat(filepath.Join(run, trace.FileManifest)); err != nil {
		return nil, fmt.Errorf("--today-counters: the search left no run of today's settings to compare with in %s", run)
	}
	c, err := credibility.Compare(today, run, o)
	if err != nil {
		return nil, err
	}
	return c, c.Write(dir)
}

// tuneExports writes what to configure, and the way back, in the words of every
// vendor. Of a search without a winner nothing is left there.
func tuneExports(t *tune.Tuning, r *tuning.Result, dir string, refuted bool) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if r.Winner == nil || refuted {
		return nil
	}
	now, err := t.SpecOf(0, r.Point(r.Today))
	if err != nil {
		return err
	}
	then, err := t.SpecOf(0, r.Point(*r.Winner))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, format := range switchconf.Renderers.Names() {
		for suffix, spec := range map[string]*scenarios.Spec{"": then, "-rollback": now} {
			text := ""
			if x, err := scenarios.Export(spec, format, "", ""); err != nil {
				text = fmt.Sprintf("Not possible in this format: %v\n", err)
			} else {
				text = x.Text()
			}
			if err := os.WriteFile(filepath.Join(dir, format+suffix+".txt"), []byte(text), 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}
