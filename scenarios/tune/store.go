package tune

import (
	"context"
	"errors"
	"math"
	"sync"
)

// Unit is one run that the search asks for.
type Unit struct {
	Settings []string // path=value, those of the workload excluded
	Workload int      // of Plan.Workloads
	Seed     uint64
}

// Observation is what one run was measured by.
type Observation struct {
	Figures   []float64 // in the order of Plan.Figures; NaN = not measured
	Held      []bool    // in the order of the expectations among Plan.Constraints
	Failed    string    // why the run has no figures; it is part of the result
	Simulated float64   // seconds
}

// Evaluator runs a unit. An error ends the search; a setting that cannot be run
// is an observation that failed.
type Evaluator func(ctx context.Context, u Unit) (Observation, error)

// cell names a run of a point.
type cell struct {
	workload int
	seed     uint64
}

// entry is a point that the search has met.
type entry struct {
	id   int
	p    point
	key  string
	kind string // of tuning.Point
	name string
	rung int // the highest stage that it reached
	obs  map[cell]Observation
}

// has reports whether all workloads were run on all seeds.
func (e *entry) has(seeds []uint64, workloads int) bool {
	for _, s := range seeds {
		for w := range workloads {
			if _, ok := e.obs[cell{w, s}]; !ok {
				return false
			}
		}
	}
	return true
}

// mean returns the mean of a figure over seeds; ok is false where a run has none.
func (e *entry) mean(figure, workload int, seeds []uint64) (float64, bool) {
	sum := 0.0
	for _, s := range seeds {
		o, ok := e.obs[cell{workload, s}]
		if !ok || o.Failed != "" || math.IsNaN(o.Figures[figure]) {
			return math.NaN(), false
		}
		sum += o.Figures[figure]
	}
	return sum / float64(len(seeds)), len(seeds) > 0
}

// store holds all points and runs what is missing of them.
type store struct {
	space     space
	workloads int
	evaluate  Evaluator
	jobs      int
	log       *runLog // nil: nothing is kept
	list      []*entry
	byKey     map[string]*entry
	runs      int // done in this search, those taken from the log included
	fresh     int // of them, those that were run just now
	simulated float64
	onRun     func() // after every run
}

// entry returns the entry of a point, made when it is new.
func (s *store) entry(p point, kind, name string) *entry {
	key := s.space.key(p)
	if e := s.byKey[key]; e != nil {
		return e
	}
	e := &entry{id: len(s.list), p: p, key: key, kind: kind, name: name, obs: map[cell]Observation{}}
	s.list, s.byKey[key] = append(s.list, e), e
	return e
}

// task is a run that is due.
type task struct {
	e *entry
	c cell
}

// missing lists the runs that entries lack, in the order in which they are kept.
func (s *store) missing(entries []*entry, seeds []uint64) (list []task) {
	seen := map[*entry]bool{}
	for _, e := range entries {
		if seen[e] {
			continue
		}
		seen[e] = true
		for _, seed := range seeds {
			for w := range s.workloads {
				c := cell{w, seed}
				if _, ok := e.obs[c]; !ok {
					list = append(list, task{e: e, c: c})
				}
			}
		}
	}
	return list
}

// need runs what entries lack on seeds. It returns early with the cause when
// the context ends; what was run until then is kept.
func (s *store) need(ctx context.Context, entries []*entry, seeds []uint64) error {
	return s.do(ctx, s.missing(entries, seeds))
}

// do runs tasks on all jobs. Results are kept in the order of the tasks, so
// that neither jobs nor their speed can be seen in what is left.
func (s *store) do(ctx context.Context, tasks []task) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	next, done := make(chan int), make(chan outcome)
	var wg sync.WaitGroup
	for range min(s.jobs, max(len(tasks), 1)) {
		wg.Go(func() {
			for i := range next {
				t := &tasks[i]
				o, known := s.log.lookup(t.e.key, t.c)
				var err error
				if !known {
					o, err = s.evaluate(ctx, Unit{Settings: s.space.settings(t.e.p), Workload: t.c.workload, Seed: t.c.seed})
				}
				done <- outcome{i, o, known, err}
			}
		})
	}
	go func() {
		defer close(next)
		for i := range tasks {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() { wg.Wait(); close(done) }()
	err := s.collect(tasks, done, stop)
	if err == nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	return err
}

// outcome is a task that has been run.
type outcome struct {
	i     int
	o     Observation
	known bool
	err   error
}

// collect keeps results in the order of the tasks.
func (s *store) collect(tasks []task, done <-chan outcome, stop func()) error {
	wait, at := map[int]outcome{}, 0
	var failed error
	for r := range done {
		if r.err != nil {
			if failed == nil || errors.Is(failed, context.Canceled) {
				failed = r.err
			}
			stop()
			continue
		}
		wait[r.i] = r
		for {
			r, ok := wait[at]
			if !ok {
				break
			}
			delete(wait, at)
			if err := s.keep(&tasks[at], r); err != nil && failed == nil {
				failed = err
				stop()
			}
			at++
		}
	}
	return failed
}

// keep books a run, and writes it down unless it is from there.
func (s *store) keep(t *task, r outcome) error {
	if !r.known {
		if err := s.log.append(t.e.key, t.c, r.o); err != nil {
			return err
		}
		s.fresh++
	}
	t.e.obs[t.c] = r.o
	s.runs++
	s.simulated += r.o.Simulated
	if s.onRun != nil {
		s.onRun()
	}
	return nil
}
