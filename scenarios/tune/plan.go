// Package tune searches the settings of a fabric that serve its traffic best:
// published baselines first, then a Latin hypercube with successive halving,
// then CMA-ES, and at last the best candidates beside the best baselines on
// seeds that the search has never seen.
package tune

import (
	"rdmasim/reports/metric"
	"rdmasim/scenarios"
)

// Plan is a tuning plan as data, defaults filled in. Field tags are those of
// scenarios.Spec.
type Plan struct {
	Name        string       `key:"name" doc:"name of the plan"`
	Scenario    string       `key:"scenario" required:"true" doc:"file, or name in the library, of the scenario as it is today"`
	Workloads   []Workload   `key:"workloads" doc:"variations of the scenario that one setting has to serve; none: the scenario alone"`
	Seed        uint64       `key:"seed" doc:"first seed; runs of the search take the seeds from here on"`
	Seeds       int          `key:"seeds" range:"2..1000" doc:"seeds per workload in the search, the same for every candidate"`
	Parameters  []Parameter  `key:"parameters" required:"true" doc:"what is searched"`
	Figures     []Figure     `key:"figures" required:"true" doc:"what is measured in every run"`
	Objectives  []Objective  `key:"objectives" required:"true" doc:"what is to be small or large"`
	Pareto      bool         `key:"pareto" doc:"true: look for the whole trade-off between the objectives, and answer with its knee"`
	Constraints []Constraint `key:"constraints" doc:"what must hold"`
	Robust      string       `key:"robust" oneof:"regret,mean,worst" doc:"over workloads: the largest regret (cost above the best known for that workload), the mean cost, or the largest"`
	Baselines   []string     `key:"baselines" doc:"published marking curves to run first: their names, or fit for all that were published for the rate; needs parameters with the roles kmin, kmax and pmax"`
	Rate        string       `key:"rate" doc:"rate that baselines are taken for, such as 100Gbps; empty = that of the hosts"`
	Budget      string       `key:"budget" doc:"how much may be spent: 500 runs, or 30m"`
	Confirm     Confirm      `key:"confirm" doc:"the last comparison, on fresh seeds"`
	Series      string       `key:"series" doc:"length of a bin of the time series of the runs that are kept, such as 10us; 0s: none are kept"`
}

// Workload is a variation of the scenario.
type Workload struct {
	Name     string   `key:"name" required:"true" doc:"its name in reports"`
	Scenario string   `key:"scenario" doc:"file or name of another scenario, instead of that of the plan"`
	Set      []string `key:"set" doc:"settings of the form path=value"`
}

// Parameter is one dimension of the search.
type Parameter struct {
	Name   string   `key:"name" required:"true" doc:"its name in reports"`
	Path   string   `key:"path" required:"true" doc:"value of the scenario, as in switch.ecn.3.kmin"`
	Also   []string `key:"also" doc:"further values that take the same"`
	From   string   `key:"from" doc:"smallest value, with its unit"`
	To     string   `key:"to" doc:"largest value"`
	Over   string   `key:"over" doc:"name of a parameter above: from and to are factors of its value, at least 1"`
	Scale  string   `key:"scale" oneof:",log,linear,power_of_two" doc:"how the range is covered, log where it begins above 0; power_of_two: whole powers alone"`
	Step   string   `key:"step" doc:"what the device rounds to, such as 1KB or 1%"`
	Values []string `key:"values" doc:"the only values, instead of a range"`
	Role   string   `key:"role" oneof:",kmin,kmax,pmax,alpha,xon_offset" doc:"what the value is: of kmin, kmax and pmax, baselines give values"`
}

// Figure is a number that every run is measured by.
type Figure struct {
	Name  string `key:"name" required:"true" doc:"its name in reports"`
	Value string `key:"value" required:"true" doc:"figure of metrics.json, or an expression as in expectations: p99(flows.slowdown, max_bytes=100KB)"`

	expr metric.Expression
}

// Objective is a figure to be made small or large.
type Objective struct {
	Figure string  `key:"figure" required:"true" doc:"name of a figure"`
	Goal   string  `key:"goal" oneof:",min,max" doc:"min (the default) or max"`
	Weight float64 `key:"weight" doc:"share in the cost; 0 is 1"`
	Scale  string  `key:"scale" doc:"what counts as one, such as 1ms; empty = its mean over today and the baselines"`
}

// Constraint is what must hold of a candidate: an expectation in every run, or
// a bound on the mean of a figure in every workload.
type Constraint struct {
	Expect  string `key:"expect" doc:"expectation that every run must meet"`
	Figure  string `key:"figure" doc:"name of a figure, instead of expect"`
	AtMost  string `key:"at_most" doc:"bound: a value with its unit, or a share of what of names, such as 100%"`
	AtLeast string `key:"at_least" doc:"bound from below, likewise"`
	Of      string `key:"of" oneof:",today,best_baseline" doc:"what shares are of: the scenario as it is, or the baseline that is best"`
}

// Confirm is the comparison at the end.
type Confirm struct {
	Seeds     int `key:"seeds" range:"3..1000" doc:"fresh seeds per workload"`
	Finalists int `key:"finalists" range:"1..20" doc:"candidates that are compared"`
	Baselines int `key:"baselines" range:"1..40" doc:"baselines that the winner has to beat, the best of the search"`
}

// Ways to judge a setting over workloads.
const (
	RobustRegret = "regret"
	RobustMean   = "mean"
	RobustWorst  = "worst"
)

// References of constraints.
const (
	OfToday        = "today"
	OfBestBaseline = "best_baseline"
)

// Scales of parameters.
const (
	scaleLog    = "log"
	scaleLinear = "linear"
	scalePower  = "power_of_two"
)

// baselinesFit takes all baselines that were published for the rate.
const baselinesFit = "fit"

// Defaults returns a plan with every default.
func Defaults() Plan {
	return Plan{Seed: 1, Seeds: 4, Robust: RobustRegret, Baselines: []string{baselinesFit}, Budget: "500 runs", Series: "10us",
		Confirm: Confirm{Seeds: 10, Finalists: 3, Baselines: 3}}
}

// Resolved returns the plan with every default spelt out, as YAML.
func (p *Plan) Resolved() ([]byte, error) { return scenarios.EncodeDocument(*p) }
