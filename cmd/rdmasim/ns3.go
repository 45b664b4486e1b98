package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rdmasim/scenarios"
	"rdmasim/scenarios/reference"
)

// ns3Flags are the flags of `rdmasim ns3`.
type ns3Flags struct {
	seeds     int
	trueModel bool
	counts    string
	out       string
}

// maxSeeds bounds --seeds.
const maxSeeds = 1000

const ns3Long = `Run cases of the HPCC ns-3 simulator and compare with its results.

DIR holds a config.txt, the files that it names, and the FCT files of other
simulators as fct_NAME.txt; or it holds directories of that kind. Each case runs
under --compat hpcc; where marking draws random numbers, with several seeds.

A case without random numbers has to have the mean FCT of fct_hpcc.txt within
0.5 %. Of the others, the median over seeds of the mean FCT has to lie between
0.94 times the smallest and 1.06 times the largest of the results there, the p99
between 0.75 and 1.25 times. Flows and bytes are exact, and nothing is dropped in
a lossless class. Exit code 1 says that a case fails.`

func newNS3(a *app) *cobra.Command {
	f := &ns3Flags{}
	cmd := &cobra.Command{
		Use:   "ns3 DIR...",
		Short: "Run cases of the HPCC ns-3 simulator and compare with its results",
		Long:  ns3Long,
		Example: `  rdmasim ns3 simulation/incast simulation/victim
  rdmasim ns3 cases --seeds 10 --true-model --out comparison.md`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("ns3: DIR is missing: usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.ns3(cmd.Context(), args, f) },
	}
	cmd.Flags().IntVar(&f.seeds, "seeds", 10, "`N` runs of each case that draws random numbers, with seeds 1 to N")
	cmd.Flags().BoolVar(&f.trueModel, "true-model", false, "also run every case without --compat hpcc")
	cmd.Flags().StringVar(&f.counts, "counts", "", "`FILE` in CSV with pauses, marks, queues and drops that the other simulators reported")
	cmd.Flags().StringVar(&f.out, "out", "", "write the tables into this Markdown `FILE`, between its marks, instead of printing them")
	return cmd
}

// ns3 is `rdmasim ns3`.
func (a *app) ns3(ctx context.Context, dirs []string, f *ns3Flags) error {
	if f.seeds < 1 || f.seeds > maxSeeds {
		return inputError(fmt.Errorf("--seeds %d: want 1 to %d", f.seeds, maxSeeds))
	}
	doc := &reference.Document{Command: f.command(dirs), Version: version()}
	if f.counts != "" {
		text, err := os.ReadFile(f.counts)
		if err != nil {
			return inputError(err)
		}
		if doc.Counts, err = reference.ParseCounts(f.counts, string(text)); err != nil {
			return inputError(err)
		}
	}
	page, err := pageFor(f.out)
	if err != nil {
		return inputError(err)
	}
	if _, err := doc.Insert(page); f.out != "" && err != nil {
		return inputError(fmt.Errorf("--out %s: %w", f.out, err))
	}
	var cases []*reference.Case
	for _, d := range reference.Expand(dirs) {
		c, err := reference.Open(d)
		if err != nil {
			return inputError(err)
		}
		cases = append(cases, c)
	}
	ctx, stop := a.interrupts(ctx, func() { fmt.Fprintln(a.stderr, "rdmasim: interrupted") })
	defer stop()
	failed, err := a.runCases(ctx, cases, f, doc)
	if err != nil {
		return runError(err)
	}
	if err := a.writeDocument(doc, f.out, page); err != nil {
		return runError(err)
	}
	if failed > 0 {
		return &exitError{exitExpect, fmt.Errorf("%d of %d cases fail", failed, len(cases))}
	}
	return nil
}

// pageFor reads the file that the document goes into; "" if there is none.
func pageFor(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

// command returns the command line, directories without their place.
func (f *ns3Flags) command(dirs []string) string {
	words := []string{"rdmasim ns3"}
	for _, d := range dirs {
		words = append(words, filepath.Base(filepath.Clean(d)))
	}
	words = append(words, "--seeds", strconv.Itoa(f.seeds))
	if f.trueModel {
		words = append(words, "--true-model")
	}
	if f.counts != "" {
		words = append(words, "--counts", filepath.Base(f.counts))
	}
	return strings.Join(words, " ")
}

// runCases runs every case and returns how many fail.
func (a *app) runCases(ctx context.Context, cases []*reference.Case, f *ns3Flags, doc *reference.Document) (failed int, err error) {
	o := reference.Options{Compat: scenarios.CompatHPCC, Seeds: f.seeds, Jobs: runtime.GOMAXPROCS(0)}
	o.Done = func(c *reference.Case, r *reference.Outcome) {
		fmt.Fprintf(a.stderr, "%s, seed %d: mean FCT %.3f us\n", c.Name, r.Seed, r.FCT.Mean*1e6)
	}
	for _, c := range cases {
		runs, err := c.Run(ctx, o)
		if err != nil {
			return 0, err
		}
		j := reference.Judge(c, runs)
		if !j.OK() {
			failed++
		}
		doc.Ours = append(doc.Ours, j)
	}
	if !f.trueModel {
		return failed, nil
	}
	o.Compat = scenarios.CompatNone
	for _, c := range cases {
		runs, err := c.Run(ctx, o)
		if err != nil {
			return 0, err
		}
		doc.True = append(doc.True, &reference.Judged{Case: c, Runs: runs})
	}
	return failed, nil
}

func (a *app) writeDocument(doc *reference.Document, file, page string) error {
	if file == "" {
		_, err := fmt.Fprint(a.stdout, doc)
		return err
	}
	text, err := doc.Insert(page)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o666)
}
