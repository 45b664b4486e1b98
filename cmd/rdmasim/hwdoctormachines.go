package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios/hardware"
)

// doctorMachines is `rdmasim hw doctor MACHINE...`.
func (a *app) doctorMachines(ctx context.Context, machines []string, o hardware.DoctorOptions, asJSON bool) error {
	seen := map[string]bool{}
	for _, m := range machines {
		switch {
		case m == "" || strings.HasPrefix(m, "-") || strings.ContainsAny(m, " \t\n"):
			return inputError(fmt.Errorf("machine %q: want a name for ssh", m))
		case seen[m]:
			return inputError(fmt.Errorf("machine %s: given twice", m))
		}
		seen[m] = true
	}
	ctx, stop := a.interrupts(ctx, func() {})
	defer stop()
	x, err := hardware.Doctor(ctx, machines, o)
	if err != nil {
		return runError(err)
	}
	if asJSON {
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", "  ")
		err = e.Encode(x)
	} else if err = a.printFindings(x.Findings); err == nil {
		err = printReach(a.stdout, x)
	}
	if err != nil {
		return runError(err)
	}
	if slices.ContainsFunc(x.Findings, func(f netem.Finding) bool { return f.Severity == netem.Fault }) {
		return &exitError{code: exitExpect}
	}
	return nil
}

// widestMatrix is how many devices fit into a table; of more, the findings name
// the pairs that fail, and JSON has all.
const widestMatrix = 24

func printReach(w io.Writer, x *hardware.Examined) error {
	n := len(x.Reach)
	if n < 2 || n > widestMatrix {
		return nil
	}
	fmt.Fprintln(w, "\nmessages from row to column: ok = a short one and one of the path MTU arrive, short = the short one alone")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for k := range n {
		fmt.Fprintf(t, "\t%d", k+1)
	}
	fmt.Fprintln(t, "\t")
	for i, name := range x.Devices {
		fmt.Fprintf(t, "%s %d", name, i+1)
		for _, r := range x.Reach[i] {
			text := string(r)
			if r == hardware.ReachSelf {
				text = "-"
			}
			fmt.Fprintf(t, "\t%s", text)
		}
		fmt.Fprintln(t, "\t")
	}
	return t.Flush()
}
