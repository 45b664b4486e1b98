package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	drawing "rdmasim/reports/figure"
	"rdmasim/scenarios/validation"
	"rdmasim/sim/trace"
)

// validateFlags are the flags of `rdmasim validate`.
type validateFlags struct {
	only          []string
	quick, full   bool
	seeds         int
	workers       int
	out           string
	explain, show string
	into          string
	asJSON        bool
}

const validateLong = `Reproduce the published numbers that a correct model must show, and print them
beside what was expected, from which source, and within which tolerance.

Each row of the table runs ordinary scenarios. --explain ID says which, and what
they are compared with; --show FILE prints one of them, to be changed and run.
--quick takes less than two minutes; --full, the default, runs every point with
more seeds. The exit code is 1 if a row that is a gate does not hold.`

func newValidate(a *app) *cobra.Command {
	f := &validateFlags{}
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Reproduce the published numbers that a correct model must show",
		Long:  validateLong,
		Example: `  rdmasim validate --quick
  rdmasim validate --only D1,P2 --seeds 10 --out validation
  rdmasim validate --explain B3`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.validate(cmd.Context(), f) },
	}
	cmd.Flags().StringSliceVar(&f.only, "only", nil, "these rows, by `ID,ID`")
	cmd.Flags().BoolVar(&f.quick, "quick", false, "fewer points and seeds: less than two minutes")
	cmd.Flags().BoolVar(&f.full, "full", false, "every point and seed (the default)")
	cmd.Flags().IntVar(&f.seeds, "seeds", 0, "`N` replicates of every random quantity, 2 or more; 0 = 3 with --quick, else 5")
	cmd.Flags().IntVar(&f.workers, "workers", 0, "`N` runs at the same time, 0 = one per core; results do not depend on it")
	cmd.Flags().StringVar(&f.out, "out", "", "leave table, curves, figures and all run directories in `DIR`")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print rows, checks and curves as JSON instead of the table")
	cmd.Flags().StringVar(&f.explain, "explain", "", "print what the row or the oracle `ID` is, from whom, and which scenarios a row runs")
	cmd.Flags().StringVar(&f.show, "show", "", "print the scenario `FILE` of a row")
	cmd.Flags().StringVar(&f.into, "into", "", "write the table into a Markdown `FILE`, between its lines <!-- table --> and <!-- end -->")
	cmd.MarkFlagsMutuallyExclusive("quick", "full")
	return cmd
}

// validate is `rdmasim validate`.
func (a *app) validate(ctx context.Context, f *validateFlags) error {
	switch {
	case f.show != "":
		text, err := validation.Scenario(f.show)
		if err != nil {
			return inputError(fmt.Errorf("--show: %w", err))
		}
		_, err = a.stdout.Write(text)
		return err
	case f.explain != "":
		return a.explain(f.explain)
	}
	if err := f.check(); err != nil {
		return inputError(err)
	}
	ctx, stop := a.interrupts(ctx, func() {
		fmt.Fprintln(a.stderr, "rdmasim: interrupted: keeping the rows that have been measured; interrupt again to stop at once")
	})
	defer stop()
	o := validation.Options{Level: validation.Full, Only: f.only, Seeds: f.seeds, Workers: f.workers, Out: f.out, Version: version(), Progress: a.validationProgress()}
	if f.quick {
		o.Level = validation.Quick
	}
	rep, err := a.product.validate(ctx, o)
	if rep == nil {
		return runError(err)
	}
	partial := err
	if partial != nil {
		f.into = "" // a table of some rows takes nobody's place
	}
	if err := a.leave(rep, f); err != nil {
		return runError(err)
	}
	print := rep.Text
	if f.asJSON {
		print = rep.JSON
	}
	if err := print(a.stdout); err != nil {
		return runError(err)
	}
	switch {
	case partial != nil:
		return runError(fmt.Errorf("%w: %d of %d rows were measured", context.Cause(ctx), len(rep.Results), cmp.Or(len(f.only), len(validation.IDs()))))
	case rep.Failed() > 0:
		return &exitError{exitExpect, nil}
	}
	return nil
}

// check refuses what would only be found when everything has been measured.
func (f *validateFlags) check() error {
	switch {
	case f.seeds < 0 || f.seeds == 1 || f.seeds > maxReplications:
		return fmt.Errorf("--seeds %d: want 2 to %d, or 0", f.seeds, maxReplications)
	case f.workers < 0 || f.workers > maxWorkers:
		return fmt.Errorf("--workers %d: want 0 (one per core) to %d", f.workers, maxWorkers)
	}
	for i, id := range f.only {
		if _, err := validation.Lookup(id); err != nil {
			return fmt.Errorf("--only: %w", err)
		}
		if slices.Contains(f.only[:i], id) {
			return fmt.Errorf("--only: %s stands there twice: want each row once", id)
		}
	}
	if f.into != "" {
		old, err := os.ReadFile(f.into)
		if err != nil {
			return fmt.Errorf("--into: %w", err)
		}
		if _, err := between(string(old), func(io.Writer) error { return nil }); err != nil {
			return fmt.Errorf("--into %s: %w", f.into, err)
		}
	}
	if f.out == "" {
		return nil
	}
	if err := trace.CheckNew(f.out); err != nil {
		return fmt.Errorf("--out %w", err)
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return fmt.Errorf("--out: %w: want a new directory", err)
	}
	return nil
}

// maxReplications bounds replicates.
const maxReplications = 1000

// validationProgress tells a terminal which row has been measured.
func (a *app) validationProgress() func(*validation.Result) {
	if !a.terminal {
		return nil
	}
	return func(done *validation.Result) {
		if done.Lacks == "" {
			fmt.Fprintf(a.stderr, "%s %.1f s\n", done.ID, done.Wall)
		}
	}
}

// explain prints the oracle of a row, or one oracle.
func (a *app) explain(id string) error {
	text, err := validation.Explain(id)
	if err != nil {
		return inputError(fmt.Errorf("--explain: %w", err))
	}
	_, err = io.WriteString(a.stdout, text)
	return err
}

// leave writes what the flags ask for beside the table.
func (a *app) leave(rep *validation.Report, f *validateFlags) error {
	if f.out != "" {
		if err := rep.Write(f.out); err != nil {
			return err
		}
		if err := drawCurves(rep, filepath.Join(f.out, validation.DirFigures)); err != nil {
			return err
		}
	}
	if f.into == "" {
		return nil
	}
	old, err := os.ReadFile(f.into)
	if err != nil {
		return err
	}
	text, err := between(string(old), func(w io.Writer) error { return rep.Markdown(w, "") })
	if err != nil {
		return fmt.Errorf("--into %s: %w", f.into, err)
	}
	return os.WriteFile(f.into, []byte(text), 0o666)
}

// between replaces what stands between the two markers of a page.
func between(page string, write func(io.Writer) error) (string, error) {
	const begin, end = "<!-- table -->\n", "<!-- end -->"
	i := strings.Index(page, begin)
	j := strings.Index(page, end)
	if i < 0 || j < i {
		return "", fmt.Errorf("has no lines %q and %q", strings.TrimSpace(begin), end)
	}
	var b strings.Builder
	b.WriteString(page[:i+len(begin)] + "\n")
	if err := write(&b); err != nil {
		return "", err
	}
	b.WriteString("\n" + page[j:])
	return b.String(), nil
}

// drawCurves draws every curve of a validation into a directory.
func drawCurves(rep *validation.Report, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, r := range rep.Results {
		for _, c := range r.Curves {
			g := drawing.Curve{Name: c.Name, Title: c.Title, XLabel: c.X.Label, YLabel: c.Y.Label, XLog: c.X.Log, YLog: c.Y.Log}
			for _, l := range c.Lines {
				g.Lines = append(g.Lines, drawing.CurveLine{Name: l.Name, Smooth: l.Oracle, X: l.X, Y: l.Y, Half: l.Half})
			}
			f := g.Figure()
			if err := os.WriteFile(filepath.Join(dir, c.Name+".svg"), f.SVG(), 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}
