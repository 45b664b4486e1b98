package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rdmasim/scenarios"
	"rdmasim/scenarios/calibrate"
	"rdmasim/sim/trace"
)

// calibrateFlags are the flags of `rdmasim calibrate`.
type calibrateFlags struct {
	fit, out, scenario string
	predict            []string
	json, quiet, save  bool
}

const calibrateLong = `Fit the simulated NIC and links to a measured run.

The scenario of RUN is simulated with other values until its messages take as
long, and come as fast, as the measured ones: latency where messages go one after
the other, messages per second where many are outstanding. What comes out is a
part of a scenario, with a 95 % interval for each value; a value that the run does
not determine is named and left out. Stalls say which timeout policy the NIC has,
and under DCQCN the number of CNPs how far apart it keeps them.

Give a run with several sizes, one after the other and many at once (see
rdmasim show perftest-lat and perftest-bw). With --predict the fitted values are
tried on another run, whose messages had no part in the fit.`

func newCalibrate(a *app) *cobra.Command {
	f := &calibrateFlags{}
	cmd := &cobra.Command{
		Use:     "calibrate RUN",
		Short:   "Fit the simulated NIC and links to a measured run",
		Long:    calibrateLong,
		Example: "  rdmasim calibrate runs/lab-1 --out nic.yaml\n  rdmasim calibrate runs/lab-1 --predict runs/lab-2",
		Args:    exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.calibrate(cmd.Context(), args[0], f)
		},
	}
	var names []string
	for i := range calibrate.Params {
		names = append(names, calibrate.Params[i].Name)
	}
	cmd.Flags().StringVar(&f.fit, "fit", "", "fit these values only: `NAMES` of "+strings.Join(names, ", ")+" (default rate,delay,post)")
	cmd.Flags().StringArrayVar(&f.predict, "predict", nil, "try the result on another run `DIR` (repeatable)")
	cmd.Flags().StringVar(&f.out, "out", "", "write the part of a scenario to `FILE` instead of printing it")
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "simulate `SCENARIO` instead of that in RUN: its traffic must be the same")
	cmd.Flags().BoolVar(&f.save, "save", false, "keep the values in RUN and in the runs of --predict, as calibration.json, for compare --normalise line-rate")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	cmd.Flags().BoolVar(&f.json, "json", false, "print everything as JSON")
	return cmd
}

// reactionPoint are words under which a fit of congestion control is asked for.
var reactionPoint = []string{"dcqcn", "congestion", "rai", "alpha", "g", "cnp_interval"}

// refuseReaction says why congestion control of a run cannot be fitted.
func refuseReaction(run *trace.Run, fit string) error {
	for _, name := range strings.Split(fit, ",") {
		if !slices.Contains(reactionPoint, strings.TrimSpace(name)) {
			continue
		}
		for _, k := range slices.Sorted(maps.Keys(run.Manifest.Versions)) {
			if v := run.Manifest.Versions[k]; strings.HasPrefix(k, "device of ") && strings.Contains(v, "rxe") {
				return fmt.Errorf("--fit %s: refused: %s is %s, and Soft-RoCE neither reacts to CNPs nor sends them: its rates say nothing of DCQCN", name, strings.TrimPrefix(k, "device of "), v)
			}
		}
		if strings.TrimSpace(name) != "cnp_interval" {
			return fmt.Errorf("--fit %s: not supported: of DCQCN only cnp_interval is fitted; a run does not record the rates that a NIC sets itself", name)
		}
	}
	return nil
}

func (a *app) calibrate(ctx context.Context, dir string, f *calibrateFlags) error {
	run, err := trace.Open(dir)
	if err != nil {
		return inputError(err)
	}
	if err := refuseReaction(run, f.fit); err != nil {
		return inputError(err)
	}
	if _, err := calibrate.Choose(f.fit); err != nil {
		return inputError(err)
	}
	if f.out != "" {
		if _, err := os.Stat(f.out); err == nil {
			return inputError(fmt.Errorf("--out %s exists: it is not written over", f.out))
		}
	}
	others := make([]*trace.Run, len(f.predict))
	for i, p := range f.predict {
		if others[i], err = trace.Open(p); err != nil {
			return inputError(err)
		}
	}
	res, err := calibrate.Fit(ctx, run, calibrate.Options{Names: f.fit, Scenario: f.scenario, Version: version(), Progress: func(round int, misfit float64) {
		if !f.quiet {
			fmt.Fprintf(a.stderr, "round %d: off by %.2f %% on average\n", round, 100*misfit)
		}
	}})
	if err != nil {
		return calibrateError(err)
	}
	out := calibrationJSON(dir, res)
	for i, r := range others {
		list, err := calibrate.Predict(ctx, r, res, version())
		if err != nil {
			return calibrateError(err)
		}
		out.Predictions = append(out.Predictions, predictionJSON(f.predict[i], list))
	}
	if f.out != "" {
		if err := os.WriteFile(f.out, []byte(res.YAML()), 0o644); err != nil { //nolint:gosec // a part of a scenario is for everybody
			return runError(err)
		}
	}
	if f.save {
		for _, r := range append([]*trace.Run{run}, others...) {
			if err := saveCalibration(r, res); err != nil {
				return runError(err)
			}
		}
	}
	if f.json {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return runError(enc.Encode(out))
	}
	if f.out == "" {
		fmt.Fprint(a.stdout, res.YAML(), "\n")
	}
	return runError(printCalibration(a.stdout, out))
}

// saveCalibration writes what was fitted into a run.
func saveCalibration(r *trace.Run, res *calibrate.Result) error {
	c := trace.Calibration{Values: []trace.CalibratedValue{}}
	for _, p := range res.Params {
		if p.Known {
			c.Values = append(c.Values, trace.CalibratedValue{Name: p.Param.Name, Value: p.Value, Low: p.Low, High: p.High})
		}
	}
	b, err := trace.EncodeJSON(c)
	if err != nil {
		return err
	}
	return os.WriteFile(r.Path(trace.FileCalibration), b, 0o644) //nolint:gosec // as all files of a run
}

// calibrateError tells what is wrong with the run from what went wrong here.
func calibrateError(err error) error {
	var in *scenarios.InputError
	if errors.As(err, &in) || errors.Is(err, calibrate.ErrNothing) || errors.Is(err, calibrate.ErrNoCNPs) {
		return inputError(err)
	}
	return runError(err)
}

// calibration is what --json prints.
type calibration struct {
	Run         string           `json:"run"`
	Misfit      float64          `json:"misfit"` // root mean square of ln(simulated / measured)
	Simulations int              `json:"simulations"`
	Params      []fittedJSON     `json:"params"`
	Timeouts    *timeoutsJSON    `json:"timeouts"` // null = not measured
	Figures     []figureJSON     `json:"figures"`
	Predictions []predictionFile `json:"predictions,omitempty"`
}

type fittedJSON struct {
	Name       string   `json:"name"`
	Determined bool     `json:"determined"`
	Value      *float64 `json:"value"` // SI units, null = not determined
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
}

type timeoutsJSON struct {
	Stalls    int     `json:"stalls"`
	Policy    string  `json:"policy"`
	Exponent  *int    `json:"exponent"`
	Explained float64 `json:"explained"`
}

type figureJSON struct {
	Group     string  `json:"group"`
	Kind      string  `json:"kind"`
	Messages  int     `json:"messages"`
	Measured  float64 `json:"measured"`
	Simulated float64 `json:"simulated"`

	what, measured, simulated string
}

type predictionFile struct {
	Run     string       `json:"run"`
	Figures []figureJSON `json:"figures"`
}

func calibrationJSON(dir string, r *calibrate.Result) *calibration {
	c := &calibration{Run: dir, Misfit: r.Misfit, Simulations: r.Simulations}
	for _, p := range r.Params {
		j := fittedJSON{Name: p.Param.Name, Determined: p.Known}
		if p.Known {
			j.Value, j.Low, j.High = &p.Value, &p.Low, &p.High
		}
		c.Params = append(c.Params, j)
	}
	if t := r.Timeouts; t != nil {
		c.Timeouts = &timeoutsJSON{Stalls: t.Stalls, Policy: t.Policy, Explained: t.Explained}
		if t.Exponent > 0 {
			c.Timeouts.Exponent = &t.Exponent
		}
	}
	for i := range r.Observations {
		c.Figures = append(c.Figures, figureOf(&r.Observations[i], r.Simulated[i]))
	}
	return c
}

func figureOf(o *calibrate.Observation, v float64) figureJSON {
	return figureJSON{Group: o.Group.String(), Kind: o.Kind, Messages: o.Messages, Measured: o.Value, Simulated: v,
		what: o.Group.String(), measured: o.Print(o.Value), simulated: o.Print(v)}
}

func predictionJSON(dir string, list []calibrate.Prediction) predictionFile {
	p := predictionFile{Run: dir}
	for i := range list {
		p.Figures = append(p.Figures, figureOf(&list[i].Observation, list[i].Predicted))
	}
	return p
}

func printCalibration(w io.Writer, c *calibration) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	table := func(title, last string, list []figureJSON) {
		fmt.Fprintf(t, "%s\t%s\t%s\toff by\n", title, "measured", last)
		for _, f := range list {
			fmt.Fprintf(t, "%s, %s\t%s\t%s\t%+.1f %%\n", f.what, f.Kind, f.measured, f.simulated, 100*(f.Simulated/f.Measured-1))
		}
	}
	table("messages of "+c.Run, "simulated", c.Figures)
	for _, p := range c.Predictions {
		fmt.Fprintln(t)
		table("messages of "+p.Run, "predicted", p.Figures)
	}
	return t.Flush()
}
