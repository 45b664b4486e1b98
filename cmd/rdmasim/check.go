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
	f, c := &loadFlags{}, &captureFlags{}
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check SCENARIO",
		Short: "Validate a scenario, lint it, and say what a run will cost",
		Long: `Validate a scenario without running it. Prints its fabric, whether its routes
make a deadlock of PFC possible and by which links, the expected packet-hops,
wall time, memory and disk of a run, and what lint finds suspicious.
Files of SONiC (config_db.json and pieces of it) are linted without a scenario.`,
		Example: "  rdmasim check my.yaml\n  rdmasim check large.yaml --static\n  rdmasim check config_db.json\n  rdmasim check --rules",
		Args: func(cmd *cobra.Command, args []string) error {
			if o.rules && len(args) == 0 || len(args) > 1 && isSonic(args[0]) {
				return nil
			}
			return exactArgs("SCENARIO")(cmd, args)
		},
		ValidArgsFunction: completeScenario(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.rules:
				return writeRules(a.stdout, o.json)
			case isSonic(args[0]):
				return a.checkFiles(cmd.InOrStdin(), args, &o)
			}
			spec, err := a.load(args[0], f.settings())
			if err != nil {
				return inputError(err)
			}
			if o.capture, err = c.options(); err != nil {
				return inputError(err)
			}
			return a.checkScenario(spec, &o)
		},
	}
	f.register(cmd)
	c.register(cmd.Flags())
	cmd.Flags().BoolVar(&o.static, "static", false, "only what routes say, without building the fabric: for fabrics of any size")
	cmd.Flags().BoolVar(&o.json, "json", false, "print what was found as JSON")
	cmd.Flags().BoolVar(&o.rules, "rules", false, "list the rules of lint")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "exit code 1 if lint finds an error or a warning")
	cmd.Flags().StringVar(&o.platform, "platform", "", "of files of SONiC: `PLATFORM`, hwsku or ASIC, instead of that in the files")
	return cmd
}

// checkOptions are the flags of check.
type checkOptions struct {
	static, json, rules, strict bool
	platform                    string
	capture                     *scenarios.CaptureOptions
}

// checkFiles checks files of SONiC.
func (a *app) checkFiles(stdin io.Reader, names []string, o *checkOptions) error {
	found, err := checkSonic(stdin, names, o.platform)
	if err != nil {
		return inputError(err)
	}
	if o.json {
		err = writeJSON(a.stdout, checkJSON{Files: names, Findings: findingsJSON(found)})
	} else {
		err = writeFindings(a.stdout, found)
	}
	if err != nil {
		return err
	}
	return lintVerdict(found, o.strict)
}

// checkScenario checks a scenario that has been read.
func (a *app) checkScenario(spec *scenarios.Spec, o *checkOptions) error {
	d, err := a.deadlock(spec)
	if err != nil {
		return inputError(err)
	}
	var e *estimate
	if !o.static {
		if e, err = a.estimate(spec, o.capture); err != nil {
			return inputError(err)
		}
	}
	found := a.lint(spec)
	switch {
	case o.json:
		err = writeJSON(a.stdout, scenarioJSON(spec, e, d, found))
	case o.static:
		err = writeStatic(a.stdout, spec, d)
	default:
		err = writeEstimate(a.stdout, spec, e, d)
	}
	if err == nil && !o.json && len(found) > 0 {
		fmt.Fprintln(a.stdout)
		err = writeFindings(a.stdout, found)
	}
	if err != nil {
		return err
	}
	return lintVerdict(found, o.strict)
}

// writeEstimate writes what check found.
func writeEstimate(w io.Writer, spec *scenarios.Spec, e *estimate, d *scenarios.DeadlockCheck) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "scenario\t%s\tok\n", spec.Name)
	fmt.Fprintf(t, "fabric\t%s, %s, %s\n", metric.Counted(e.Hosts, "host"), metric.Counted(e.Switches, "switch"), metric.Counted(e.Links, "link"))
	for _, tier := range e.Tiers {
		fmt.Fprintf(t, "\t%s\n", tier)
	}
	writeDeadlock(t, d)
	fmt.Fprintf(t, "packet-hops\tabout %s\n", roughly(e.PacketHops))
	fmt.Fprintf(t, "wall time\t%s\n", aboutWall(e.WallSeconds))
	fmt.Fprintf(t, "memory\tabout %s\n", metric.Format(float64(e.MemoryBytes), metric.Bytes))
	disk := metric.Format(float64(e.DiskBytes), metric.Bytes)
	if e.CaptureBytes > 0 {
		disk += fmt.Sprintf(", of which %s are %s", metric.Format(float64(e.CaptureBytes), metric.Bytes), scenarios.FileCapture)
	}
	fmt.Fprintf(t, "disk\tabout %s\n", disk)
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
				fmt.Fprintf(t, "\t... %s more\n", metric.Counted(len(p.Cycle)-i, "link"))
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
