package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	figures "rdmasim/reports/figure"
	"rdmasim/reports/tuning"
	"rdmasim/scenarios"
	"rdmasim/scenarios/closedform"
	"rdmasim/sim/trace"
)

const estimateLong = `Answer from closed forms, in milliseconds and without a run: the first burst and
the largest one that no pause answers, headroom, the bound below which ECN marks
before PFC pauses, and where DCQCN settles, how fast, and how safely.

Each answer has its formula, its inputs, its source, and the limit within which
it holds. Where a scenario lies outside of that limit, there is no number.`

func newEstimate(a *app) *cobra.Command {
	f := &loadFlags{}
	asJSON, short := false, false
	cmd := &cobra.Command{
		Use:   "estimate SCENARIO",
		Short: "Answer from closed forms, in milliseconds, with the limits of each",
		Long:  estimateLong,
		Example: `  rdmasim estimate incast-8to1
  rdmasim estimate my.yaml --set switch.ecn.3.kmin=100KB --short
  rdmasim estimate my.yaml --json`,
		Args:              exactArgs("SCENARIO"),
		ValidArgsFunction: completeScenario(a),
		RunE: func(_ *cobra.Command, args []string) error {
			spec, err := a.load(args[0], f.settings())
			if err != nil {
				return inputError(err)
			}
			e, err := closedform.Estimate(spec)
			if err != nil {
				return inputError(err)
			}
			if asJSON {
				j := json.NewEncoder(a.stdout)
				j.SetEscapeHTML(false)
				j.SetIndent("", "  ")
				return j.Encode(e)
			}
			writeEstimates(a.stdout, e, short)
			return nil
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&short, "short", false, "only questions and answers")
	return cmd
}

// writeEstimates prints question, answer, what it means and where it is from.
func writeEstimates(w io.Writer, e *tuning.Estimates, short bool) {
	plain := strings.NewReplacer("\u00a0", " ", "\u202f", " ", "µ", "u", "°", " degrees").Replace
	if e.Where != "" {
		fmt.Fprintf(w, "%s\n", plain(fmt.Sprintf("%s: %s at %s, %s each", e.Scenario, figures.Count(e.Flows, "flow"), e.Where, figures.Bitrate(e.Share))))
	}
	width := 0
	for _, x := range e.Items {
		width = max(width, len(x.Name))
	}
	shown := map[string]string{}
	for i := range e.Items {
		x := &e.Items[i]
		if !short {
			fmt.Fprintln(w)
		}
		answer := "not valid: " + x.Why
		if x.Value != nil {
			answer = strings.TrimSpace(x.Bound + " " + plain(figures.Quantity(*x.Value, x.Unit)))
			if x.Bound == "" {
				answer = plain(figures.Quantity(*x.Value, x.Unit))
			}
		}
		fmt.Fprintf(w, "%-*s  %s\n", width, x.Name, answer)
		if short {
			continue
		}
		if x.Text != "" && x.Valid {
			fmt.Fprintf(w, "    %s\n", plain(x.Text))
		}
		if first, ok := shown[x.Formula]; ok {
			fmt.Fprintf(w, "    formula, source and limit as for: %s\n", first)
			continue
		}
		shown[x.Formula] = x.Name
		fmt.Fprintf(w, "    formula  %s\n", strings.ReplaceAll(x.Formula, "\n", "\n             "))
		var in []string
		for _, v := range x.Inputs {
			in = append(in, v.Name+" = "+plain(figures.Quantity(v.Value, v.Unit)))
		}
		if len(in) > 0 {
			fmt.Fprintf(w, "    with     %s\n", strings.Join(in, ", "))
		}
		fmt.Fprintf(w, "    source   %s\n", x.Source)
		fmt.Fprintf(w, "    holds    %s\n", x.Limit)
	}
	for _, n := range e.Notes {
		fmt.Fprintf(w, "\nnote: %s\n", n)
	}
}

// maxEstimated bounds the fabrics whose runs get an estimate of their own.
const maxEstimated = 1024 // hosts and switches

// estimateInto writes estimate.json into a run directory whose report draws it
// beside what was simulated, unless the fabric is so large that it takes long.
func estimateInto(dir string, spec *scenarios.Spec) error {
	if n, err := nodesOf(dir); err != nil || n > maxEstimated {
		return err
	}
	e, err := closedform.Estimate(spec)
	if err != nil || len(e.Items) == 0 {
		return nil // the run is what was asked for
	}
	return e.Write(dir)
}

// nodesOf counts the nodes of a run's fabric.
func nodesOf(dir string) (int, error) {
	r, err := trace.Open(dir)
	if err != nil {
		return 0, err
	}
	return len(r.Topology.Nodes), nil
}
