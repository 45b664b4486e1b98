package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rdmasim/reports/credibility"
	"rdmasim/scenarios"
	"rdmasim/scenarios/tune"
)

// tuneFlags are the flags of `rdmasim tune`.
type tuneFlags struct {
	out, budget  string
	jobs         int
	seed         uint64
	jsonProgress bool
	quiet, show  bool
	counters     []string // files of today's counters
	counter      counterFlags
	pairs        []credibility.PortPair // of counter
	flags        *pflag.FlagSet
}

const tuneLong = `Search the settings of a fabric that serve its traffic best.

PLAN is a YAML file, or the name of a plan that comes with the program
(tune-leafspine-100g): the scenario as it is today, the workloads that one setting
has to serve, the parameters with their ranges and the units of the device, what
is to be small or large, and what must hold.

Today's settings and the published baselines run first, on the same seeds as
every candidate. Successive halving over a Latin hypercube and CMA-ES search from
there. The best candidates then run beside today and the best baselines on seeds
that the search has not seen, and only one that beats all of them beyond the 95 %
confidence interval is recommended; otherwise the answer says that none does.

The directory is --out, by default tunes/NAME-1, tunes/NAME-2 and so on. Every
run is kept as it ends: after an interrupt or a kill, the same command with the
same --out goes on. With a budget in runs the result depends neither on --jobs nor
on interruptions; a budget in time is turned into runs at the pace of the machine.`

func newTune(a *app) *cobra.Command {
	f := &tuneFlags{}
	cmd := &cobra.Command{
		Use:   "tune PLAN",
		Short: "Search settings that beat today's and every published baseline",
		Long:  tuneLong,
		Example: `  rdmasim tune plan.yaml
  rdmasim tune plan.yaml --budget 30m --jobs 2 --out tunes/pod3
  rdmasim tune plan.yaml --budget 500runs --seed 7`,
		Args: exactArgs("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.tune(cmd.Context(), args[0], f) },
	}
	f.flags = cmd.Flags()
	cmd.Flags().StringVar(&f.out, "out", "", "directory `DIR` of the search (default tunes/NAME-N); one of the same plan is continued")
	cmd.Flags().StringVar(&f.budget, "budget", "", "`HOW MUCH` may be spent instead of the plan's: 500runs, or a time such as 30m")
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "`N` runs at a time, 0 for one per core; results do not depend on it")
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "first seed `N`, instead of the plan's")
	cmd.Flags().BoolVar(&f.jsonProgress, "json-progress", false, "progress as one JSON object per second on stderr")
	cmd.Flags().StringArrayVar(&f.counters, "today-counters", nil, "`FILE` of today's counters (repeatable), see rdmasim credibility: where they refute the simulated today, nothing is recommended")
	cmd.Flags().StringVar(&f.counter.interval, "counters-interval", "", "`TIME` that the counters cover, such as 60s")
	cmd.Flags().StringVar(&f.counter.node, "counters-node", "", "`PATTERN` of the switches that the counters are of")
	cmd.Flags().StringArrayVar(&f.counter.ports, "counters-ports", nil, portsUsage)
	cmd.Flags().BoolVar(&f.show, "show", false, "print the plan with every default spelt out, and run nothing")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return cmd
}

// tune is `rdmasim tune`.
func (a *app) tune(ctx context.Context, file string, f *tuneFlags) error {
	if f.jobs < 0 || f.jobs > maxWorkers {
		return inputError(fmt.Errorf("--jobs %d: want 0 (one per core) to %d", f.jobs, maxWorkers))
	}
	if f.budget != "" {
		if _, err := tune.ParseBudget(f.budget); err != nil {
			return inputError(fmt.Errorf("--budget %s: %w", f.budget, err))
		}
	}
	t, err := tune.Open(file)
	if err != nil {
		return inputError(err)
	}
	if f.show {
		text, err := t.Resolved()
		if err == nil {
			_, err = a.stdout.Write(text)
		}
		return err
	}
	today, err := f.today(t)
	if err != nil {
		return inputError(err)
	}
	o := tune.Options{Out: f.out, Jobs: f.jobs, Budget: f.budget, Version: version(), Command: f.command(file)}
	if f.flags.Changed("seed") {
		o.Seed = &f.seed
	}
	if o.Out == "" {
		if o.Out, err = freeDirectory("tunes", t.Name); err != nil {
			return inputError(err)
		}
	}
	meter := a.newTuneMeter(f)
	o.Progress = meter.update
	ctx, stop := a.interrupts(ctx, func() {
		meter.clear()
		fmt.Fprintf(a.stderr, "rdmasim: interrupted: what was run is kept in %s, and the same command with --out %s goes on; interrupt again to stop at once\n", o.Out, o.Out)
	})
	defer stop()
	r, err := t.Run(ctx, o)
	meter.finish()
	if input := new(tune.InputError); errors.As(err, &input) {
		return inputError(err)
	}
	if err != nil {
		return runError(fmt.Errorf("%s: %w", t.Name, err))
	}
	return a.tuneFinish(t, r, file, o.Out, today, f)
}

// today reads today's counters and checks that their ports are some of the
// scenario's; nil without any.
func (f *tuneFlags) today(t *tune.Tuning) (*credibility.Today, error) {
	if len(f.counters) == 0 {
		for flag, set := range map[string]bool{"--counters-interval": f.counter.interval != "", "--counters-node": f.counter.node != "", "--counters-ports": len(f.counter.ports) > 0} {
			if set {
				return nil, fmt.Errorf("%s needs --today-counters: there is nothing to compare", flag)
			}
		}
		return nil, nil
	}
	today, err := f.counter.read(f.counters)
	if err != nil {
		return nil, fmt.Errorf("--today-counters: %w", err)
	}
	if f.pairs, err = f.counter.pairs("--counters-ports"); err != nil {
		return nil, err
	}
	traffic, err := scenarios.PlanTraffic(t.Today())
	if err != nil {
		return nil, err
	}
	return today, credibility.CheckPorts(today, traffic.Topology, credibility.Options{Node: f.counter.node, Ports: f.pairs})
}

// command is what repeats the search.
func (f *tuneFlags) command(file string) string {
	text := "rdmasim tune " + file
	if f.budget != "" {
		text += " --budget " + f.budget
	}
	if f.flags.Changed("seed") {
		text += " --seed " + strconv.FormatUint(f.seed, 10)
	}
	return text
}
