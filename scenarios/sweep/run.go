package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
)

// Run runs the units of a plan, or of one shard of it, into a directory.
type Run struct {
	Plan          *Plan
	Source        *Source
	Out           string
	Shard, Shards int // from 1; 0 of 0 is all
	Jobs          int // at a time; 0 = one per core
	Resume        bool
	Timeout       time.Duration // of a unit; 0 = none
	Version       string        // of the program
	Progress      func(Progress)
}

// Summary is what a Run says when it has ended.
type Summary struct {
	Done, Before, Invalid, Partial int
	Total                          int     // units of this shard
	Missing                        int     // of the whole plan, in the directory, after it
	Wall                           float64 // seconds
	Busy, Simulation               float64 // seconds of all runs, and of their engines
	Jobs                           int
	Results                        string // file, if every unit of the plan is there
}

// Overhead is the share of the time of the cores in which no run went on.
func (s *Summary) Overhead() float64 {
	if s.Wall <= 0 || s.Jobs == 0 {
		return 0
	}
	return max(1-s.Busy/(s.Wall*float64(s.Jobs)), 0)
}

// syncEvery is how much of a log a machine that loses its power may lose; a
// program that is killed loses nothing.
const syncEvery = 2 * time.Second

// Check says what is wrong before anything is written: with the plan, which may
// have parameters that the scenario does not know, or no valid point; or with the
// directory.
func (r *Run) Check() error {
	if r.Shards == 0 {
		r.Shard, r.Shards = 1, 1
	}
	if err := r.Plan.Try(r.Source); err != nil {
		return err
	}
	id := r.Plan.ID(r.Source)
	if err := checkDir(r.Out, id); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	mine, have, err := r.state(id)
	if err != nil || r.Resume {
		return err
	}
	if left := r.left(mine, have); len(left) < len(mine) {
		return fmt.Errorf("--out: %s has %d of %d results already: give --resume to go on, or the name of a new directory", r.Out, len(mine)-len(left), len(mine))
	}
	return nil
}

// state returns the units of the shard and what the directory has of all.
func (r *Run) state(id string) (mine []Unit, have *collection, err error) {
	units := r.Plan.Units()
	have = &collection{records: make([]*Record, len(units))}
	if _, err := os.Stat(r.Out); err == nil {
		if have, err = collect([]string{r.Out}, id, len(units), header{Version: r.Version, Metrics: r.Plan.names()}); err != nil {
			return nil, nil, err
		}
	}
	return Shard(units, r.Shard, r.Shards), have, nil
}

// left returns the units that are to be run; one that was cut short is run again.
func (r *Run) left(mine []Unit, have *collection) []Unit {
	return slices.DeleteFunc(slices.Clone(mine), func(u Unit) bool {
		rec := have.records[u.Index]
		return rec != nil && rec.Status != Partial
	})
}

// Do runs what Check has found good. An interrupt is the error of the context;
// what was run until then is kept.
func (r *Run) Do(ctx context.Context) (*Summary, error) {
	start := time.Now()
	id := r.Plan.ID(r.Source)
	mine, have, err := r.state(id)
	if err != nil {
		return nil, err
	}
	todo := r.left(mine, have)
	s := &Summary{Before: len(mine) - len(todo), Total: len(mine), Jobs: r.jobs(len(todo))}
	points := r.Plan.Points()
	dir, err := makeDir(r.Out, About{Schema: format, ID: id, Version: r.Version, Plan: r.Plan.File, Scenario: r.Plan.Scenario, Points: len(points),
		Units: len(have.records)}, r.Plan.text, r.Source.Text)
	if err != nil {
		return nil, err
	}
	if dir.About.ID != id {
		return nil, fmt.Errorf("%s: another sweep was begun there meanwhile", r.Out)
	}
	if len(todo) > 0 {
		err = r.units(ctx, id, points, todo, s, start)
	}
	s.Wall = time.Since(start).Seconds()
	if err != nil {
		return s, err
	}
	m, err := Merge([]string{r.Out})
	if err != nil {
		return s, err
	}
	if s.Missing = len(m.Missing); s.Missing == 0 {
		s.Results, err = m.Write(r.Out)
	}
	return s, err
}

func (r *Run) jobs(todo int) int {
	n := r.Jobs
	if n <= 0 {
		n = runtime.NumCPU()
	}
	return max(min(n, todo), 1)
}

// units runs and logs them.
func (r *Run) units(ctx context.Context, id string, points []Point, todo []Unit, s *Summary, start time.Time) (err error) {
	names := r.Plan.names()
	log, err := createLog(r.Out, r.Shard, r.Shards, header{Format: format, ID: id, Version: r.Version, Metrics: names})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Sync(), log.Close()) }()
	jobs := make([]Job, len(todo))
	for i, u := range todo {
		jobs[i] = Job{Source: r.Source, Sets: points[u.Point].Sets, Seed: u.Seed}
	}
	meter := r.newReporter(s, len(todo))
	defer meter.stop()
	synced := start
	o := Options{Timeout: r.Timeout, Metrics: r.Plan.Metrics, Version: r.Version}
	return EvaluateAll(ctx, jobs, s.Jobs, o, func(i int, res Result) error {
		rec := newRecord(todo[i].Index, &res, names)
		rec.Error = r.Source.plainError(rec.Error)
		line, err := encodeLine(rec)
		if err != nil {
			return err
		}
		if _, err := log.Write(line); err != nil {
			return err
		}
		meter.count(&res)
		if now := time.Now(); now.Sub(synced) >= syncEvery {
			synced = now
			return log.Sync()
		}
		return nil
	})
}
