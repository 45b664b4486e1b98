// Package sweep runs one scenario at many points of its parameters, each with
// several seeds, on as many cores and machines as there are.
//
// A Plan says which points; Enumerate lists its units, a unit being one point
// with one seed, as a pure function of the plan. Evaluate runs one unit. Shard
// logs keep what has been run, and Merge makes one table of them that does not
// depend on who ran what.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rdmasim/reports/metric"
	"rdmasim/scenarios"
	"rdmasim/sim/trace"
)

// Set changes one value of a scenario: Path is its keys joined by dots, as in
// switch.ecn.3.kmin, Value its text, as `rdmasim run --set` takes it.
type Set struct{ Path, Value string }

// String returns path=value.
func (s Set) String() string { return s.Path + "=" + s.Value }

// Source is a scenario that is run many times with other values. It is read
// once, so that a file that changes meanwhile changes nothing.
type Source struct {
	Name    string // as it was given
	File    string // its file; "" = it is of the library, or of a text
	Text    []byte
	shown   string // the name in errors; files that it names are beside it
	foreign bool   // not YAML of ours: read again every time
}

// OpenSource reads a scenario: the name of one of the library, a YAML file, or
// what else `rdmasim run` takes.
func OpenSource(name string) (*Source, error) {
	s := &Source{Name: name, shown: name}
	var err error
	if _, missing := os.Stat(name); missing == nil {
		s.File = name
	}
	if filepath.Ext(name) == ".txt" {
		s.foreign = true
		if _, err = scenarios.Load(name, nil); err == nil {
			s.Text, err = scenarios.ReadBounded(name)
		}
		return s, err
	}
	if s.shown, s.Text, err = scenarios.Source(name); err != nil {
		return nil, err
	}
	if _, _, foreign, _ := scenarios.FromLumina(s.shown, s.Text); foreign {
		s.foreign = true
		_, err = scenarios.Load(name, nil)
	}
	return s, err
}

// NewSource is a scenario from its YAML; file is its name, for errors and for
// the files that it names.
func NewSource(file string, text []byte) *Source {
	return &Source{Name: file, shown: file, Text: text}
}

// Spec returns the scenario with some of its values changed, in order.
func (s *Source) Spec(sets []Set) (*scenarios.Spec, error) {
	texts := make([]string, len(sets))
	for i, set := range sets {
		texts[i] = set.String()
	}
	if s.foreign {
		return scenarios.Load(s.File, texts)
	}
	return scenarios.ParseSet(s.shown, s.Text, texts)
}

// Status is how the run of a point ended.
type Status string

// A deadlock, lost packets or a failed expectation are results of a run that
// went as it should: their status is OK.
const (
	OK      Status = "ok"
	Invalid Status = "invalid" // the scenario refuses the values: Error says why
	Partial Status = "partial" // it took longer than Options.Timeout; Metrics are those of the time until then
)

// Result is what came of one point with one seed.
type Result struct {
	Status      Status
	Error       string              // why not OK; one line
	Fingerprint string              // of the rows of the run; equal for equal results
	Metrics     map[string]*float64 // by path, such as flows.slowdown.p99, in SI units; nil = not measured. Measures by their text
	Failed      []string            // expectations of the scenario that do not hold
	Wall        float64             // seconds that it took, all in all
	Simulation  float64             // seconds of it in which the engine ran
}

// Value returns a metric; ok is false if it was not measured.
func (r *Result) Value(name string) (v float64, ok bool) {
	if p := r.Metrics[name]; p != nil {
		return *p, true
	}
	return 0, false
}

// Options of Evaluate.
type Options struct {
	Timeout  time.Duration // of wall clock; 0 = none
	Scratch  string        // directory for what is gone afterwards; "" = $TMPDIR, or in memory where there is such a place
	Metrics  []string      // paths and measures wanted; empty = every path. What is not wanted is not computed
	Measures []string      // further figures, as the left side of an expectation: p99(flows.slowdown, bytes < 100KB)
	Version  string        // of the program
}

// Evaluate runs a scenario with some of its values changed and returns its
// figures. What is wrong with the values, or with the run, is in the Result. An
// error says that nothing can be known: the context has ended, or the machine
// has failed.
func Evaluate(ctx context.Context, src *Source, sets []Set, seed uint64, o Options) (res Result, err error) {
	start := time.Now()
	defer func() { res.Wall = time.Since(start).Seconds() }()
	spec, err := src.Spec(append(sets[:len(sets):len(sets)], Set{"seed", strconv.FormatUint(seed, 10)}))
	if err != nil {
		return Result{Status: Invalid, Error: oneLine(err.Error())}, nil
	}
	if o.Scratch == "" {
		own, remove, err := ownScratch(scratchParent())
		if err != nil {
			return Result{}, err
		}
		defer remove()
		o.Scratch = own
	}
	dir, err := os.MkdirTemp(o.Scratch, "point-")
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(dir)
	limited, cancel := ctx, context.CancelFunc(func() {})
	if o.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, o.Timeout)
	}
	defer cancel()
	need, err := needs(spec.Expect, &o)
	if err != nil {
		return Result{}, err
	}
	run, err := scenarios.Run(limited, spec, scenarios.Options{Out: filepath.Join(dir, "run"), Workers: 1, Version: o.Version, Lean: true, NoSeries: !need.series})
	input := new(scenarios.InputError)
	switch {
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case errors.Is(err, scenarios.ErrInterrupted):
		return Result{Status: Partial, Error: fmt.Sprintf("takes longer than %v: its fabric was not built", o.Timeout)}, nil
	case errors.As(err, &input):
		return Result{Status: Invalid, Error: oneLine(err.Error())}, nil
	case err != nil:
		return Result{}, err
	}
	res = Result{Status: OK, Fingerprint: run.Fingerprint, Simulation: run.Wall}
	if run.Partial {
		res.Status, res.Error = Partial, fmt.Sprintf("takes longer than %v", o.Timeout)
	}
	return res, res.read(run.Dir, spec.Expect, need)
}

// need is what the figures of a run are made of.
type need struct {
	series, forensics bool
	paths, measures   []string
}

// needs returns what is to be read of a run. What nobody asks for costs nothing.
func needs(expect []string, o *Options) (need, error) {
	n := need{forensics: len(o.Metrics) == 0}
	if len(o.Metrics) == 0 {
		for _, p := range metric.Paths() {
			n.paths = append(n.paths, p.Name)
		}
	}
	for _, name := range o.Metrics {
		if isPath(name) {
			n.paths = append(n.paths, name)
			n.forensics = n.forensics || metric.IsForensic(name)
		} else {
			n.measures = append(n.measures, name)
		}
	}
	n.measures = append(n.measures, o.Measures...)
	var all []metric.Expectation
	for _, text := range expect {
		e, err := metric.ParseExpectation(text)
		if err != nil {
			return n, err
		}
		all = append(all, e)
	}
	for _, text := range n.measures {
		e, err := measure(text)
		if err != nil {
			return n, err
		}
		all = append(all, e)
	}
	for _, e := range all {
		n.series, n.forensics = n.series || e.ReadsSeries(), n.forensics || e.ReadsForensics()
	}
	return n, nil
}

func isPath(name string) bool {
	return slices.ContainsFunc(metric.Paths(), func(p metric.Path) bool { return p.Name == name })
}

// read takes the figures of a run from its directory.
func (r *Result) read(dir string, expect []string, n need) error {
	run, err := trace.Open(dir)
	if err != nil {
		return err
	}
	compute := metric.ComputeWithoutForensics
	if n.forensics {
		compute = metric.Compute
	}
	m, err := compute(run)
	if err != nil {
		return err
	}
	r.Metrics = make(map[string]*float64, len(n.paths)+len(n.measures))
	for _, name := range n.paths {
		r.Metrics[name] = nil
		if v, ok := m.Lookup(name); ok {
			r.Metrics[name] = &v
		}
	}
	for _, text := range n.measures {
		e, err := measure(text)
		if err != nil {
			return err
		}
		r.Metrics[text] = finite(e.Check(m).Value)
	}
	if _, err := m.Check(expect); err != nil {
		return err
	}
	for _, v := range m.Expect {
		if !v.OK {
			r.Failed = append(r.Failed, v.Text)
		}
	}
	return nil
}

// finite returns a value, or "not measured" for a quotient by nothing.
func finite(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}

// CheckMeasure says what is wrong with the name of a metric or a measure.
func CheckMeasure(text string) error {
	_, err := measure(text)
	return err
}

// MeasureUnit returns the unit of a measure, as package metric names units.
func MeasureUnit(text string) string {
	e, err := measure(text)
	if err != nil {
		return metric.Count
	}
	return e.Unit()
}

// measure turns a figure into an expectation, which is what gives its value.
func measure(text string) (metric.Expectation, error) {
	e, err := metric.ParseExpectation(text + " >= 0")
	var bad *metric.ExpectError
	if errors.As(err, &bad) {
		return e, fmt.Errorf("%s: %s", text, bad.Problem)
	}
	return e, err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
