package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rdmasim/reports/metric"
	"rdmasim/scenarios"
)

func newCheck(a *app) *cobra.Command {
	f := &loadFlags{}
	static := false
	cmd := &cobra.Command{
		Use:   "check SCENARIO",
		Short: "Validate a scenario and say what a run will cost",
		Long: `Validate a scenario without running it. Prints its fabric, whether its routes
make a deadlock of PFC possible and by which links, and the expected packet-hops,
wall time, memory and disk of a run.`,
		Example:           "  rdmasim check my.yaml\n  rdmasim check large.yaml --static",
		Args:              exactArgs("SCENARIO"),
		ValidArgsFunction: completeScenario(a),
		RunE: func(_ *cobra.Command, args []string) error {
			spec, err := a.load(args[0], f.settings())
			if err != nil {
				return inputError(err)
			}
			d, err := a.deadlock(spec)
			if err != nil {
				return inputError(err)
			}
			if static {
				return writeStatic(a.stdout, spec, d)
			}
			e, err := a.estimate(spec)
			if err != nil {
				return inputError(err)
			}
			return writeEstimate(a.stdout, spec, e, d)
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&static, "static", false, "only what routes say, without building the fabric: for fabrics of any size")
	return cmd
}

// writeEstimate writes what check found.
func writeEstimate(w io.Writer, spec *scenarios.Spec, e *estimate, d *scenarios.DeadlockCheck) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "scenario\t%s\tok\n", spec.Name)
	fmt.Fprintf(t, "fabric\t%s, %s, %s\n", plural(e.Hosts, "host"), plural(e.Switches, "switch"), plural(e.Links, "link"))
	for _, tier := range e.Tiers {
		fmt.Fprintf(t, "\t%s\n", tier)
	}
	writeDeadlock(t, d)
	fmt.Fprintf(t, "packet-hops\tabout %s\n", roughly(e.PacketHops))
	fmt.Fprintf(t, "wall time\t%s\n", aboutWall(e.WallSeconds))
	fmt.Fprintf(t, "memory\tabout %s\n", metric.Format(float64(e.MemoryBytes), metric.Bytes))
	fmt.Fprintf(t, "disk\tabout %s\n", metric.Format(float64(e.DiskBytes), metric.Bytes))
	for _, n := range e.Notes {
		fmt.Fprintf(t, "note\t%s\n", n)
	}
	return t.Flush()
}

// aboutWall prints an estimate of real time, given in seconds.
func aboutWall(s float64) string {
	if s < 0.05 {
		return "less than 0.1 s"
	}
	return "about " + wallClock(s)
}

// writeStatic writes what routes say.
func writeStatic(w io.Writer, spec *scenarios.Spec, d *scenarios.DeadlockCheck) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "scenario\t%s\tok\n", spec.Name)
	writeDeadlock(t, d)
	return t.Flush()
}

// writeDeadlock writes whether a deadlock is possible, and the first cycle link
// by link.
func writeDeadlock(t io.Writer, d *scenarios.DeadlockCheck) {
	fmt.Fprintf(t, "deadlock\t%s\n", d)
	for _, p := range d.Priorities {
		for i, link := range p.Cycle {
			if i == maxCycleLinks {
				fmt.Fprintf(t, "\t... %s more\n", plural(len(p.Cycle)-i, "link"))
				break
			}
			fmt.Fprintf(t, "\t%s\n", link)
		}
		if len(p.Cycle) > 0 {
			return
		}
	}
}

// maxCycleLinks bounds how much of a cycle is printed.
const maxCycleLinks = 64
