package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rdmasim/sim/trace"
)

// Files of the directory of a sweep, beside its shard logs.
const (
	FileSweep    = "sweep.json"      // what the sweep is
	FilePlan     = "plan.yaml"       // the plan as it was given
	FileScenario = "scenario.yaml"   // the scenario as it was given
	FileResults  = "results.parquet" // one row for each unit, once all are there
)

// About is sweep.json.
type About struct {
	Schema   int    `json:"schema"`
	ID       string `json:"id"`
	Version  string `json:"version"`
	Plan     string `json:"plan"`     // name of its file
	Scenario string `json:"scenario"` // as the plan names it
	Points   int    `json:"points"`
	Units    int    `json:"units"`
}

// Dir is the directory of a sweep.
type Dir struct {
	Path  string
	About About
	Plan  *Plan
	src   []byte
}

// OpenDir reads the directory of a sweep.
func OpenDir(path string) (*Dir, error) {
	data, err := os.ReadFile(filepath.Join(path, FileSweep))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not the directory of a sweep: it has no %s", path, FileSweep)
	}
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: path}
	if err := json.Unmarshal(data, &d.About); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(path, FileSweep), err)
	}
	if d.About.Schema != format {
		return nil, fmt.Errorf("%s: schema %d: this program reads schema %d", filepath.Join(path, FileSweep), d.About.Schema, format)
	}
	if d.Plan, err = ReadPlan(filepath.Join(path, FilePlan)); err != nil {
		return nil, err
	}
	if d.src, err = os.ReadFile(filepath.Join(path, FileScenario)); err != nil {
		return nil, err
	}
	if id := d.Plan.ID(&Source{Text: d.src}); id != d.About.ID {
		return nil, fmt.Errorf("%s: %s or %s is not what the sweep was begun with: they were changed", path, FilePlan, FileScenario)
	}
	return d, nil
}

// check says why a plan cannot be run into a directory, or nil. A directory
// that does not exist, or is empty, is as good as one of the same sweep.
func checkDir(path, id string) error {
	entries, err := trace.OutputEntries(path)
	if err != nil || len(entries) == 0 {
		return err
	}
	if _, err := os.Stat(filepath.Join(path, FileSweep)); errors.Is(err, fs.ErrNotExist) {
		for _, e := range entries { // another shard may be making it at this moment
			if ok, _ := filepath.Match("*.partial-*", e.Name()); !ok && e.Name() != FilePlan && e.Name() != FileScenario {
				return trace.Occupied(path, "no directory of a sweep")
			}
		}
		return nil
	}
	d, err := OpenDir(path)
	if err != nil {
		return err
	}
	if d.About.ID != id {
		return fmt.Errorf("%s holds another sweep, of %s: its points, seeds, metrics or scenario are not those of this plan; give the name of a new directory", path, d.About.Plan)
	}
	return nil
}

// makeDir makes the directory of a sweep, unless it is there. Shards may do so
// at the same time: they write the same.
func makeDir(path string, a About, plan, scenario []byte) (*Dir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(path, FileSweep)); errors.Is(err, fs.ErrNotExist) {
		about, err := trace.EncodeJSON(a)
		if err != nil {
			return nil, err
		}
		for _, f := range []struct {
			name string
			data []byte
		}{{FilePlan, plan}, {FileScenario, scenario}, {FileSweep, about}} {
			if err := trace.WriteSynced(filepath.Join(path, f.name), f.data); err != nil {
				return nil, err
			}
		}
	}
	return OpenDir(path)
}

// collect reads every shard log of directories into one record per unit.
func collect(dirs []string, id string, units int, want header) (*collection, error) {
	c := &collection{records: make([]*Record, units), from: make([]string, units)}
	for _, dir := range dirs {
		logs, err := logsIn(dir)
		if err != nil {
			return nil, err
		}
		for _, name := range logs {
			if err := c.add(name, id, units, want); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// collection is what was found of the units of a sweep.
type collection struct {
	records []*Record // by unit; nil = missing
	from    []string  // the log that it is from
	Logs    int
	Twice   int // units that were run more than once, with the same result
	Torn    int // lines that were not whole
}

func (c *collection) add(name, id string, units int, want header) error {
	l, err := readLogFile(name, units)
	if err != nil {
		return err
	}
	c.Logs++
	c.Torn += l.torn
	switch {
	case !l.ok:
		return nil // killed before it began
	case l.header.ID != id:
		return fmt.Errorf("%s is of another sweep (%.12s, not %.12s): its points, seeds, metrics or scenario are not those of the plan", name, l.header.ID, id)
	case !slices.Equal(l.header.Metrics, want.Metrics):
		return fmt.Errorf("%s has other metrics than this program: it was written by another version", name)
	case l.header.Version != want.Version:
		return fmt.Errorf("%s was written by version %s of the program, others by %s: results of two versions make no table", name, l.header.Version, want.Version)
	}
	for i := range l.records {
		if err := c.put(&l.records[i], name); err != nil {
			return err
		}
	}
	return nil
}

// put adds a record. Of two of one unit a complete run counts for more than one
// that was cut short; other differences cannot be, and are errors.
func (c *collection) put(r *Record, from string) error {
	old := c.records[r.Unit]
	switch {
	case old == nil || old.Status == Partial && r.Status != Partial:
	case r.Status == Partial && old.Status != Partial:
		return nil
	case !old.same(r) && !(old.Status == Partial && r.Status == Partial):
		return fmt.Errorf("run %d has two results: %s says %s, %s says %s; the same scenario, values and seed always give the same, so one of the machines or programs is not like the other",
			r.Unit, c.from[r.Unit], old.brief(), from, r.brief())
	default:
		c.Twice++
		if old.Status == Partial && old.Error <= r.Error {
			return nil
		}
	}
	c.records[r.Unit], c.from[r.Unit] = r, from
	return nil
}

func (r *Record) brief() string {
	if r.Status == OK {
		return "fingerprint " + r.Fingerprint
	}
	return string(r.Status) + " (" + r.Error + ")"
}
