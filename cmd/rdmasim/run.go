package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rdmasim/scenarios"
	"rdmasim/sim/trace"
)

// runFlags are the flags of `rdmasim run`.
type runFlags struct {
	loadFlags
	capture                       captureFlags
	out                           string
	workers                       int
	jsonProgress, noReport, quiet bool
}

// loadFlags change a scenario before it is run or checked.
type loadFlags struct {
	seed   uint64
	sets   []string
	compat string
	flags  *pflag.FlagSet
}

// register adds the flags to cmd.
func (f *loadFlags) register(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "seed `N` of every random stream, instead of the scenario's")
	f.flags = cmd.Flags()
	cmd.Flags().StringArrayVar(&f.sets, "set", nil, "change one value by its `PATH=VALUE`, for example --set switch.buffer.alpha=1/16 (repeatable)")
	cmd.Flags().StringVar(&f.compat, "compat", "", "rules `NAME`: none, or hpcc to compute as the HPCC ns-3 model does")
}

// settings returns the flags as path=value, the explicit flags last.
func (f *loadFlags) settings() []string {
	sets := append([]string(nil), f.sets...)
	if f.compat != "" {
		sets = append(sets, "compat="+f.compat)
	}
	if f.flags.Changed("seed") {
		sets = append(sets, "seed="+strconv.FormatUint(f.seed, 10))
	}
	return sets
}

const runLong = `Run a scenario and draw its report.

SCENARIO is the name of a library scenario (rdmasim list), a YAML file, or the
config.txt of an HPCC ns-3 simulation.

The run directory is --out, by default runs/NAME-1, runs/NAME-2 and so on; an
existing directory is never written into. Ctrl-C ends the run cleanly: what was
measured so far is kept and marked as partial. A second Ctrl-C kills it.`

func newRun(a *app) *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run SCENARIO",
		Short: "Run a scenario and draw its report",
		Long:  runLong + "\n" + captureHelp,
		Example: `  rdmasim run incast-8to1
  rdmasim run incast-8to1 --seed 7 --set switch.buffer.alpha=1/16 --out runs/alpha16
  rdmasim run simulation/mix/config.txt --compat hpcc`,
		Args:              exactArgs("SCENARIO"),
		ValidArgsFunction: completeScenario(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runScenario(cmd.Context(), args[0], f)
		},
	}
	f.loadFlags.register(cmd)
	f.capture.register(cmd.Flags())
	cmd.Flags().StringVar(&f.out, "out", "", "run directory `DIR` (default runs/NAME-N)")
	cmd.Flags().IntVar(&f.workers, "workers", 1, "`N` threads that simulate, 0 for one per core; results do not depend on it")
	cmd.Flags().BoolVar(&f.jsonProgress, "json-progress", false, "progress as one JSON object per second on stderr")
	cmd.Flags().BoolVar(&f.noReport, "no-report", false, "leave the data and draw nothing")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no summary")
	return cmd
}

// runScenario is `rdmasim run`.
func (a *app) runScenario(ctx context.Context, name string, f *runFlags) error {
	if f.workers < 0 || f.workers > maxWorkers {
		return inputError(fmt.Errorf("--workers %d: want 0 (one per core) to %d", f.workers, maxWorkers))
	}
	capture, err := f.capture.options()
	if err != nil {
		return inputError(err)
	}
	spec, err := a.load(name, f.settings())
	if err != nil {
		return inputError(err)
	}
	out, err := runDirectory(f.out, spec.Name)
	if err != nil {
		return inputError(err)
	}
	res, err := a.simulate(ctx, spec, out, f, capture)
	if err != nil {
		return err
	}
	page := ""
	if !f.noReport {
		if page, err = a.page(res.Dir); err != nil {
			return runError(fmt.Errorf("the run is complete in %s, but its report could not be drawn: %w", res.Dir, err))
		}
	}
	if !f.quiet {
		if err := a.summarize(res, page); err != nil {
			return runError(err)
		}
	}
	switch {
	case res.Partial:
		return &exitError{code: exitRun}
	case res.ExpectFailed > 0:
		return &exitError{code: exitExpect}
	}
	return nil
}

// maxWorkers bounds --workers.
const maxWorkers = 1024

// simulate runs spec with progress shown and interrupts heeded.
func (a *app) simulate(ctx context.Context, spec *scenarios.Spec, out string, f *runFlags, capture *scenarios.CaptureOptions) (*runResult, error) {
	meter := a.newRunMeter(f)
	ctx, stop := a.interrupts(ctx, func() {
		meter.clear()
		fmt.Fprintln(a.stderr, "rdmasim: interrupted: keeping what was measured so far; interrupt again to stop at once")
	})
	defer stop()
	workers := f.workers
	if workers == 0 {
		workers = runtime.NumCPU()
	}
	res, err := a.run(ctx, spec, runOptions{Out: out, Workers: workers, Progress: meter.update, Capture: capture})
	meter.finish()
	var marked *exitError
	switch {
	case errors.As(err, &marked):
		return nil, err
	case err != nil:
		return nil, runError(fmt.Errorf("%s: %w", spec.Name, err))
	}
	return res, nil
}

// runDirectory returns the directory of a new run: out if it is given, else
// the first free runs/NAME-N. A directory with something in it is refused.
func runDirectory(out, name string) (string, error) {
	if out != "" {
		if err := trace.CheckNew(out); err != nil {
			return "", fmt.Errorf("--out %w", err)
		}
		return out, nil
	}
	return freeDirectory("runs", name)
}
