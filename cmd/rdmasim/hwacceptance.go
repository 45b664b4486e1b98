package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios"
	"rdmasim/scenarios/hardware"
	"rdmasim/sim"
)

const hwAcceptanceLong = `Test two devices of this machine: the settings of the host, the latency without
load, load with what it costs in processor time, then faults: receives that are
late, a loss of 1 %, and a path on which nothing passes. The folder has index.html
and acceptance.json with the verdict, and the run directory of every step.

Faults that need the kernel's queues are skipped on NICs that bypass them. Exit
code 1 if a step fails.`

func newHWAcceptance(a *app) *cobra.Command {
	o := hardware.AcceptanceOptions{}
	var profile, p99, goodput string
	var noReport bool
	cmd := &cobra.Command{
		Use:     "acceptance [FROM TO]",
		Short:   "Test two devices: settings, latency, load, faults; one verdict",
		Long:    hwAcceptanceLong,
		Example: "  rdmasim hw acceptance mlx5_0 mlx5_1 --max-p99 10us --min-goodput 380Gbps",
		Args:    cobra.MaximumNArgs(2),
	}
	f := cmd.Flags()
	f.StringVar(&o.Out, "out", "", "folder `DIR` of the report (default runs/acceptance-N)")
	f.BoolVar(&noReport, "no-report", false, "do not draw the reports of the steps")
	f.StringVar(&profile, "profile", "lossless", "`DESIGN`: lossless, semi-lossless or lossy")
	f.IntVar(&o.Count, "count", 1000, "`N` pings per size, and messages of the load")
	f.StringVar(&p99, "max-p99", "", "fail if the 99th percentile of a round trip of 64 bytes is above this `TIME`")
	f.StringVar(&goodput, "min-goodput", "", "fail if the load carries less payload than this `RATE`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return inputError(fmt.Errorf("hw acceptance %s: give both devices, or none", args[0]))
		}
		if len(args) == 2 {
			o.From, o.To = args[0], args[1]
		}
		if err := acceptanceOptions(&o, profile, p99, goodput); err != nil {
			return inputError(err)
		}
		var err error
		if o.Out, err = runDirectory(o.Out, "acceptance"); err != nil {
			return inputError(err)
		}
		o.Version, o.Log = version(), a.stderr
		if !noReport {
			o.Draw = func(dir string) error {
				_, err := a.page(dir)
				return err
			}
		}
		ctx, stop := a.interrupts(cmd.Context(), func() {})
		defer stop()
		r, err := hardware.Accept(ctx, o)
		if input := new(scenarios.InputError); errors.As(err, &input) {
			return inputError(err)
		}
		if err != nil {
			return runError(err)
		}
		for _, s := range r.Steps {
			fmt.Fprintf(a.stdout, "%-8s %-22s %s\n", s.Verdict, s.Name, strings.Join(s.Text, "\n"+strings.Repeat(" ", 32)))
		}
		fmt.Fprintf(a.stdout, "\n%s: %s and %s, report in %s\n", r.Verdict, r.From, r.To, o.Out+"/index.html")
		if r.Verdict == hardware.Fail {
			return &exitError{code: exitExpect}
		}
		return nil
	}
	return cmd
}

// acceptanceOptions reads the flags that are text.
func acceptanceOptions(o *hardware.AcceptanceOptions, profile, p99, goodput string) (err error) {
	o.Profile = netem.Profile(profile)
	if !slices.Contains([]netem.Profile{netem.Lossless, netem.SemiLossless, netem.Lossy}, o.Profile) {
		return fmt.Errorf("--profile %s: want lossless, semi-lossless or lossy", profile)
	}
	if o.Count < 1 || o.Count > 1_000_000 {
		return fmt.Errorf("--count %d: want 1 to 1000000", o.Count)
	}
	if p99 != "" {
		if o.MaxP99, err = sim.ParseDuration(p99); err != nil || o.MaxP99 <= 0 {
			return fmt.Errorf("--max-p99 %s: want a time such as 20us", p99)
		}
	}
	if goodput != "" {
		if o.MinGoodput, err = sim.ParseRate(goodput); err != nil || o.MinGoodput <= 0 {
			return fmt.Errorf("--min-goodput %s: want a rate such as 90Gbps", goodput)
		}
	}
	return nil
}
