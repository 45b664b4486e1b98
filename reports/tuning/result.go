// Package tuning holds what a search for settings leaves in its directory:
// tune.json, estimate.json and credibility.json as values, with readers that
// refuse what is not whole. It draws nothing and runs nothing.
package tuning

import (
	"rdmasim/sim/stat"
)

// Schema is the value of tune.json's schema field: it changes when a reader of
// the old form would misread the new one.
const Schema = "rdmasim-tune/1"

// Names below a tune directory.
const (
	FileResult      = "tune.json"
	FileEstimate    = "estimate.json"    // in run directories too
	FileCredibility = "credibility.json" // in run directories too
	DirExport       = "export"           // configuration and rollback as text, one file per vendor
	DirRuns         = "runs"             // run directories of RunBest, RunToday and RunWorst
)

// Names of run directories below DirRuns.
const (
	RunBest  = "best"
	RunToday = "today"
	RunWorst = "worst"
)

// Units of parameters and metrics: those of metrics.json.
const (
	Seconds  = "s"
	BitsPerS = "bps"
	Bytes    = "bytes"
	Ratio    = "ratio"
	Count    = "count"
)

// Result is tune.json. Values are in SI units; null means "not measured".
type Result struct {
	Schema      string `json:"schema"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Scenario    string `json:"scenario"` // name of the scenario that was tuned
	Plan        Plan   `json:"plan"`

	Parameters  []Parameter  `json:"parameters"`
	Objectives  []Objective  `json:"objectives"`
	Constraints []Constraint `json:"constraints,omitempty"`
	Workloads   []Workload   `json:"workloads"`
	Seeds       []uint64     `json:"seeds"` // of Points
	// ConfirmSeeds are those of Confirmed, Contrasts and Watch: the search has not seen them.
	ConfirmSeeds []uint64 `json:"confirm_seeds,omitempty"`

	Today     int        `json:"today"`               // id of the point of today's settings
	Baselines []Baseline `json:"baselines"`           // published settings, on the same seeds
	Points    []Point    `json:"points"`              // all that were evaluated: today, baselines, search
	Pareto    []int      `json:"pareto,omitempty"`    // ids of points that no other one dominates
	Knee      *int       `json:"knee,omitempty"`      // of Pareto, the one to take if nothing else decides
	Winner    *int       `json:"winner"`              // id, null = nothing is recommended
	NoWinner  string     `json:"no_winner,omitempty"` // why nothing is recommended
	Exclusion *Exclusion `json:"exclusion,omitempty"` // what a search without a winner proves
	BestOf    *int       `json:"best_baseline"`       // id of the best published baseline, null = none is feasible
	Confirmed []Point    `json:"confirmed,omitempty"` // the points that were run again on fresh seeds, the best first
	Contrasts []Contrast `json:"contrasts"`           // of the winner (else of the best point of the search)
	Watch     []Watch    `json:"watch,omitempty"`

	Partial bool   `json:"partial"` // cut short: Points hold what was evaluated until then
	Reason  string `json:"reason,omitempty"`
	Budget  Budget `json:"budget"`
	Repro   Repro  `json:"reproducibility"`
}

// Plan says in words and numbers how the search went about it.
type Plan struct {
	Criterion string  `json:"criterion"` // MinimaxRegret | Weighted | WorstCase | ParetoSet
	Search    string  `json:"search"`    // one sentence: successive halving over 64 Latin hypercube points, then CMA-ES
	Stages    []Stage `json:"stages,omitempty"`
}

// Criteria by which points are ranked.
const (
	MinimaxRegret = "minimax-regret" // the worst regret over workloads, least first
	Weighted      = "weighted"       // the weighted mean over workloads
	WorstCase     = "worst-case"     // the largest cost over workloads
	ParetoSet     = "pareto"         // not ranked: those that no other one dominates
)

// Stage is one step of the search.
type Stage struct {
	Name      string `json:"name"`
	Points    int    `json:"points"`
	Workloads int    `json:"workloads"`
	Seeds     int    `json:"seeds"`
	Runs      int    `json:"runs"`
}

// Parameter is a setting that was searched.
type Parameter struct {
	Path string  `json:"path"`           // in the scenario: switch.ecn.3.kmin
	Role string  `json:"role,omitempty"` // what the setting is, see Roles
	Unit string  `json:"unit"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Scale is Linear or Log.
	Scale string `json:"scale"`
	// Step is the unit of the device: every value is a multiple of it, 0 = any.
	Step float64 `json:"step,omitempty"`
	// Choices are the only values, in order, where a device has a list.
	Choices []float64 `json:"choices,omitempty"`
	Device  string    `json:"device,omitempty"` // what Step or Choices come from, in words
}

// Scales of parameters.
const (
	Linear = "linear"
	Log    = "log"
)

// Roles of parameters, by which figures find theirs.
const (
	RoleKmin      = "kmin"
	RoleKmax      = "kmax"
	RolePmax      = "pmax"
	RoleAlpha     = "alpha"
	RoleXonOffset = "xon_offset"
)

// Objective is a figure of metrics.json that should be small or large.
type Objective struct {
	Metric string  `json:"metric"` // pfc.paused_s
	Label  string  `json:"label"`  // paused time
	Unit   string  `json:"unit"`
	Goal   string  `json:"goal"`   // Minimize | Maximize
	Weight float64 `json:"weight"` // within the score
}

// Goals of objectives.
const (
	Minimize = "min"
	Maximize = "max"
)

// Constraint is a figure of metrics.json that decides whether a point may be
// taken at all.
type Constraint struct {
	Metric string  `json:"metric"`
	Unit   string  `json:"unit"`
	Op     string  `json:"op"` // <= | >= | ==
	Bound  float64 `json:"bound"`
	// Of and Share say what a relative bound is of: Share times the figure of
	// AgainstToday or AgainstBaseline in the same workload. Bound is then the mean
	// over workloads.
	Of    string  `json:"of,omitempty"`
	Share float64 `json:"share,omitempty"`
	Label string  `json:"label,omitempty"`
}

// Workload is one traffic under which every point is judged.
type Workload struct {
	Name   string   `json:"name"`
	What   string   `json:"what,omitempty"` // 32:1 incast over WebSearch at 50 %
	Set    []string `json:"set,omitempty"`  // path=value that make it of the scenario
	Weight float64  `json:"weight"`
}

// Baseline is a published setting.
type Baseline struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Point  *int   `json:"point"`           // id, null = it cannot be used here
	Lacks  string `json:"lacks,omitempty"` // why it cannot be used here
	Note   string `json:"note,omitempty"`  // what it sets besides, or what of it lies outside of the search
}

// Kinds of points.
const (
	KindToday    = "today"
	KindBaseline = "baseline"
	KindSearch   = "search"
)

// Point is one set of values and how it did.
type Point struct {
	ID     int       `json:"id"`
	Kind   string    `json:"kind"`           // KindToday | KindBaseline | KindSearch
	Name   string    `json:"name,omitempty"` // of a baseline
	Values []float64 `json:"values"`         // in the order of Parameters, as the device takes them
	Rung   int       `json:"rung"`           // of the search, from 0; the higher, the more runs
	// Rank among the points of the same, highest rung: 1 is best, 0 = not ranked.
	Rank       int      `json:"rank"`
	Feasible   bool     `json:"feasible"`
	Violations []string `json:"violations,omitempty"` // constraints that do not hold, in words
	Regret     *float64 `json:"regret"`               // worst over workloads, 0 = best everywhere
	Score      *float64 `json:"score"`                // weighted mean over workloads, the less the better
	Cells      []Cell   `json:"cells"`                // in the order of Workloads, empty = not run
}

// Cell is what one workload made of a point.
type Cell struct {
	Seeds       int      `json:"seeds"` // replicates that were run, 0 = none
	Regret      *float64 `json:"regret"`
	Objectives  []Value  `json:"objectives,omitempty"`  // in the order of Result.Objectives
	Constraints []Value  `json:"constraints,omitempty"` // in the order of Result.Constraints
	Failed      string   `json:"failed,omitempty"`      // why runs have no figures
}

// Value is a mean over seeds and the half-width of its 95 % interval.
type Value struct {
	Mean *float64 `json:"mean"`
	Half *float64 `json:"half"` // null: fewer than two replicates
	N    int      `json:"n"`
}

// Contrast is the difference of two points on the same seeds: what common
// random numbers leave of chance is in its interval.
type Contrast struct {
	Point     int    `json:"point"`
	Against   int    `json:"against"`
	As        string `json:"as"`        // AgainstToday | AgainstBaseline
	Workload  string `json:"workload"`  // "" = over all workloads
	Metric    string `json:"metric"`    // of an objective or a constraint; MetricScore or MetricRegret
	Delta     Value  `json:"delta"`     // point minus against, in the unit of the metric
	Relative  Value  `json:"relative"`  // delta / against: -0.8 is a fifth; null where against is 0
	Confident bool   `json:"confident"` // the interval of Delta leaves out 0
}

// What a contrast is for, and what is not an objective but may be compared.
const (
	AgainstToday    = "today"
	AgainstBaseline = "best-baseline"
	MetricScore     = "score"
	MetricRegret    = "regret"
)

// Watch is a figure to look at after the change, with the range within which
// one more observation falls in 95 % of cases if the model is right.
type Watch struct {
	Metric   string   `json:"metric"`
	Counter  string   `json:"counter,omitempty"` // how a device calls it: PFC3 Rx of show pfc counters
	Unit     string   `json:"unit"`
	Workload string   `json:"workload"`
	Per      string   `json:"per,omitempty"` // "s" = per second
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	Today    *float64 `json:"today"` // mean with today's settings
}

// Budget is what the search was allowed and what it took.
type Budget struct {
	Runs      int     `json:"runs"`           // allowed, 0 = no limit
	Time      string  `json:"time,omitempty"` // allowed, as asked
	RunsDone  int     `json:"runs_done"`      //
	Simulated float64 `json:"simulated_s"`    // over all runs
	Exhausted bool    `json:"exhausted"`      // the search ended for want of it
}

// Repro is what is needed to get the same results again.
type Repro struct {
	Command      string            `json:"command"`
	Versions     map[string]string `json:"versions,omitempty"`
	ScenarioHash string            `json:"scenario_hash"` // SHA-256 of the resolved scenario
	PlanHash     string            `json:"plan_hash"`
	ResultHash   string            `json:"result_hash,omitempty"` // of the table of all runs
	Seed         uint64            `json:"seed"`                  // of the search itself
}

// Number returns a figure, or "not measured" for what JSON cannot hold.
func Number(v float64) *float64 {
	if v != v || v-v != 0 {
		return nil
	}
	return &v
}

// ValueOf returns the mean of replicates with its 95 % Student-t interval.
func ValueOf(replicates []float64) Value {
	if len(replicates) == 0 {
		return Value{}
	}
	i := stat.MeanInterval(replicates, 0.95)
	return Value{Mean: Number(i.Mean), Half: Number(i.Half), N: i.N}
}

// NewContrast compares replicates of the same seeds in the same order. It is
// without figures if there are none or their numbers differ.
func NewContrast(point, against int, as, workload, metric string, of, with []float64) Contrast {
	c := Contrast{Point: point, Against: against, As: as, Workload: workload, Metric: metric}
	if len(of) != len(with) || len(of) == 0 {
		return c
	}
	diff, base := make([]float64, len(of)), 0.0
	for i := range of {
		diff[i] = of[i] - with[i]
		base += with[i] / float64(len(with))
	}
	c.Delta = ValueOf(diff)
	if c.Delta.Mean != nil && c.Delta.Half != nil {
		c.Confident = *c.Delta.Mean-*c.Delta.Half > 0 || *c.Delta.Mean+*c.Delta.Half < 0
	}
	if base != 0 {
		// The interval takes the base as known: its own spread is in Delta.
		k := base
		if k < 0 {
			k = -k
		}
		c.Relative.N = c.Delta.N
		if c.Delta.Mean != nil {
			c.Relative.Mean = Number(*c.Delta.Mean / k)
		}
		if c.Delta.Half != nil {
			c.Relative.Half = Number(*c.Delta.Half / k)
		}
	}
	return c
}
