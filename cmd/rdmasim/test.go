package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"rdmasim/reports/metric"
	"rdmasim/scenarios"
	"rdmasim/sim/trace"
)

// testFlags are the flags of `rdmasim test`.
type testFlags struct {
	sets          []string
	filter, junit string
	keep          string
	jobs          int
	timeout       time.Duration
	json          bool
	short         bool
	without       bool
}

const testLong = `Run scenarios and judge their expectations, several at a time.

WHAT is a scenario file, a directory (all *.yaml and *.yml below it), or the
name of a library scenario; without any, the whole library is tested. A
scenario passes if its run is complete, all its expectations hold and every
fault of it has touched a packet.

With --without every scenario is also run without what it is about: with the
settings under its key without, or without its faults. There an expectation
must fail; if all of them hold, they say nothing about the phenomenon.

Every file is read before the first run: one that is wrong ends the command
with code 2. Code 1 means that a scenario has failed.`

func newTest(a *app) *cobra.Command {
	f := &testFlags{}
	cmd := &cobra.Command{
		Use:   "test [WHAT...]",
		Short: "Run scenarios and say which expectations fail, and why",
		Long:  testLong,
		Example: `  rdmasim test my-scenarios/
  rdmasim test incast-8to1 victim-flow --without
  rdmasim test --short --junit report.xml`,
		ValidArgsFunction: completeScenario(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.testScenarios(cmd.Context(), args, f)
		},
	}
	cmd.Flags().StringArrayVar(&f.sets, "set", nil, "change one value of every scenario by its `PATH=VALUE` (repeatable)")
	cmd.Flags().StringVar(&f.filter, "filter", "", "test only scenarios whose name this `REGEXP` matches")
	cmd.Flags().StringVar(&f.junit, "junit", "", "write the verdicts as JUnit XML to this `FILE`")
	cmd.Flags().StringVar(&f.keep, "keep", "", "keep the run directories below this `DIR`")
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "`N` scenarios at a time, 0 for one per core")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 10*time.Minute, "a scenario that takes longer (`TIME`, such as 90s) fails")
	cmd.Flags().BoolVar(&f.json, "json", false, "write the verdicts as JSON")
	cmd.Flags().BoolVar(&f.short, "short", false, "leave out scenarios that say long: true")
	cmd.Flags().BoolVar(&f.without, "without", false, "also run each without what it is about: there an expectation must fail")
	return cmd
}

// Verdicts on a scenario.
const (
	verdictPass  = "pass"
	verdictFail  = "fail"
	verdictError = "error" // the run itself failed or took too long
	verdictSkip  = "skip"
)

// tested is a scenario and what came of it.
type tested struct {
	Name    string           `json:"name"`
	File    string           `json:"file"`
	Verdict string           `json:"verdict"`
	Reasons []string         `json:"reasons,omitempty"` // why it is not pass
	Seconds float64          `json:"wall_s"`
	Expect  []metric.Verdict `json:"expect"`
	Dir     string           `json:"run_directory,omitempty"`

	spec    *scenarios.Spec
	without []string // settings that have taken away what it is about
}

// testScenarios is `rdmasim test`.
func (a *app) testScenarios(ctx context.Context, what []string, f *testFlags) error {
	list, err := a.testList(what, f)
	if err != nil {
		return inputError(err)
	}
	root := f.keep
	if root == "" {
		if root, err = os.MkdirTemp("", "rdmasim-test-"); err != nil {
			return runError(err)
		}
		defer os.RemoveAll(root)
	}
	ctx, stop := a.interrupts(ctx, func() {
		fmt.Fprintln(a.stderr, "rdmasim: interrupted: waiting for the runs that go on")
	})
	defer stop()
	a.testAll(ctx, list, root, f)
	if f.json {
		err = a.testJSON(list)
	} else {
		err = a.testTable(list)
	}
	if f.junit != "" {
		err = errors.Join(err, writeSuites(f.junit, list))
	}
	if err != nil {
		return runError(err)
	}
	for _, t := range list {
		if t.Verdict == verdictFail || t.Verdict == verdictError {
			return &exitError{code: exitExpect}
		}
	}
	return nil
}

// testList reads every scenario that is meant.
func (a *app) testList(what []string, f *testFlags) ([]*tested, error) {
	if f.jobs < 0 || f.jobs > maxWorkers {
		return nil, fmt.Errorf("--jobs %d: want 0 (one per core) to %d", f.jobs, maxWorkers)
	}
	if f.timeout <= 0 {
		return nil, fmt.Errorf("--timeout %v: want more than 0s", f.timeout)
	}
	want, err := regexp.Compile(f.filter)
	if err != nil {
		return nil, fmt.Errorf("--filter %s: %w", f.filter, err)
	}
	if f.keep != "" {
		if f.keep, err = runDirectory(f.keep, ""); err != nil {
			return nil, fmt.Errorf("--keep: %w", err)
		}
	}
	names, err := a.testNames(what)
	if err != nil {
		return nil, err
	}
	var list []*tested
	var bad []error
	for _, name := range names {
		more, err := a.testsOf(name, want, f)
		if err != nil {
			bad = append(bad, err)
		}
		list = append(list, more...)
	}
	if len(bad) == 0 && len(list) == 0 {
		bad = append(bad, errors.New("test: there is no scenario to test: give files, directories or names, and a --filter that matches"))
	}
	return list, errors.Join(bad...)
}

// testsOf returns the tests of one scenario: itself, and with --without the
// same without what it is about.
func (a *app) testsOf(name string, want *regexp.Regexp, f *testFlags) ([]*tested, error) {
	spec, err := a.load(name, f.sets)
	if err != nil || !want.MatchString(spec.Name) {
		return nil, err
	}
	t := &tested{Name: spec.Name, File: name, spec: spec}
	switch {
	case f.short && spec.Long:
		t.Verdict, t.Reasons = verdictSkip, []string{"takes long"}
	case len(spec.Expect)+len(spec.Faults) == 0:
		t.Verdict, t.Reasons = verdictSkip, []string{"expects nothing"}
	}
	list := []*tested{t}
	if settings := spec.Counterfactual(); f.without && len(settings) > 0 && t.Verdict == "" {
		other, err := a.load(name, append(slices.Clone(f.sets), settings...))
		if err != nil {
			return nil, fmt.Errorf("%s: without: %w", name, err)
		}
		list = append(list, &tested{Name: spec.Name + " (without)", File: name, spec: other, without: settings})
	}
	return list, nil
}

// testNames lists the scenarios that the arguments mean, in order.
func (a *app) testNames(what []string) ([]string, error) {
	if len(what) == 0 {
		var all []string
		for _, e := range a.library() {
			all = append(all, e.Name)
		}
		return all, nil
	}
	var list []string
	for _, name := range what {
		info, err := os.Stat(name)
		if err != nil || !info.IsDir() {
			list = append(list, name)
			continue
		}
		before := len(list)
		err = filepath.WalkDir(name, func(path string, e fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err == nil && !e.IsDir() && (ext == ".yaml" || ext == ".yml") {
				list = append(list, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(list) == before {
			return nil, fmt.Errorf("%s: no *.yaml or *.yml is in it", name)
		}
	}
	return list, nil
}

// testAll runs the tests, so many at a time.
func (a *app) testAll(ctx context.Context, list []*tested, root string, f *testFlags) {
	jobs := f.jobs
	if jobs == 0 {
		jobs = runtime.NumCPU()
	}
	next := make(chan int)
	var group sync.WaitGroup
	for range min(jobs, len(list)) {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range next {
				t := list[i]
				if t.Verdict == "" {
					a.testOne(ctx, t, filepath.Join(root, fmt.Sprintf("%03d-%s", i+1, t.Name)), f)
				}
				if f.keep == "" {
					_ = os.RemoveAll(t.Dir)
					t.Dir = ""
				}
			}
		}()
	}
	for i := range list {
		next <- i
	}
	close(next)
	group.Wait()
}

// testOne runs one scenario and judges it.
func (a *app) testOne(ctx context.Context, t *tested, dir string, f *testFlags) {
	start := time.Now()
	defer func() { t.Seconds = time.Since(start).Seconds() }()
	limit, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	res, err := a.run(limit, t.spec, runOptions{Out: dir, Workers: 1})
	t.Dir = dir
	fail := func(verdict string, why ...string) { t.Verdict, t.Reasons = verdict, why }
	switch {
	case err != nil:
		fail(verdictError, oneLine(err.Error()))
		return
	case res.Partial && ctx.Err() != nil:
		fail(verdictError, "interrupted")
		return
	case res.Partial:
		fail(verdictError, fmt.Sprintf("takes longer than %v", f.timeout))
		return
	}
	m, err := a.metrics(dir)
	if err != nil {
		fail(verdictError, oneLine(err.Error()))
		return
	}
	t.Expect = m.Expect
	if len(t.without) > 0 {
		t.judgeWithout()
		return
	}
	t.Verdict = verdictPass
	for _, v := range m.Expect {
		if !v.OK {
			t.Verdict = verdictFail
			t.Reasons = append(t.Reasons, reasonOf(v))
		}
	}
}

// judgeWithout passes if an expectation fails once the phenomenon is gone. The
// faults that are left do not count.
func (t *tested) judgeWithout() {
	t.Verdict = verdictPass
	for _, v := range t.Expect {
		if !v.OK && !strings.HasPrefix(v.Text, "fault ") {
			return
		}
	}
	t.Verdict = verdictFail
	t.Reasons = []string{"all expectations hold with " + strings.Join(t.without, ", ") + " too: they do not tell the phenomenon from its absence"}
}

// reasonOf says what was expected and what was found.
func reasonOf(v metric.Verdict) string {
	if strings.HasPrefix(v.Text, "fault ") {
		return v.Why
	}
	return v.Text + ": " + v.Why
}

// testTable writes the verdicts for people.
func (a *app) testTable(list []*tested) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	count := map[string]int{}
	for _, t := range list {
		count[t.Verdict]++
		first := ""
		switch {
		case len(t.Reasons) > 0:
			first = t.Reasons[0]
		case len(t.without) > 0:
			first = "an expectation fails, as it should"
		default:
			first = metric.Counted(len(t.Expect), "expectation") + " hold"
			if len(t.Expect) == 1 {
				first = "1 expectation holds"
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", strings.ToUpper(t.Verdict), t.Name, first)
		for i := 1; i < len(t.Reasons); i++ {
			fmt.Fprintf(w, "\t\t%s\n", t.Reasons[i])
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	sum := fmt.Sprintf("%d passed, %d failed", count[verdictPass], count[verdictFail])
	if n := count[verdictError]; n > 0 {
		sum += fmt.Sprintf(", %d in error", n)
	}
	if n := count[verdictSkip]; n > 0 {
		sum += fmt.Sprintf(", %d left out", n)
	}
	_, err := fmt.Fprintln(a.stdout, sum)
	return err
}

// testJSON writes the verdicts for programs.
func (a *app) testJSON(list []*tested) error {
	p, err := trace.EncodeJSON(list)
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(p)
	return err
}

// writeSuites writes the verdicts as JUnit XML.
func writeSuites(file string, list []*tested) error {
	suites := make([]metric.Suite, len(list))
	for i, t := range list {
		s := metric.Suite{Name: t.Name, Seconds: t.Seconds, Verdicts: t.Expect}
		why := strings.Join(t.Reasons, "; ")
		switch {
		case t.Verdict == verdictError:
			s.Error = why
		case t.Verdict == verdictSkip:
			s.Skipped = why
		case len(t.without) > 0:
			s.Verdicts = []metric.Verdict{{Text: "an expectation fails without " + strings.Join(t.without, ", "), OK: t.Verdict == verdictPass, Why: why}}
		}
		suites[i] = s
	}
	p, err := metric.JUnitSuites(suites)
	if err != nil {
		return err
	}
	return os.WriteFile(file, p, 0o666)
}
