package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rdmasim/reports/metric"
	"rdmasim/scenarios/sweep"
)

// sweepFlags are the flags of `rdmasim sweep`.
type sweepFlags struct {
	out, shard    string
	jobs          int
	timeout       time.Duration
	resume, quiet bool
	json          bool
}

const sweepLong = `Run a scenario at many points of its parameters, with several seeds each.

PLAN is a YAML file: which scenario, which values vary and how points are chosen
(grid, latin_hypercube or sobol), which seeds, which metrics to keep.

The result is one table, results.parquet, with a row for each run. Every result
is kept as soon as it is there: after an interrupt, or when the program is
killed, --resume goes on where it ended. --shard 3/8 runs every eighth run from
the third on; shards need nothing of each other, and whichever of them completes
the directory writes the table. Shards in several directories are put together
by 'rdmasim sweep merge'. The table does not depend on who ran what.`

func newSweep(a *app) *cobra.Command {
	f := &sweepFlags{}
	cmd := &cobra.Command{
		Use:   "sweep PLAN",
		Short: "Run a scenario at many points, on many cores or machines",
		Long:  sweepLong,
		Example: `  rdmasim sweep plan.yaml
  rdmasim sweep plan.yaml --out sweeps/ecn --resume
  rdmasim sweep plan.yaml --out sweeps/ecn --shard 3/8
  rdmasim sweep merge sweeps/ecn-a sweeps/ecn-b
  rdmasim sweep emit slurm plan.yaml --out sweeps/ecn --shards 64 > job.sh`,
		Args: exactArgs("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.sweep(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.out, "out", "", "directory `DIR` of the sweep (default sweeps/NAME-N)")
	cmd.Flags().StringVar(&f.shard, "shard", "", "run only shard `I/N` of the plan, I from 1 to N")
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "`N` runs at a time, 0 for one per core; results do not depend on it")
	cmd.Flags().BoolVar(&f.resume, "resume", false, "go on with what is in --out")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "a run that takes longer (`TIME`, such as 90s) is cut short: its row says so and has no metrics")
	cmd.Flags().BoolVar(&f.json, "json-progress", false, "progress as one JSON object per second on stderr")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no summary")
	cmd.AddCommand(newSweepMerge(a), newSweepEmit(a))
	return cmd
}

// mostShards bounds the shards of a plan.
const mostShards = 1 << 16

// sweepGC is the share of garbage at which memory is collected in a sweep, as
// Go has it: many short runs leave much of it behind, and time counts.
const sweepGC = 100

// sweep is `rdmasim sweep`.
func (a *app) sweep(ctx context.Context, file string, f *sweepFlags) error {
	r, err := sweepRun(file, f)
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		return inputError(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(sweepGC))
	meter := a.newSweepMeter(f)
	r.Progress = meter.update
	ctx, stop := a.interrupts(ctx, func() {
		meter.clear()
		fmt.Fprintln(a.stderr, "rdmasim: interrupted: what has been run is kept; interrupt again to stop at once")
	})
	defer stop()
	s, err := r.Do(ctx)
	meter.finish()
	switch {
	case s != nil && errors.Is(err, errInterrupted):
		fmt.Fprintf(a.stderr, "rdmasim: %d of %d runs are in %s: go on with: rdmasim sweep %s --out %s%s --resume\n",
			s.Done+s.Before, s.Total, r.Out, shellQuote(file), shellQuote(r.Out), shardFlag(f.shard))
		return &exitError{code: exitRun}
	case err != nil:
		return runError(err)
	case f.quiet:
		return nil
	}
	return runError(a.sweepSummary(r, s))
}

func shardFlag(shard string) string {
	if shard == "" {
		return ""
	}
	return " --shard " + shard
}

// sweepRun reads what is to be run.
func sweepRun(file string, f *sweepFlags) (*sweep.Run, error) {
	r := &sweep.Run{Out: f.out, Jobs: f.jobs, Resume: f.resume, Timeout: f.timeout, Version: version()}
	if f.jobs < 0 || f.jobs > maxWorkers {
		return nil, fmt.Errorf("--jobs %d: want 0 (one per core) to %d", f.jobs, maxWorkers)
	}
	if f.timeout < 0 {
		return nil, fmt.Errorf("--timeout %v: want 0s (none) or more", f.timeout)
	}
	var err error
	if f.shard != "" {
		if r.Shard, r.Shards, err = parseShard(f.shard); err != nil {
			return nil, err
		}
	}
	for flag, given := range map[string]bool{"--shard": f.shard != "", "--resume": f.resume} {
		if given && f.out == "" {
			return nil, fmt.Errorf("%s needs --out: the directory of the sweep", flag)
		}
	}
	if r.Plan, err = sweep.ReadPlan(file); err != nil {
		return nil, err
	}
	if r.Source, err = r.Plan.Open(); err != nil {
		return nil, err
	}
	if r.Out == "" {
		r.Out, err = freeDirectory("sweeps", planName(file))
	}
	return r, err
}

// planName is the name of a plan's file without its ending.
func planName(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// freeDirectory returns the first of parent/name-1, parent/name-2 that is free.
func freeDirectory(parent, name string) (string, error) {
	for n := 1; ; n++ {
		dir := filepath.Join(parent, name+"-"+strconv.Itoa(n))
		if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
			return dir, nil
		} else if err != nil {
			return "", err
		}
	}
}

// parseShard reads I/N.
func parseShard(text string) (i, n int, err error) {
	a, b, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || n < 1 || n > mostShards || i < 1 || i > n {
		return 0, 0, fmt.Errorf("--shard %s: want I/N with I from 1 to N and N at most %d, such as 3/8", text, mostShards)
	}
	return i, n, nil
}

// sweepSummary says what a sweep has done.
func (a *app) sweepSummary(r *sweep.Run, s *sweep.Summary) error {
	if s.Results == "" {
		fmt.Fprintf(a.stdout, "%s of shard %d of %d are done, %d of the plan are missing in %s\n", metric.Counted(s.Done+s.Before, "run"), r.Shard, r.Shards, s.Missing, r.Out)
		return nil
	}
	m, err := sweep.Merge([]string{r.Out})
	if err != nil {
		return err
	}
	if err := a.sweepTable(m); err != nil {
		return err
	}
	if s.Done > 0 {
		fmt.Fprintf(a.stdout, "time         %s, %d at a time; %s of it not in runs, %s not in their engines\n", wallClock(s.Wall), s.Jobs, share(s.Overhead()), share(1-s.Simulation/(s.Wall*float64(s.Jobs))))
	}
	_, err = fmt.Fprintf(a.stdout, "results      %s\n", s.Results)
	return err
}

const sweepMergeLong = `Put the shards of one sweep together into one table.

DIR are directories of the same sweep, each with some of its runs. A run that
several have is fine if its results are equal; if they are not, that is an error,
for a run has only one result. Runs that none has are listed, and no table is
written unless --partial asks for one of what there is.`

func newSweepMerge(a *app) *cobra.Command {
	var out string
	var partial bool
	cmd := &cobra.Command{
		Use:     "merge DIR...",
		Short:   "Put the shards of one sweep together into one table",
		Long:    sweepMergeLong,
		Example: "  rdmasim sweep merge sweeps/ecn-a sweeps/ecn-b --out ecn.parquet",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exactArgs("DIR")(cmd, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.sweepMerge(args, out, partial) },
	}
	cmd.Flags().StringVar(&out, "out", "", "table `FILE` to write (default results.parquet in the first DIR)")
	cmd.Flags().BoolVar(&partial, "partial", false, "write the table although runs are missing")
	return cmd
}

// sweepMerge is `rdmasim sweep merge`.
func (a *app) sweepMerge(dirs []string, out string, partial bool) error {
	m, err := sweep.Merge(dirs)
	if err != nil {
		return inputError(err)
	}
	if n := len(m.Missing); n > 0 && !partial {
		return runError(fmt.Errorf("%d of %s are missing: %s; run them with --resume, or give --partial for a table without them", n, metric.Counted(len(m.Units), "run"), m.MissingText()))
	}
	if out == "" {
		out = filepath.Join(dirs[0], sweep.FileResults)
	}
	if err := m.WriteFile(out); err != nil {
		return inputError(fmt.Errorf("--out %s: %w", out, err))
	}
	if err := a.sweepTable(m); err != nil {
		return runError(err)
	}
	if m.Twice > 0 {
		fmt.Fprintf(a.stdout, "twice        %s, with equal results\n", metric.Counted(m.Twice, "run"))
	}
	if n := len(m.Missing); n > 0 {
		fmt.Fprintf(a.stdout, "missing      %s: %s\n", metric.Counted(n, "run"), m.MissingText())
	}
	fmt.Fprintf(a.stdout, "results      %s\n", out)
	if len(m.Missing) > 0 {
		return &exitError{code: exitRun}
	}
	return nil
}

// share prints a share of one in tenths of a percent.
func share(v float64) string { return strconv.FormatFloat(100*max(v, 0), 'f', 1, 64) + " %" }
