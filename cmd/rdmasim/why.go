package main

import (
	"fmt"
	"io"

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
		Example: "  rdmasim why runs/victim-flow-1\n  rdmasim why runs/victim-flow-1 --flow worst\n  rdmasim why runs/victim-flow-1 --flow h6#7",
		Args:    exactArgs("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			var which *trace.Message
			if flow != "" && flow != "worst" {
				m, err := trace.ParseMessage(flow)
				if err != nil {
					return inputError(fmt.Errorf("--flow %w, or worst", err))
				}
				which = &m
			}
			if err := a.why(a.stdout, args[0], flow != "", which); err != nil {
				return inputError(err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&flow, "flow", "", "one `MESSAGE`, such as h6#7, the seventh of host h6, or its id in flows.csv; worst is the one that lost most time")
	return cmd
}

// realWhy writes why a run, or one message of it, is slow; nil is the worst.
func realWhy(w io.Writer, dir string, one bool, which *trace.Message) error {
	run, err := trace.Open(dir)
	if err != nil {
		return err
	}
	if one {
		return metric.WhyFlow(w, run, which)
	}
	return metric.Why(w, run)
}
