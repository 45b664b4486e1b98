// Package reference runs cases in the format of the HPCC ns-3 model and holds
// the results against those that other simulators left beside the input files.
package reference

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rdmasim/scenarios"
	"rdmasim/scenarios/hpcc"
	"rdmasim/sim"
)

// Main is the simulator whose rules compat hpcc follows: where nothing is
// random, its results are to be met.
const Main = "hpcc"

// Result is the FCT file of another simulator.
type Result struct {
	Name string // of fct_NAME.txt
	Rows []hpcc.FCT
	hpcc.Summary
}

// Case is a directory with a config.txt, the files that it names, and at least
// one fct_NAME.txt.
type Case struct {
	Name    string
	Config  string    // path of config.txt
	Flows   int       // of flow.txt
	Bytes   sim.Bytes // of all flows
	Results []Result  // in order of their names, Main first
}

// Open reads a case. Errors name the file and what it should hold.
func Open(dir string) (*Case, error) {
	c := &Case{Name: filepath.Base(filepath.Clean(dir)), Config: filepath.Join(dir, "config.txt")}
	in, err := hpcc.Read(c.Config, scenarios.ReadBounded)
	if err != nil {
		return nil, err
	}
	c.Flows = len(in.Flows)
	for _, f := range in.Flows {
		c.Bytes += f.Size
	}
	files, err := filepath.Glob(filepath.Join(dir, "fct_*.txt"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for _, file := range files {
		text, err := scenarios.ReadBounded(file)
		if err != nil {
			return nil, err
		}
		rows, err := hpcc.ParseFCT(file, text)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			return nil, fmt.Errorf("%s: no flow in it", file)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "fct_"), ".txt")
		c.Results = append(c.Results, Result{name, rows, hpcc.Summarise(rows)})
	}
	if len(c.Results) == 0 {
		return nil, fmt.Errorf("%s: no result to compare with: want the FCT file of a simulator as fct_NAME.txt", dir)
	}
	slices.SortStableFunc(c.Results, func(a, b Result) int {
		if (a.Name == Main) != (b.Name == Main) {
			if a.Name == Main {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return c, nil
}

// Cases returns the directories below root that Open can read, in order.
func Cases(root string) []string {
	configs, _ := filepath.Glob(filepath.Join(root, "*", "config.txt")) // the pattern is well formed
	var dirs []string
	for _, c := range configs {
		dir := filepath.Dir(c)
		if m, _ := filepath.Glob(filepath.Join(dir, "fct_*.txt")); len(m) > 0 {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// readable reports whether dir holds a case itself.
func readable(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "config.txt"))
	return err == nil && !info.IsDir()
}

// Expand replaces directories that hold cases by those cases.
func Expand(dirs []string) []string {
	var all []string
	for _, d := range dirs {
		if below := Cases(d); !readable(d) && len(below) > 0 {
			all = append(all, below...)
		} else {
			all = append(all, d)
		}
	}
	return all
}
