package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
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
	out := ""
	cmd := &cobra.Command{
		Use:   "compare DIR DIR...",
		Short: "Compare two or more runs: metrics side by side, figures overlaid",
		Long: `Compare two or more runs: differences of their metrics, and their figures laid
over each other, as one page. The first run is the one that the others are
compared with.`,
		Example: "  rdmasim compare runs/dcqcn runs/swift --out runs/dcqcn-swift",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("compare: want two or more run directories, not %d: usage: %s", len(args), cmd.UseLine())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			text, page, err := a.compare(args, out)
			if err != nil {
				return inputError(err)
			}
			fmt.Fprintf(a.stdout, "%s\n%s\n", strings.TrimRight(text, "\n"), page)
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "compare", "directory `DIR` of the comparison")
	return cmd
}
