package tuning

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"rdmasim/sim/trace"
)

// Limits of what is read: a report is for people.
const (
	maxFile       = 256 << 20 // B
	maxPoints     = 200_000
	maxParameters = 64
	maxWorkloads  = 256
	maxObjectives = 64
	maxContrasts  = 1000
)

// Write writes tune.json into a directory; an incomplete result is an error,
// and then nothing is written. The file is replaced as a whole.
func (r *Result) Write(dir string) error {
	if r.Schema == "" {
		r.Schema = Schema
	}
	if err := r.Check(); err != nil {
		return fmt.Errorf("%s: %w", FileResult, err)
	}
	return writeJSON(filepath.Join(dir, FileResult), r)
}

func writeJSON(path string, v any) error {
	p, err := trace.EncodeJSON(v)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, p, 0o644); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

// Load reads tune.json of a directory.
func Load(dir string) (*Result, error) {
	r := &Result{}
	if err := readJSON(filepath.Join(dir, FileResult), r, r.Check); err != nil {
		return nil, err
	}
	return r, nil
}

func readJSON(path string, v any, check func() error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	p, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if len(p) > maxFile {
		return fmt.Errorf("%s: larger than %d MiB", path, maxFile>>20)
	}
	if err := decode(p, v, check); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// decode reads one JSON value with no unknown keys and checks it.
func decode(p []byte, v any, check func() error) error {
	d := json.NewDecoder(bytes.NewReader(p))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the JSON value")
	}
	return check()
}

// Decode reads tune.json from memory.
func Decode(p []byte) (*Result, error) {
	r := &Result{}
	if err := decode(p, r, r.Check); err != nil {
		return nil, err
	}
	return r, nil
}

// Check says what is wrong with a result: the first thing, by its key.
func (r *Result) Check() error {
	switch {
	case r.Schema == "":
		return fmt.Errorf("no schema field: not the result of a search (want %q)", Schema)
	case r.Schema != Schema:
		return fmt.Errorf("schema %q cannot be read: this program reads %q", r.Schema, Schema)
	case r.Name == "":
		return errors.New("name is missing")
	case !slices.Contains([]string{MinimaxRegret, Weighted, WorstCase, ParetoSet}, r.Plan.Criterion):
		return fmt.Errorf("plan.criterion %q: want %s, %s, %s or %s", r.Plan.Criterion, MinimaxRegret, Weighted, WorstCase, ParetoSet)
	case len(r.Points) > maxPoints:
		return fmt.Errorf("%d points: want at most %d", len(r.Points), maxPoints)
	}
	for _, check := range []func() error{r.checkParameters, r.checkObjectives, r.checkWorkloads, r.checkPoints, r.checkIDs, r.checkContrasts, r.checkExclusion, r.checkRest} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func finite(list ...float64) bool {
	return !slices.ContainsFunc(list, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

func checkUnit(where, unit string) error {
	if !slices.Contains([]string{Seconds, BitsPerS, Bytes, Ratio, Count}, unit) {
		return fmt.Errorf("%s.unit %q: want %s, %s, %s, %s or %s", where, unit, Seconds, BitsPerS, Bytes, Ratio, Count)
	}
	return nil
}

func (r *Result) checkParameters() error {
	if n := len(r.Parameters); n == 0 || n > maxParameters {
		return fmt.Errorf("%d parameters: want 1 to %d", n, maxParameters)
	}
	paths, roles := map[string]bool{}, map[string]bool{}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		where := fmt.Sprintf("parameters[%d]", i)
		switch {
		case p.Path == "" || paths[p.Path]:
			return fmt.Errorf("%s.path %q: want a path that no other parameter has", where, p.Path)
		case p.Role != "" && roles[p.Role]:
			return fmt.Errorf("%s.role %q: another parameter has it", where, p.Role)
		case p.Scale != Linear && p.Scale != Log:
			return fmt.Errorf("%s.scale %q: want %s or %s", where, p.Scale, Linear, Log)
		case !finite(p.Low, p.High, p.Step) || !(p.Low < p.High) || !finite(p.High-p.Low):
			return fmt.Errorf("%s: low %g and high %g: want low below high", where, p.Low, p.High)
		case p.Scale == Log && (!(p.Low > 0) || !finite(p.High/p.Low)):
			return fmt.Errorf("%s.low %g: a logarithmic scale begins above 0", where, p.Low)
		case p.Step < 0:
			return fmt.Errorf("%s.step %g: want 0 or more", where, p.Step)
		case !slices.IsSorted(p.Choices) || !finite(p.Choices...):
			return fmt.Errorf("%s.choices: want numbers in order", where)
		}
		if err := checkUnit(where, p.Unit); err != nil {
			return err
		}
		paths[p.Path], roles[p.Role] = true, true
	}
	return nil
}

func (r *Result) checkObjectives() error {
	if n := len(r.Objectives); n == 0 || n > maxObjectives {
		return fmt.Errorf("%d objectives: want 1 to %d", n, maxObjectives)
	}
	if n := len(r.Constraints); n > maxObjectives {
		return fmt.Errorf("%d constraints: want at most %d", n, maxObjectives)
	}
	seen := map[string]bool{}
	for i, o := range r.Objectives {
		where := fmt.Sprintf("objectives[%d]", i)
		switch {
		case o.Metric == "" || seen[o.Metric]:
			return fmt.Errorf("%s.metric %q: want a metric that no other objective has", where, o.Metric)
		case o.Goal != Minimize && o.Goal != Maximize:
			return fmt.Errorf("%s.goal %q: want %s or %s", where, o.Goal, Minimize, Maximize)
		case !finite(o.Weight) || o.Weight < 0:
			return fmt.Errorf("%s.weight %g: want 0 or more", where, o.Weight)
		}
		if err := checkUnit(where, o.Unit); err != nil {
			return err
		}
		seen[o.Metric] = true
	}
	for i, c := range r.Constraints {
		where := fmt.Sprintf("constraints[%d]", i)
		if c.Metric == "" || !finite(c.Bound) || !slices.Contains([]string{"<=", ">=", "=="}, c.Op) {
			return fmt.Errorf("%s: want a metric, one of <=, >= and ==, and a number", where)
		}
		if err := checkUnit(where, c.Unit); err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) checkWorkloads() error {
	if n := len(r.Workloads); n == 0 || n > maxWorkloads {
		return fmt.Errorf("%d workloads: want 1 to %d", n, maxWorkloads)
	}
	seen := map[string]bool{}
	for i, w := range r.Workloads {
		if w.Name == "" || seen[w.Name] {
			return fmt.Errorf("workloads[%d].name %q: want a name that no other workload has", i, w.Name)
		}
		if !finite(w.Weight) || !(w.Weight > 0) {
			return fmt.Errorf("workloads[%d].weight %g: want more than 0", i, w.Weight)
		}
		seen[w.Name] = true
	}
	return nil
}

func (r *Result) checkPoints() error {
	if err := r.checkList("points", r.Points); err != nil {
		return err
	}
	return r.checkList("confirmed", r.Confirmed)
}

func (r *Result) checkList(key string, list []Point) error {
	seen := make(map[int]bool, len(list))
	for i := range list {
		p := &list[i]
		where := fmt.Sprintf("%s[%d]", key, i)
		switch {
		case p.ID < 0 || seen[p.ID]:
			return fmt.Errorf("%s.id %d: want a number from 0 on that no other point has", where, p.ID)
		case !slices.Contains([]string{KindToday, KindBaseline, KindSearch}, p.Kind):
			return fmt.Errorf("%s.kind %q: want %s, %s or %s", where, p.Kind, KindToday, KindBaseline, KindSearch)
		case len(p.Values) != len(r.Parameters) || !finite(p.Values...):
			return fmt.Errorf("%s.values: %d, want one for each of %d parameters", where, len(p.Values), len(r.Parameters))
		case len(p.Cells) != 0 && len(p.Cells) != len(r.Workloads):
			return fmt.Errorf("%s.cells: %d, want one for each of %d workloads", where, len(p.Cells), len(r.Workloads))
		case p.Rank < 0 || p.Rung < 0:
			return fmt.Errorf("%s: rank %d and rung %d: want 0 or more", where, p.Rank, p.Rung)
		case !number(p.Regret) || !number(p.Score):
			return fmt.Errorf("%s: regret and score: want numbers or null", where)
		}
		seen[p.ID] = true
		for w := range p.Cells {
			if err := r.checkCell(&p.Cells[w]); err != nil {
				return fmt.Errorf("%s.cells[%d].%w", where, w, err)
			}
		}
	}
	return nil
}

func number(v *float64) bool { return v == nil || finite(*v) }

func (r *Result) checkCell(c *Cell) error {
	for _, part := range []struct {
		name string
		list []Value
		want int
	}{{"objectives", c.Objectives, len(r.Objectives)}, {"constraints", c.Constraints, len(r.Constraints)}} {
		if len(part.list) != 0 && len(part.list) != part.want {
			return fmt.Errorf("%s: %d values, want %d", part.name, len(part.list), part.want)
		}
		for _, v := range part.list {
			if err := v.check(); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	if c.Seeds < 0 || !number(c.Regret) {
		return errors.New("seeds and regret: want numbers from 0 on")
	}
	return nil
}

func (v Value) check() error {
	if !number(v.Mean) || !number(v.Half) || v.N < 0 || v.Half != nil && (*v.Half < 0 || v.Mean == nil) {
		return errors.New("want a mean, half of an interval that is not negative, and a number of runs")
	}
	return nil
}

func (r *Result) checkIDs() error {
	ids := make(map[int]*Point, len(r.Points))
	for i := range r.Points {
		ids[r.Points[i].ID] = &r.Points[i]
	}
	refer := func(key string, id int) error {
		if ids[id] == nil {
			return fmt.Errorf("%s: no point has the id %d", key, id)
		}
		return nil
	}
	if err := refer("today", r.Today); err != nil {
		return err
	}
	if k := ids[r.Today].Kind; k != KindToday {
		return fmt.Errorf("today: point %d is of kind %q", r.Today, k)
	}
	for _, part := range []struct {
		key string
		id  *int
	}{{"winner", r.Winner}, {"knee", r.Knee}, {"best_baseline", r.BestOf}} {
		if part.id != nil {
			if err := refer(part.key, *part.id); err != nil {
				return err
			}
		}
	}
	for i, id := range r.Pareto {
		if err := refer(fmt.Sprintf("pareto[%d]", i), id); err != nil {
			return err
		}
	}
	for i, b := range r.Baselines {
		where := fmt.Sprintf("baselines[%d]", i)
		switch {
		case b.Name == "":
			return fmt.Errorf("%s.name is missing", where)
		case b.Point == nil && b.Lacks == "" && !r.Partial:
			return fmt.Errorf("%s: neither a point nor, in lacks, why there is none", where)
		case b.Point != nil:
			if err := refer(where+".point", *b.Point); err != nil {
				return err
			}
		}
	}
	switch {
	case r.Winner == nil && r.NoWinner == "" && !r.Partial:
		return errors.New("no_winner: say why nothing is recommended")
	case r.Winner != nil && r.NoWinner != "":
		return errors.New("no_winner: there is a winner")
	case r.Winner != nil && !r.Settled(*r.Winner).Feasible: // what counts is the confirmation
		return fmt.Errorf("winner: point %d is not feasible", *r.Winner)
	}
	return nil
}

func (r *Result) checkContrasts() error {
	if n := len(r.Contrasts); n > maxContrasts {
		return fmt.Errorf("%d contrasts: want at most %d", n, maxContrasts)
	}
	for i, c := range r.Contrasts {
		where := fmt.Sprintf("contrasts[%d]", i)
		_, known := r.Objective(c.Metric)
		known = known || slices.ContainsFunc(r.Constraints, func(x Constraint) bool { return x.Metric == c.Metric })
		switch {
		case r.Point(c.Point) == nil || r.Point(c.Against) == nil:
			return fmt.Errorf("%s: no point has the id %d or %d", where, c.Point, c.Against)
		case c.As != AgainstToday && c.As != AgainstBaseline:
			return fmt.Errorf("%s.as %q: want %s or %s", where, c.As, AgainstToday, AgainstBaseline)
		case !known && c.Metric != MetricScore && c.Metric != MetricRegret:
			return fmt.Errorf("%s.metric %q: want that of an objective or a constraint, %s or %s", where, c.Metric, MetricScore, MetricRegret)
		case c.Workload != "" && !r.hasWorkload(c.Workload):
			return fmt.Errorf("%s.workload %q: no workload has that name", where, c.Workload)
		case c.Delta.check() != nil || c.Relative.check() != nil:
			return fmt.Errorf("%s: %w", where, errors.Join(c.Delta.check(), c.Relative.check()))
		}
	}
	return nil
}

func (r *Result) hasWorkload(name string) bool {
	return slices.ContainsFunc(r.Workloads, func(w Workload) bool { return w.Name == name })
}

func (r *Result) checkRest() error {
	for i, w := range r.Watch {
		where := fmt.Sprintf("watch[%d]", i)
		if w.Metric == "" || !number(w.Low) || !number(w.High) || !number(w.Today) || w.Low != nil && w.High != nil && *w.Low > *w.High {
			return fmt.Errorf("%s: want a metric and a range from low to high", where)
		}
		if w.Workload != "" && !r.hasWorkload(w.Workload) {
			return fmt.Errorf("%s.workload %q: no workload has that name", where, w.Workload)
		}
		if err := checkUnit(where, w.Unit); err != nil {
			return err
		}
	}
	if b := r.Budget; b.Runs < 0 || b.RunsDone < 0 || !finite(b.Simulated) || b.Simulated < 0 {
		return errors.New("budget: want numbers from 0 on")
	}
	return nil
}
