package validation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"

	"rdmasim/scenarios"
	"rdmasim/sim/stat"
)

// Options of a validation.
type Options struct {
	Level   Level
	Only    []string // ids; empty = all
	Seeds   int      // replicates of random quantities; 0 = by level
	Out     string   // where run directories stay; "" = they are removed
	Workers int      // runs at the same time; 0 = one per core
	Version string
	// Progress is told when a row has ended, by one goroutine at a time.
	Progress func(done *Result)

	slots chan struct{} // shared by the rows of a validation: one for each run at a time
}

// withSlots returns the options with as many slots as they allow workers.
func (o Options) withSlots() Options {
	n := o.Workers
	if n <= 0 {
		n = runtime.NumCPU()
	}
	o.slots = make(chan struct{}, n)
	return o
}

// Bench is what a row measures with.
type Bench struct {
	Level  Level
	ctx    context.Context
	id     string
	row    Row
	opt    Options
	dir    string
	result *Result

	mu   sync.Mutex
	runs int
}

// Seeds returns the seeds of replicates, at least two.
func (b *Bench) Seeds() []uint64 {
	n := b.opt.Seeds
	if n == 0 {
		n = [...]int{Short: 2, Quick: 3, Full: 5}[b.Level]
	}
	seeds := make([]uint64, max(n, 2))
	for i := range seeds {
		seeds[i] = uint64(i + 1)
	}
	return seeds
}

// Spec returns a scenario of this package with settings path=value applied.
func (b *Bench) Spec(file string, settings ...string) (*scenarios.Spec, error) {
	text, err := Scenario(file)
	if err != nil {
		return nil, err
	}
	return scenarios.ParseSet(file, text, settings)
}

// Run runs a scenario of this package. Whoever is done with the outcome
// discards it; the bench does so at the end of the row.
func (b *Bench) Run(file string, settings ...string) (*Outcome, error) {
	return b.run(nil, file, settings)
}

// Captured is Run with a capture of what a host sends and receives.
func (b *Bench) Captured(host, file string, settings ...string) (*Outcome, error) {
	return b.run(&scenarios.CaptureOptions{At: []string{"host:" + host}, SnapLen: 160}, file, settings)
}

func (b *Bench) run(capture *scenarios.CaptureOptions, file string, settings []string) (*Outcome, error) {
	spec, err := b.Spec(file, settings...)
	if err != nil {
		return nil, err
	}
	defer b.slot()()
	b.mu.Lock()
	b.runs++
	dir := filepath.Join(b.dir, b.id, fmt.Sprintf("%s-%d", spec.Name, b.runs))
	b.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return nil, err
	}
	res, err := scenarios.Run(b.ctx, spec, scenarios.Options{Out: dir, Workers: 1, Version: b.opt.Version, Capture: capture})
	if err != nil {
		return nil, fmt.Errorf("%s %v: %w", file, settings, err)
	}
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.result.Hops += res.PacketHops
	b.mu.Unlock()
	o, err := open(spec, res)
	if o != nil {
		o.keep = b.opt.Out != ""
	}
	return o, err
}

// Replicate runs a scenario once per seed and returns the interval of each
// quantity that measure takes from an outcome.
func (b *Bench) Replicate(file string, settings []string, measure func(*Outcome) ([]float64, error)) ([]stat.Interval, error) {
	seeds := b.Seeds()
	all := make([][]float64, len(seeds))
	err := each(len(seeds), func(i int) error {
		set := append(append([]string(nil), settings...), "seed="+strconv.FormatUint(seeds[i], 10))
		o, err := b.Run(file, set...)
		if err != nil {
			return err
		}
		defer o.Discard()
		all[i], err = measure(o)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]stat.Interval, len(all[0]))
	for k := range out {
		v := make([]float64, len(all))
		for i := range all {
			v[i] = all[i][k]
		}
		out[k] = stat.MeanInterval(v, Confidence)
	}
	return out, nil
}

// slot waits until one run more may be made, and returns what ends it.
func (b *Bench) slot() (done func()) {
	b.opt.slots <- struct{}{}
	return func() { <-b.opt.slots }
}

// each calls f for 0 to n-1 at the same time and returns the first error in
// their order.
func each(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { errs[i] = f(i) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// newBench returns the bench of one row.
func newBench(ctx context.Context, id string, r Row, dir string, o Options) *Bench {
	if o.slots == nil {
		o = o.withSlots()
	}
	return &Bench{Level: o.Level, ctx: ctx, id: id, row: r, opt: o, dir: dir,
		result: &Result{ID: id, Title: r.Title, Explain: r.Explain, Hard: r.Hard, Lacks: r.Lacks, Scenarios: r.Scenarios}}
}
