package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"rdmasim/reports/tuning"
	"rdmasim/scenarios/sweep"
)

// search is one tuning on its way.
type search struct {
	space  space
	store  *store
	judge  *judge
	seeds  []uint64 // of the search
	fresh  []uint64 // of the confirmation
	seed   uint64   // of the search's own draws
	limits limits
	clock  *clock

	confirm   Confirm
	named     []namedPoint // today first, then the baselines
	today     *entry
	baselines []*entry
	stages    []tuning.Stage
	stage     func(name string)
	exhausted bool // the search ended for want of budget

	final *final
}

// namedPoint is a setting that is known before the search.
type namedPoint struct {
	name string
	p    point
}

// limits are what may be spent.
type limits struct {
	runs int           // 0 = not yet known
	time time.Duration // 0 = no limit
}

// clock tells how long the search has taken, earlier sittings included.
type clock struct {
	start   time.Time
	earlier time.Duration
}

func (c *clock) elapsed() time.Duration {
	if c == nil {
		return 0
	}
	return c.earlier + time.Since(c.start)
}

// errOutOfTime ends the search before its confirmation.
var errOutOfTime = errors.New("the time is up")

// run goes through all stages. A context that ends leaves what was found.
func (s *search) run(ctx context.Context) error {
	if err := s.references(ctx); err != nil {
		return err
	}
	left := s.limits.runs - s.store.runs - s.confirmRuns()
	survivors, err := s.halving(ctx, left*45/100)
	if err == nil {
		err = s.evolve(ctx, survivors, s.limits.runs-s.confirmRuns())
	}
	if err != nil && !errors.Is(err, errOutOfTime) {
		return err
	}
	s.exhausted = s.exhausted || err != nil
	return s.confirmation(ctx)
}

// begin notes a stage; the function that it returns ends it.
func (s *search) begin(name string) func(points, seeds int) {
	before := s.store.runs
	if s.stage != nil {
		s.stage(name)
	}
	return func(points, seeds int) {
		s.stages = append(s.stages, tuning.Stage{Name: name, Points: points, Workloads: s.store.workloads, Seeds: seeds, Runs: s.store.runs - before})
	}
}

// references runs today's settings and the baselines, on all seeds.
func (s *search) references(ctx context.Context) error {
	end := s.begin("today and baselines")
	var all []*entry
	for i, n := range s.named {
		kind := tuning.KindBaseline
		if i == 0 {
			kind = tuning.KindToday
		}
		e := s.store.entry(n.p, kind, n.name)
		e.rung = s.fullRung()
		all = append(all, e)
		if i == 0 {
			s.today = e
		} else if !slices.Contains(s.baselines, e) {
			s.baselines = append(s.baselines, e)
		}
	}
	s.judge.today = s.today
	if err := s.store.need(ctx, all, s.seeds); err != nil {
		return err
	}
	if err := s.measurable(); err != nil {
		return &InputError{err}
	}
	s.judge.takeScales(all, s.seeds)
	s.judge.best = s.judge.bestBaseline(s.baselines, s.seeds)
	end(len(s.store.list), len(s.seeds))
	return s.fixRuns()
}

// measurable says what keeps today's settings from being judged: a workload that
// cannot be run, or a figure that none of its runs has.
func (s *search) measurable() error {
	for w, load := range s.judge.workloads {
		for f := range s.judge.figures {
			have, failed := 0, ""
			for _, seed := range s.seeds {
				o := s.today.obs[cell{w, seed}]
				if failed = o.Failed; failed == "" && !math.IsNaN(o.Figures[f]) {
					have++
				}
			}
			switch {
			case failed != "":
				return fmt.Errorf("workload %s cannot be run with today's settings: %s", load.Name, failed)
			case have == 0:
				return fmt.Errorf("figure %s has no value in any run of workload %s with today's settings", s.judge.figures[f].Name, load.Name)
			}
		}
	}
	return nil
}

// fixRuns turns a budget of time into one of runs, at the pace so far.
func (s *search) fixRuns() error {
	if s.limits.runs > 0 {
		return nil
	}
	pace := s.clock.elapsed() / time.Duration(max(s.store.fresh, 1))
	s.limits.runs = s.store.runs
	if pace > 0 {
		s.limits.runs = int(s.limits.time / pace)
	}
	if need := s.store.runs + s.confirmRuns(); s.limits.runs < need {
		return fmt.Errorf("%v are too short: at %v a run, today, the baselines and the confirmation take %v", s.limits.time, pace.Round(time.Millisecond), (pace * time.Duration(need)).Round(time.Second))
	}
	return nil
}

// late reports whether what is left of the time is needed for the confirmation.
func (s *search) late() bool {
	if s.limits.time == 0 || s.store.fresh == 0 {
		return false
	}
	pace := s.clock.elapsed() / time.Duration(max(s.store.fresh, 1))
	return s.clock.elapsed()+pace*time.Duration(s.confirmRuns()) > s.limits.time
}

// rungs are the numbers of seeds of the rungs of successive halving.
func (s *search) rungs() []int {
	var list []int
	for n := 1; n < len(s.seeds); n *= 2 {
		list = append(list, n)
	}
	return append(list, len(s.seeds))
}

// fullRung is the rung of points that were run on all seeds; the one above it
// is that of the confirmation.
func (s *search) fullRung() int { return len(s.rungs()) - 1 }

// halving runs a Latin hypercube on one seed, the better half of it on two, and
// so on up to all of them. It returns the points that got there, the best first.
// Source: Jamieson and Talwalkar, 2016.
func (s *search) halving(ctx context.Context, runs int) ([]*entry, error) {
	rungs := s.rungs()
	perPoint, before := 0.0, 0
	for r, n := range rungs {
		perPoint += float64(n-before) * math.Exp2(-float64(r))
		before = n
	}
	n := int(float64(runs) / (perPoint * float64(s.store.workloads)))
	var alive []*entry
	for _, u := range sweep.LatinHypercube(max(n, 1), len(s.space), s.seed) {
		if e := s.store.entry(s.space.at(u), tuning.KindSearch, ""); !slices.Contains(alive, e) {
			alive = append(alive, e)
		}
	}
	for r, n := range rungs {
		if s.late() {
			return s.complete(alive), errOutOfTime
		}
		end := s.begin(fmt.Sprintf("Latin hypercube, rung %d of %d", r+1, len(rungs)))
		if err := s.store.need(ctx, alive, s.seeds[:n]); err != nil {
			return nil, err
		}
		for _, e := range alive {
			e.rung = max(e.rung, r)
		}
		end(len(alive), n)
		alive = s.better(alive, s.seeds[:n])
		if r < len(rungs)-1 {
			alive = alive[:(len(alive)+1)/2]
		}
	}
	return alive, nil
}

// better sorts points by how they do on seeds, beside today and the baselines.
func (s *search) better(points []*entry, seeds []uint64) []*entry {
	set := append([]*entry{s.today}, s.baselines...)
	for _, e := range points {
		if !slices.Contains(set, e) {
			set = append(set, e)
		}
	}
	list := s.judge.assess(set, seeds)
	s.judge.order(list)
	out := make([]*entry, 0, len(points))
	for _, v := range list {
		if slices.Contains(points, v.e) {
			out = append(out, v.e)
		}
	}
	return out
}

// complete returns the entries that were run on all seeds.
func (s *search) complete(list []*entry) (out []*entry) {
	for _, e := range list {
		if e.has(s.seeds, s.store.workloads) {
			out = append(out, e)
		}
	}
	return out
}

// Settings of the evolution.
const (
	deviation    = 0.2 // of the first generation, in shares of the ranges
	stale        = 3   // generations without a new point end it
	mostRestarts = 8
)

// population is the size of a generation, 4 + 3 ln n. Source: Hansen, "The CMA
// evolution strategy: a tutorial", 2016.
func population(dim int) int { return max(4+int(3*math.Log(float64(dim))), 6) }

// evolve runs CMA-ES from the best survivor, and from the next ones when it has
// converged, until so many runs are done in all.
func (s *search) evolve(ctx context.Context, survivors []*entry, until int) error {
	if len(s.space) == 0 || len(survivors) == 0 {
		return nil
	}
	end := s.begin("CMA-ES")
	before := len(s.store.list)
	defer func() { end(len(s.store.list)-before, len(s.seeds)) }()
	for k := range min(len(survivors), mostRestarts) {
		again, err := s.evolution(ctx, survivors[k], k, until)
		if err != nil || !again {
			return err
		}
	}
	return nil
}

// evolution runs CMA-ES once. It reports whether there is budget left.
func (s *search) evolution(ctx context.Context, start *entry, nth, until int) (bool, error) {
	e := newEvolution(s.space.place(start.p), deviation, population(len(s.space)), s.seed+uint64(nth))
	defer e.stop()
	for idle := 0; idle < stale; {
		places := e.ask()
		if places == nil {
			return true, nil
		}
		var generation []*entry
		for _, u := range places {
			x := s.store.entry(s.space.at(u), tuning.KindSearch, "")
			generation = append(generation, x)
		}
		due := len(s.store.missing(generation, s.seeds))
		if s.store.runs+due > until {
			s.exhausted = true
			return false, nil
		}
		if s.late() {
			return false, errOutOfTime
		}
		if idle++; due > 0 {
			idle = 0
		}
		if err := s.store.need(ctx, generation, s.seeds); err != nil {
			return false, err
		}
		e.tell(s.numbers(generation))
	}
	return true, nil
}

// numbers judges a generation beside everything that was run on all seeds.
func (s *search) numbers(generation []*entry) []float64 {
	for _, x := range generation {
		x.rung = max(x.rung, s.fullRung())
	}
	list := s.judge.assess(s.complete(s.store.list), s.seeds)
	if s.judge.pareto {
		s.judge.order(list)
	}
	out := make([]float64, len(generation))
	for i, x := range generation {
		k := slices.IndexFunc(list, func(v verdict) bool { return v.e == x })
		if out[i] = list[k].number(); s.judge.pareto {
			out[i] = float64(k)
		}
	}
	return out
}
