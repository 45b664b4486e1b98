package tune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"rdmasim/reports/tuning"
	"rdmasim/sim/trace"
)

// Names in the directory of a search, beside tuning.FileResult, FileRuns and FileTable.
const (
	FilePlan  = "plan.yaml"  // with every default spelt out
	FileState = "state.json" // how long it has taken: what may differ from search to search
)

// Options of Run.
type Options struct {
	Out      string // directory; one that a search of the same plan has begun is continued
	Jobs     int    // runs at a time, 0 = one per core
	Budget   string // instead of the plan's
	Seed     *uint64
	Version  string
	Command  string // that repeats the search
	Progress func(Progress)
}

// Progress is how far a search is.
type Progress struct {
	Stage    string
	Runs, Of int // Of is 0 while it is not known
	Fresh    int // of Runs: not from an earlier sitting
	Elapsed  time.Duration
}

// state is FileState.
type state struct {
	Elapsed float64 `json:"elapsed_s"`
	Runs    int     `json:"budget_runs,omitempty"` // what a budget of time comes to
}

// InputError is an error in what the user gave: nothing was run.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *InputError) Unwrap() error { return e.Err }

// Run searches and leaves its directory. When the context ends, the result is
// partial, and a later Run with the same directory goes on from there.
func (t *Tuning) Run(ctx context.Context, o Options) (*tuning.Result, error) {
	s, dir, err := t.begin(&o)
	if err != nil {
		return nil, &InputError{err}
	}
	err = s.run(ctx)
	partial := ctx.Err() != nil
	if err != nil && !partial {
		return nil, errors.Join(err, dir.close(s))
	}
	r := t.result(s, o)
	if r.Partial = partial; partial {
		r.Reason, r.NoWinner = "interrupted", ""
	}
	if r.Repro.ResultHash, err = dir.log.close(); err != nil {
		return nil, err
	}
	if !partial {
		if err := t.keepRuns(ctx, s, o); err != nil {
			return nil, err
		}
	}
	return r, errors.Join(dir.save(s), t.writeTable(s, o.Out), r.Write(o.Out))
}

// begin checks the options and opens the directory.
func (t *Tuning) begin(o *Options) (*search, *directory, error) {
	if o.Seed != nil {
		t.Seed = *o.Seed
	}
	if o.Budget != "" {
		t.Budget = o.Budget
	}
	if err := t.rest(); err != nil {
		return nil, nil, err
	}
	if o.Jobs <= 0 {
		o.Jobs = runtime.NumCPU()
	}
	s := t.search(o)
	if need := s.leastRuns(); s.limits.runs > 0 && s.limits.runs < need {
		return nil, nil, fmt.Errorf("budget: %d runs: want at least %d: %s", s.limits.runs, need, s.leastWords())
	}
	dir, err := t.openDirectory(o.Out)
	if err != nil {
		return nil, nil, err
	}
	s.store.log = dir.log
	s.clock = &clock{start: time.Now(), earlier: time.Duration(dir.state.Elapsed * float64(time.Second))}
	if s.limits.time > 0 {
		s.limits.runs = dir.state.Runs
	}
	return s, dir, nil
}

// search makes the search of the plan.
func (t *Tuning) search(o *Options) *search {
	judge := t.judge
	s := &search{space: t.space, judge: &judge, seed: t.Seed, limits: t.limits, confirm: t.Confirm, named: t.named}
	for i := range t.Seeds {
		s.seeds = append(s.seeds, t.Seed+uint64(i))
	}
	for i := range t.Confirm.Seeds {
		s.fresh = append(s.fresh, t.Seed+mostSeeds+uint64(i))
	}
	s.store = &store{space: t.space, workloads: len(t.Workloads), jobs: o.Jobs, byKey: map[string]*entry{}, evaluate: t.evaluator(o.Version)}
	stage := ""
	s.stage = func(name string) { stage = name }
	s.store.onRun = func() {
		if o.Progress != nil {
			o.Progress(Progress{Stage: stage, Runs: s.store.runs, Of: s.limits.runs, Fresh: s.store.fresh, Elapsed: s.clock.elapsed()})
		}
	}
	return s
}

// leastRuns is the smallest budget: today and the baselines, a generation of
// candidates, and the confirmation.
func (s *search) leastRuns() int {
	return (len(s.named)+population(len(s.space)))*s.store.workloads*len(s.seeds) + s.confirmRuns()
}

func (s *search) leastWords() string {
	return fmt.Sprintf("today and %d baselines on %d seeds of %d workloads take %d runs, a generation of candidates %d, the confirmation %d; baselines, seeds and confirm make it less",
		len(s.named)-1, len(s.seeds), s.store.workloads, len(s.named)*s.store.workloads*len(s.seeds), population(len(s.space))*s.store.workloads*len(s.seeds), s.confirmRuns())
}

// directory is where a search is kept.
type directory struct {
	name  string
	log   *runLog
	state state
}

// openDirectory makes the directory, or goes on with one of the same plan.
func (t *Tuning) openDirectory(name string) (*directory, error) {
	entries, err := trace.OutputEntries(name)
	if err != nil {
		return nil, fmt.Errorf("--out %w", err)
	}
	begun := false
	for _, e := range entries {
		begun = begun || e.Name() == FileRuns
	}
	if len(entries) > 0 && !begun {
		return nil, fmt.Errorf("--out %w", trace.Occupied(name, "no directory of a search"))
	}
	hash, err := t.hash()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(name, 0o777); err != nil {
		return nil, err
	}
	h := runHeader{Plan: hash, Expect: t.judge.expect}
	for i := range t.space {
		h.Parameters = append(h.Parameters, t.space[i].name)
	}
	for _, w := range t.Workloads {
		h.Workloads = append(h.Workloads, w.Name)
	}
	for i := range t.Figures {
		h.Figures = append(h.Figures, t.Figures[i].Name)
	}
	d := &directory{name: name}
	if d.log, err = openLog(filepath.Join(name, FileRuns), h); err != nil {
		return nil, err
	}
	if data, err := os.ReadFile(filepath.Join(name, FileState)); err == nil {
		_ = json.Unmarshal(data, &d.state) // what cannot be read begins anew
	}
	text, err := t.Resolved()
	if err == nil {
		err = os.WriteFile(filepath.Join(name, FilePlan), text, 0o666)
	}
	if err != nil {
		return nil, errors.Join(err, d.log.file.Close())
	}
	return d, nil
}

// save writes how long the search has taken.
func (d *directory) save(s *search) error {
	st := state{Elapsed: s.clock.elapsed().Seconds()}
	if s.limits.time > 0 {
		st.Runs = s.limits.runs
	}
	data, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.name, FileState), append(data, '\n'), 0o666)
}

// close ends a search that failed.
func (d *directory) close(s *search) error {
	_, err := d.log.close()
	return errors.Join(err, d.save(s))
}

// planDescription is the comment at the top of a plan.
func planDescription(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimSpace(comment))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// Left is how long the search will take yet at the pace so far; false while
// that is not known.
func (p *Progress) Left() (time.Duration, bool) {
	if p.Of == 0 || p.Fresh == 0 {
		return 0, false
	}
	return p.Elapsed / time.Duration(p.Runs) * time.Duration(max(p.Of-p.Runs, 0)), true
}
