package tune

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rdmasim/reports/metric"
	"rdmasim/scenarios"
	"rdmasim/scenarios/sweep"
	"rdmasim/sim"
)

// Bounds on plans.
const (
	mostWorkloads  = 64
	mostParameters = 20
	mostFigures    = 64
	mostRuns       = 10_000_000
	mostTime       = 30 * 24 * time.Hour
)

// parsed is a plan whose parts are ready to be used.
type parsed struct {
	Plan
	doc    *scenarios.Document
	space  space
	judge  judge
	limits limits
}

// Parse reads a plan and checks what can be checked without its scenario. An
// error is a *scenarios.Error with the place of the first thing that is wrong.
func Parse(file string, data []byte) (*Plan, error) {
	p, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	return &p.Plan, nil
}

func parse(file string, data []byte) (*parsed, error) {
	p := &parsed{Plan: Defaults()}
	var err error
	p.doc, err = scenarios.DecodeDocument(file, "a tuning plan needs at least scenario, parameters, figures and objectives", data, &p.Plan)
	if err != nil {
		return nil, err
	}
	if p.Name == "" {
		p.Name = planName(file)
	}
	for _, check := range []func() error{p.workloads, p.parameters, p.figures, p.objectives, p.constraints, p.rest} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// planName is the name of a plan that has none: that of its file.
func planName(file string) string {
	base := file[strings.LastIndexByte(file, '/')+1:]
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml"), ".plan")
}

var word = regexp.MustCompile(`^[^\s][^\x00-\x1f]{0,79}$`)

// names checks that names are there, readable and different.
func (p *parsed) names(list string, n int, most int, name func(int) string) error {
	if n > most {
		return p.doc.Errorf(list, "", "%d of them: want at most %d", n, most)
	}
	seen := map[string]int{}
	for i := range n {
		at := fmt.Sprintf("%s.%d.name", list, i)
		if !word.MatchString(name(i)) {
			return p.doc.Errorf(at, strconv.Quote(name(i)), "want a name of 1 to 80 characters in one line")
		}
		if k, ok := seen[name(i)]; ok {
			return p.doc.Errorf(at, name(i), "%s.%d has this name already", list, k)
		}
		seen[name(i)] = i
	}
	return nil
}

func (p *parsed) workloads() error {
	if len(p.Workloads) == 0 {
		p.Workloads = []Workload{{Name: "as it is"}}
	}
	if err := p.names("workloads", len(p.Workloads), mostWorkloads, func(i int) string { return p.Workloads[i].Name }); err != nil {
		return err
	}
	p.judge.workloads = p.Workloads
	return nil
}

func (p *parsed) figures() error {
	if len(p.Figures) == 0 {
		return p.doc.Errorf("figures", "", "want at least one")
	}
	if err := p.names("figures", len(p.Figures), mostFigures, func(i int) string { return p.Figures[i].Name }); err != nil {
		return err
	}
	for i := range p.Figures {
		f := &p.Figures[i]
		if slices.Contains(tableColumns, f.Name) || strings.HasPrefix(f.Name, setPrefix) {
			return p.doc.Errorf(fmt.Sprintf("figures.%d.name", i), f.Name, "is a column of %s already", FileTable)
		}
		var err error
		if f.expr, err = metric.ParseExpression(f.Value); err != nil {
			return p.expression(fmt.Sprintf("figures.%d.value", i), f.Value, err)
		}
	}
	p.judge.figures = p.Figures
	return nil
}

// expression puts the place of a value before an error of an expression.
func (p *parsed) expression(path, text string, err error) error {
	if bad := new(metric.ExpectError); errors.As(err, &bad) {
		return p.doc.Errorf(path, text, "%s", bad.Problem)
	}
	return p.doc.Errorf(path, text, "%v", err)
}

// figure returns the place of a figure by its name.
func (p *parsed) figure(path, name string) (int, error) {
	i := slices.IndexFunc(p.Figures, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		var names []string
		for _, f := range p.Figures {
			names = append(names, f.Name)
		}
		return 0, p.doc.Errorf(path, strconv.Quote(name), "no figure has this name: %swant one of %s", scenarios.Nearest(name, names), strings.Join(names, ", "))
	}
	return i, nil
}

func (p *parsed) objectives() error {
	if len(p.Objectives) == 0 || p.Pareto && len(p.Objectives) < 2 {
		return p.doc.Errorf("objectives", "", "want at least %d", map[bool]int{false: 1, true: 2}[p.Pareto])
	}
	for i := range p.Objectives {
		o, at := &p.Objectives[i], fmt.Sprintf("objectives.%d", i)
		f, err := p.figure(at+".figure", o.Figure)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(p.judge.goals, func(g goal) bool { return g.figure == f }) {
			return p.doc.Errorf(at+".figure", o.Figure, "is an objective already")
		}
		if o.Weight == 0 {
			o.Weight = 1
		}
		g := goal{figure: f, sign: 1, weight: o.Weight}
		if !(o.Weight > 0) || o.Weight > 1e6 {
			return p.doc.Errorf(at+".weight", strconv.FormatFloat(o.Weight, 'g', -1, 64), "want a number above 0, up to 1000000")
		}
		if o.Goal == "" {
			o.Goal = "min"
		}
		if o.Goal == "max" {
			g.sign = -1
		}
		if o.Scale != "" {
			if g.scale, err = p.amount(at+".scale", o.Scale, p.Figures[f].expr.Unit); err != nil {
				return err
			}
			if g.scale <= 0 {
				return p.doc.Errorf(at+".scale", o.Scale, "want more than 0")
			}
		}
		p.judge.goals = append(p.judge.goals, g)
	}
	p.judge.robust, p.judge.pareto = p.Robust, p.Pareto
	return nil
}

// amount reads a value of a unit of metrics.json, in SI units.
func (p *parsed) amount(path, text, unit string) (float64, error) {
	k := map[string]sweep.Kind{metric.Bytes: sweep.Bytes, metric.Seconds: sweep.Duration, metric.BitsPerS: sweep.Rate}
	want, ok := k[unit]
	if !ok {
		want = sweep.Ratio
	}
	v, _, ok := parseValue(text, want)
	if !ok {
		return 0, p.doc.Errorf(path, text, "want a %v, with its unit", want)
	}
	return si(want, v), nil
}

func (p *parsed) constraints() error {
	for i := range p.Constraints {
		c, at := &p.Constraints[i], fmt.Sprintf("constraints.%d", i)
		if c.Expect != "" {
			if c.Figure != "" || c.AtMost != "" || c.AtLeast != "" || c.Of != "" {
				return p.doc.Errorf(at, "", "want expect alone, or figure with at_most or at_least")
			}
			if _, err := metric.ParseExpectation(c.Expect); err != nil {
				return p.expression(at+".expect", c.Expect, err)
			}
			p.judge.expect = append(p.judge.expect, c.Expect)
			continue
		}
		b, err := p.bound(c, at)
		if err != nil {
			return err
		}
		p.judge.bounds = append(p.judge.bounds, b)
	}
	return nil
}

func (p *parsed) bound(c *Constraint, at string) (b bound, err error) {
	if c.Figure == "" {
		return b, p.doc.Errorf(at, "", "want expect, such as packets.dropped.lossless == 0, or figure with at_most or at_least")
	}
	if b.figure, err = p.figure(at+".figure", c.Figure); err != nil {
		return b, err
	}
	text, path := c.AtMost, at+".at_most"
	if b.of, b.least = c.Of, c.AtLeast != ""; b.least {
		text, path = c.AtLeast, at+".at_least"
	}
	if (c.AtMost == "") == (c.AtLeast == "") {
		return b, p.doc.Errorf(at, "", "want one of at_most and at_least")
	}
	if c.Of == "" {
		b.value, err = p.amount(path, text, p.Figures[b.figure].expr.Unit)
		return b, err
	}
	if c.Of == OfBestBaseline && len(p.Baselines) == 0 {
		return b, p.doc.Errorf(at+".of", c.Of, "the plan has no baselines")
	}
	v, _, ok := parseValue(text, sweep.Ratio)
	if !ok || v < 0 {
		return b, p.doc.Errorf(path, text, "want a share of %s, such as 100%%", c.Of)
	}
	b.value = v
	return b, nil
}

func (p *parsed) rest() (err error) {
	if p.limits, err = ParseBudget(p.Budget); err != nil {
		return p.doc.Errorf("budget", p.Budget, "%v", err)
	}
	if p.Rate != "" {
		if _, err := sim.ParseRate(p.Rate); err != nil {
			return p.doc.Errorf("rate", p.Rate, "want a rate such as 100Gbps")
		}
	}
	if d, err := sim.ParseDuration(p.Series); err != nil || d < 0 {
		return p.doc.Errorf("series", p.Series, "want a duration such as 10us, or 0s")
	}
	if p.Seed > math.MaxUint64-2*mostSeeds {
		return p.doc.Errorf("seed", strconv.FormatUint(p.Seed, 10), "want at most %d", uint64(math.MaxUint64-2*mostSeeds))
	}
	if len(p.Baselines) > 1 && slices.Contains(p.Baselines, baselinesFit) {
		return p.doc.Errorf("baselines", "", "want names, or [fit] alone")
	}
	return nil
}

// mostSeeds is how far the seeds of the confirmation lie from those of the search.
const mostSeeds = 1000

// ParseBudget reads "500 runs" (or "500runs") or a time such as 30m.
func ParseBudget(text string) (limits, error) {
	if n, ok := strings.CutSuffix(strings.TrimSpace(text), "runs"); ok {
		v, err := strconv.Atoi(strings.TrimSpace(n))
		if err != nil || v < 1 || v > mostRuns {
			return limits{}, fmt.Errorf("want 1 to %d runs", mostRuns)
		}
		return limits{runs: v}, nil
	}
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || d <= 0 || d > mostTime {
		return limits{}, fmt.Errorf("want a number of runs such as 500 runs, or a time such as 30m")
	}
	return limits{time: d}, nil
}
