package reference

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rdmasim/reports/metric"
	"rdmasim/scenarios"
	"rdmasim/scenarios/hpcc"
	"rdmasim/sim/trace"
)

// Options say how cases are run.
type Options struct {
	Compat string // scenarios.CompatHPCC, or scenarios.CompatNone for the true model
	Seeds  int    // runs of a case that draws random numbers, with seeds 1 to Seeds
	Jobs   int    // runs at a time
	// Done is called after every run, one call at a time.
	Done func(c *Case, o *Outcome)
}

// Outcome is one run of a case.
type Outcome struct {
	Seed uint64
	Rows []hpcc.FCT
	hpcc.Summary
	Pauses, Marks, DropLossless, DropOther int64
	MaxQueue                               float64 // bytes, of the longest queue towards a host
	PacketHops                             int64
}

// Random reports whether random numbers decided anything: marking between Kmin
// and Kmax, and losses on links, draw them.
func (o *Outcome) Random() bool { return o.Marks > 0 || o.DropOther > 0 }

// Run runs a case with seed 1 and, where that run drew random numbers, with the
// other seeds as well.
func (c *Case) Run(ctx context.Context, o Options) ([]*Outcome, error) {
	var lock sync.Mutex
	one := func(seed uint64) (*Outcome, error) {
		out, err := c.once(ctx, o.Compat, seed)
		if err != nil {
			return nil, fmt.Errorf("%s, seed %d: %w", c.Name, seed, err)
		}
		if o.Done != nil {
			lock.Lock()
			defer lock.Unlock()
			o.Done(c, out)
		}
		return out, nil
	}
	first, err := one(1)
	if err != nil {
		return nil, err
	}
	if !first.Random() || o.Seeds <= 1 {
		return []*Outcome{first}, nil
	}
	all, fail := make([]*Outcome, o.Seeds), make([]error, o.Seeds)
	all[0] = first
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(o.Jobs, 1))
	for i := 1; i < o.Seeds; i++ {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wg.Done() }()
			all[i], fail[i] = one(uint64(i + 1))
		}()
	}
	wg.Wait()
	return all, errors.Join(fail...)
}

// errPartial is the error of a run that was interrupted.
var errPartial = errors.New("interrupted")

// once runs the case in a run directory that is removed again.
func (c *Case) once(ctx context.Context, compat string, seed uint64) (*Outcome, error) {
	spec, err := scenarios.Load(c.Config, []string{"compat=" + compat, fmt.Sprintf("seed=%d", seed), "series.interval=0s"})
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "rdmasim-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	res, err := scenarios.Run(ctx, spec, scenarios.Options{Out: filepath.Join(tmp, "run"), Workers: 1})
	if err != nil {
		return nil, err
	}
	if res.Partial {
		return nil, errPartial
	}
	run, err := trace.Open(res.Dir)
	if err != nil {
		return nil, err
	}
	m, err := metric.Compute(run)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(res.Dir, "fct.txt"))
	if err != nil {
		return nil, err
	}
	rows, err := hpcc.ParseFCT("fct.txt", text)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Seed: seed, Rows: rows, Summary: hpcc.Summarise(rows), Pauses: whole(m.PFC.Xoff), Marks: whole(m.ECN.Marked),
		DropLossless: whole(m.Packets.Dropped.Lossless), DropOther: whole(m.Packets.Dropped.Lossy) + whole(m.Packets.Dropped.Fault), PacketHops: whole(m.Run.PacketHops)}
	out.MaxQueue, err = longestLastQueue(run)
	return out, err
}

// longestLastQueue returns the longest that a queue of a switch towards a host
// has been, which is what the other simulators report.
func longestLastQueue(run *trace.Run) (float64, error) {
	last := map[string]bool{}
	nodes := run.Topology.Nodes
	for _, l := range run.Topology.Links {
		if nodes[l.B].Kind == "host" {
			last[fmt.Sprintf("%s:%d", nodes[l.A].Name, l.APort)] = true
		}
		if nodes[l.A].Kind == "host" {
			last[fmt.Sprintf("%s:%d", nodes[l.B].Name, l.BPort)] = true
		}
	}
	counters, err := run.Counters()
	if err != nil {
		return 0, err
	}
	longest := 0.0
	for _, c := range counters {
		if port, _, _ := strings.Cut(c.Object, "/"); c.Name == trace.CountQueueMax && last[port] {
			longest = max(longest, c.Value)
		}
	}
	return longest, nil
}

// whole returns a count that a simulated run always has.
func whole(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

// Spread is a figure over the seeds.
type Spread struct{ Median, Min, Max float64 }

// over collects a figure of every run.
func over(runs []*Outcome, figure func(*Outcome) float64) Spread {
	var v []float64
	for _, r := range runs {
		v = append(v, figure(r))
	}
	slices.Sort(v)
	n := len(v)
	return Spread{(v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]}
}
