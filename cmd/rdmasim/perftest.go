package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rdmasim/reports/metric"
	"rdmasim/sim/trace"
)

func newPerftest(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "perftest DIR",
		Short: "Print the perftest workloads of a run as the tools of perftest do",
		Long: `Print what the perftest workloads of a run have measured in the columns of the
tools of perftest (ib_send_bw, ib_write_lat, ...), with their meaning: SEND and
WRITE latency is half of a round trip, READ and atomic latency is all of it;
bandwidth is in MiB/s. Percentiles are those of all messages.`,
		Example: "  rdmasim perftest runs/perftest-lat-1",
		Args:    exactArgs("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := printPerftest(a.stdout, args[0])
			if err == nil && n == 0 {
				err = fmt.Errorf("%s: no perftest workload has completed a message", args[0])
			}
			if err != nil {
				return inputError(err)
			}
			return nil
		},
	}
}

// printPerftest prints the results of a run directory and returns how many
// there are.
func printPerftest(w io.Writer, dir string) (int, error) {
	run, err := trace.Open(dir)
	if err != nil {
		return 0, err
	}
	list, err := metric.Perftests(run)
	if err != nil {
		return 0, err
	}
	title := ""
	for i := range list {
		p := &list[i]
		t := p.Tool + ", " + p.Service
		if p.Both {
			t += ", bidirectional"
		}
		if p.Label != "" {
			t += ", " + p.Label
		}
		head, line := p.Columns()
		if t != title {
			if title != "" {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "%s\n%s\n", t, head)
			title = t
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}
