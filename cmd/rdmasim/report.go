package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rdmasim/reports"
)

func newReport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "report DIR",
		Short:   "Draw the report of a run directory again",
		Long:    "Draw the report of a run directory again, from the directory alone.",
		Example: "  rdmasim report runs/incast-8to1-1",
		Args:    exactArgs("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			page, err := a.page(args[0])
			if err != nil {
				return inputError(err)
			}
			fmt.Fprintln(a.stdout, page)
			return nil
		},
	}
}

func newCompare(a *app) *cobra.Command {
	var out, normalise string
	cmd := &cobra.Command{
		Use:   "compare DIR DIR...",
		Short: "Compare two or more runs: metrics side by side, figures overlaid",
		Long: `Compare two or more runs: differences of their metrics, and their figures laid
over each other, as one page. The first run is the one that the others are
compared with.

With --normalise line-rate, rates are shares of the line rate of each run, and
times the bytes that a link of that rate carries in them, so that a run on slow or
emulated NICs and a simulation can lie on one another. The line rate is the one
that "rdmasim calibrate --save" has found, or else that of the hosts' links. A run on
hardware has no ideal times: its slowdowns are against those of a simulated run of
the same line rate.`,
		Example: "  rdmasim compare runs/dcqcn runs/swift --out runs/dcqcn-swift\n  rdmasim compare runs/measured runs/simulated --normalise line-rate",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("compare: want two or more run directories, not %d: usage: %s", len(args), cmd.UseLine())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if normalise != "" && normalise != "line-rate" {
				return inputError(fmt.Errorf("--normalise %s: want line-rate", normalise))
			}
			text, page, err := a.compare(args, out, reports.Options{LineRate: normalise != ""})
			if err != nil {
				return inputError(err)
			}
			fmt.Fprintf(a.stdout, "%s\n%s\n", strings.TrimRight(text, "\n"), page)
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "compare", "directory `DIR` of the comparison")
	cmd.Flags().StringVar(&normalise, "normalise", "", "`WHAT`: line-rate makes rates and times relative to the line rate of each run")
	return cmd
}
