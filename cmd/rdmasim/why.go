package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"rdmasim/reports/metric"
	"rdmasim/sim/trace"
)

func newWhy(a *app) *cobra.Command {
	flow := ""
	cmd := &cobra.Command{
		Use:   "why DIR",
		Short: "Say why a run, or one message of it, is slow",
		Long: `Say why a run is slow, from its directory: where the time of its messages went,
by cause and with evidence; which roots its pauses had, whom they stopped and who
lost by them; and deadlocks. With --flow the same of one message.`,
		Example: "  rdmasim why runs/victim-flow-1\n  rdmasim why runs/victim-flow-1 --flow worst",
		Args:    exactArgs("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			id := uint64(0)
			if flow != "" && flow != "worst" {
				var err error
				if id, err = strconv.ParseUint(flow, 10, 64); err != nil || id == 0 {
					return inputError(fmt.Errorf("--flow %q: want the number of a message, as in the first column of flows.csv, or worst", flow))
				}
			}
			if err := a.why(a.stdout, args[0], flow != "", id); err != nil {
				return inputError(err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&flow, "flow", "", "one message, by its `ID` in flows.csv; worst is the one that lost most time")
	return cmd
}

// realWhy writes why a run, or one message of it, is slow; id 0 is the worst.
func realWhy(w io.Writer, dir string, one bool, id uint64) error {
	run, err := trace.Open(dir)
	if err != nil {
		return err
	}
	if one {
		return metric.WhyFlow(w, run, id)
	}
	return metric.Why(w, run)
}
