package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rdmasim/reports/metric"
	"rdmasim/scenarios"
)

// shrinkFlags are the flags of `rdmasim shrink`.
type shrinkFlags struct {
	sets        []string
	out, expect string
	runs        int
	timeout     time.Duration
}

const shrinkLong = `Make a scenario that fails an expectation as small as it can be.

Traffic, faults, rules, nodes and settings are left out, numbers and the duration
made smaller, as long as the same expectation fails; the smallest scenario found is
written with a comment that says what is gone. It is a new file: SCENARIO is never
written to. The order of trials is fixed, so that the result is, too.

An expectation such as goodput_bps.total > 50Gbps also fails in a fabric that is
too small for it; write it as a ratio, or add what must stay true with --set
expect=[...]: only the chosen one has to fail, but all must be measured.`

func newShrink(a *app) *cobra.Command {
	f := &shrinkFlags{}
	cmd := &cobra.Command{
		Use:               "shrink SCENARIO",
		Short:             "Find the smallest scenario that fails the same expectation",
		Long:              shrinkLong,
		Example:           "  rdmasim shrink my.yaml --expect 'packets.dropped.lossless == 0' --out small.yaml",
		Args:              exactArgs("SCENARIO"),
		ValidArgsFunction: completeScenario(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.shrink(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().StringArrayVar(&f.sets, "set", nil, "change one value first by its `PATH=VALUE` (repeatable)")
	cmd.Flags().StringVar(&f.expect, "expect", "", "expectation that must go on failing: its `TEXT`, which need not be one of the scenario's, or its number from 0 (default the first that fails)")
	cmd.Flags().StringVar(&f.out, "out", "", "`FILE` to write (default NAME-shrunk.yaml)")
	cmd.Flags().IntVar(&f.runs, "runs", 300, "at most `N` runs")
	cmd.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "a candidate that takes longer (`TIME`, such as 10s) is passed over")
	return cmd
}

// shrink is `rdmasim shrink`.
func (a *app) shrink(ctx context.Context, name string, f *shrinkFlags) error {
	file, data, err := scenarios.Source(name)
	if err != nil {
		return inputError(err)
	}
	spec, err := scenarios.ParseSet(file, data, f.sets)
	if err != nil {
		return inputError(err)
	}
	out, err := shrunkFile(f.out, spec.Name, name)
	if err != nil {
		return inputError(err)
	}
	if f.runs < 2 || f.timeout <= 0 {
		return inputError(fmt.Errorf("--runs %d, --timeout %v: want at least 2 runs, and more than 0s", f.runs, f.timeout))
	}
	ctx, stop := a.interrupts(ctx, func() { fmt.Fprintln(a.stderr, "rdmasim: interrupted: writing the smallest scenario so far") })
	defer stop()
	target, first, err := a.failing(ctx, spec, f)
	if err != nil {
		return err
	}
	k := &scenarios.Shrink{Budget: f.runs, Keep: func(s *scenarios.Spec) bool {
		if ctx.Err() != nil {
			return false
		}
		v, err := a.verdictOf(ctx, s, target, f.timeout)
		return err == nil && !v.OK && (v.Value == nil) == (first.Value == nil)
	}}
	text, err := k.Run(file, data, append(slices.Clone(f.sets), "expect=["+strconv.Quote(target)+"]", "without=[]"))
	if err != nil {
		return runError(fmt.Errorf("%s: %w", name, err))
	}
	if err := writeNew(out, shrunkText(name, target, first, k, text)); err != nil {
		return inputError(err)
	}
	fmt.Fprintf(a.stdout, "%s still fails in %s\n%s, %s\n", target, out, metric.Counted(k.Runs, "run"), metric.Counted(len(k.Removed), "thing")+" left out or made smaller")
	if ctx.Err() != nil {
		return &exitError{code: exitRun}
	}
	return nil
}

// shrunkFile returns the name of the result, which must be a new file.
func shrunkFile(out, name, input string) (string, error) {
	if out == "" {
		out = name + "-shrunk.yaml"
	}
	if _, err := os.Lstat(out); err == nil {
		return "", fmt.Errorf("--out %s: it exists: give the name of a new file", out)
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if info, err := os.Stat(filepath.Dir(out)); err != nil || !info.IsDir() {
		return "", fmt.Errorf("--out %s: there is no directory %s", out, filepath.Dir(out))
	}
	return out, nil
}

// failing returns the expectation to keep and its verdict.
func (a *app) failing(ctx context.Context, spec *scenarios.Spec, f *shrinkFlags) (string, metric.Verdict, error) {
	texts := spec.Expect
	if n, err := strconv.Atoi(f.expect); err == nil {
		if n < 0 || n >= len(texts) {
			return "", metric.Verdict{}, inputError(fmt.Errorf("--expect %d: the scenario has %s, numbered from 0", n, metric.Counted(len(texts), "expectation")))
		}
		texts = texts[n : n+1]
	} else if f.expect != "" {
		if _, err := metric.ParseExpectation(f.expect); err != nil {
			return "", metric.Verdict{}, inputError(fmt.Errorf("--expect: %w", err))
		}
		texts = []string{f.expect}
	}
	if len(texts) == 0 {
		return "", metric.Verdict{}, inputError(errors.New("shrink: the scenario expects nothing: give an expectation that fails with --expect"))
	}
	s := *spec
	s.Expect = texts
	list, err := a.verdicts(ctx, &s, f.timeout)
	if err != nil {
		return "", metric.Verdict{}, runError(err)
	}
	for _, v := range list[:len(texts)] {
		if !v.OK {
			return v.Text, v, nil
		}
	}
	return "", metric.Verdict{}, inputError(fmt.Errorf("shrink: nothing fails: %s %s", strings.Join(texts, ", "), map[bool]string{true: "holds", false: "hold"}[len(texts) == 1]))
}

// verdictOf runs a candidate and judges one expectation.
func (a *app) verdictOf(ctx context.Context, s *scenarios.Spec, text string, limit time.Duration) (metric.Verdict, error) {
	s.Expect = []string{text}
	list, err := a.verdicts(ctx, s, limit)
	if err != nil {
		return metric.Verdict{}, err
	}
	return list[0], nil
}

// verdicts runs a scenario in a directory that is gone afterwards.
func (a *app) verdicts(ctx context.Context, s *scenarios.Spec, limit time.Duration) ([]metric.Verdict, error) {
	dir, err := os.MkdirTemp("", "rdmasim-shrink-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out := filepath.Join(dir, "run")
	res, err := a.run(limited, s, runOptions{Out: out, Workers: 1})
	if err != nil {
		return nil, err
	}
	if res.Partial {
		return nil, fmt.Errorf("%s: takes longer than %v", s.Name, limit)
	}
	m, err := a.metrics(out)
	if err != nil {
		return nil, err
	}
	return m.Expect, nil
}

// shrunkText puts a comment on top of the result.
func shrunkText(name, target string, first metric.Verdict, k *scenarios.Shrink, text []byte) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Smallest scenario found from %s that fails: %s\n", oneLine(name), target)
	fmt.Fprintf(&b, "#\n# There it failed since %s.\n", first.Why)
	if k.Runs >= k.Budget {
		fmt.Fprintf(&b, "# The search ended after %d runs; with more of them it may become smaller.\n", k.Runs)
	}
	if len(k.Removed) > 0 {
		b.WriteString("# Left out or made smaller:\n")
	}
	for _, s := range k.Removed {
		fmt.Fprintf(&b, "#   * %s\n", oneLine(s))
	}
	b.Write(text)
	return []byte(b.String())
}

// writeNew writes a file that does not exist yet.
func writeNew(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
