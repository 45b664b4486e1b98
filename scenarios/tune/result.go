package tune

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"rdmasim/reports/tuning"
	"rdmasim/scenarios"
	"rdmasim/scenarios/sweep"
	"rdmasim/sim/stat"
)

// result turns a search into tune.json.
func (t *Tuning) result(s *search, o Options) *tuning.Result {
	r := &tuning.Result{Schema: tuning.Schema, Name: t.Name, Description: t.description, Scenario: t.spec.Name, Plan: t.planWords(s),
		Seeds: s.seeds, ConfirmSeeds: s.fresh, Today: s.today.id, Baselines: t.baselineRows(s), Contrasts: []tuning.Contrast{},
		Budget: tuning.Budget{Runs: t.limits.runs, RunsDone: s.store.runs, Simulated: s.store.simulated, Exhausted: s.exhausted}}
	if t.limits.time > 0 {
		r.Budget.Time = t.limits.time.String()
	}
	r.Parameters, r.Objectives, r.Constraints, r.Workloads = t.parameterRows(), t.objectiveRows(), t.constraintRows(s), t.workloadRows()
	t.points(r, s)
	if f := s.final; f != nil {
		t.confirmed(r, s, f)
		r.Contrasts = t.contrasts(s, f)
		if f.winner != nil {
			r.Winner = &f.winner.id
		}
		r.NoWinner = f.why
		if f.winner == nil {
			r.Exclusion = s.exclusion(f)
		}
		if f.lead != nil {
			r.Watch = t.watch(s, f.lead)
		}
	}
	if s.judge.best != nil {
		r.BestOf = &s.judge.best.id
	}
	hash, _ := t.hash() // was computed when the directory was opened
	r.Repro = tuning.Repro{Command: o.Command, Versions: map[string]string{"rdmasim": o.Version, "go": runtime.Version()}, ScenarioHash: scenarios.Hash(t.spec), PlanHash: hash, Seed: t.Seed}
	return r
}

func (t *Tuning) planWords(s *search) tuning.Plan {
	p := tuning.Plan{Criterion: map[string]string{RobustRegret: tuning.MinimaxRegret, RobustMean: tuning.Weighted, RobustWorst: tuning.WorstCase}[t.Robust], Stages: s.stages}
	if t.Pareto {
		p.Criterion = tuning.ParetoSet
	}
	p.Search = "published baselines first, successive halving over a Latin hypercube, CMA-ES from its best points, and a confirmation on fresh seeds"
	return p
}

func (t *Tuning) parameterRows() (list []tuning.Parameter) {
	for i := range t.space {
		d := &t.space[i]
		low, high := t.space.envelope(i)
		x := tuning.Parameter{Path: d.paths[0], Role: d.role, Unit: unitOf(d.kind), Low: si(d.kind, low), High: si(d.kind, high), Scale: tuning.Log, Step: si(d.kind, d.step)}
		if d.scale == scaleLinear {
			x.Scale = tuning.Linear
		}
		if d.step > 0 {
			x.Device = "multiples of " + d.text(d.step)
		}
		if d.scale == scalePower {
			x.Device = "powers of two"
			for v := d.low; v <= d.high*1.001; v *= 2 {
				x.Choices = append(x.Choices, si(d.kind, v))
			}
		}
		if d.values != nil {
			x.Device = "places in a list, from 0: " + fmt.Sprint(d.values)
		}
		list = append(list, x)
	}
	return list
}

func (t *Tuning) objectiveRows() (list []tuning.Objective) {
	for i, g := range t.judge.goals {
		f := &t.Figures[g.figure]
		goal := tuning.Minimize
		if g.sign < 0 {
			goal = tuning.Maximize
		}
		list = append(list, tuning.Objective{Metric: f.expr.Text, Label: f.Name, Unit: f.expr.Unit, Goal: goal, Weight: t.Objectives[i].Weight})
	}
	return list
}

// heldText names what a constraint that is an expectation is measured by.
func heldText(expect string) string { return "runs with " + expect }

func (t *Tuning) constraintRows(s *search) (list []tuning.Constraint) {
	for _, text := range t.judge.expect {
		list = append(list, tuning.Constraint{Metric: heldText(text), Unit: tuning.Ratio, Op: ">=", Bound: 1, Label: text})
	}
	for _, b := range t.judge.bounds {
		f := &t.Figures[b.figure]
		c := tuning.Constraint{Metric: f.expr.Text, Label: f.Name, Unit: f.expr.Unit, Op: "<=", Bound: b.value}
		if b.least {
			c.Op = ">="
		}
		if b.of != "" {
			c.Share, c.Of = b.value, map[string]string{OfToday: tuning.AgainstToday, OfBestBaseline: tuning.AgainstBaseline}[b.of]
			sum, n := 0.0, 0
			for w := range t.Workloads {
				if v, ok := b.limit(s.judge, w, s.seeds, true); ok {
					sum, n = sum+v, n+1
				}
			}
			if c.Bound = 0; n > 0 {
				c.Bound = sum / float64(n)
			}
		}
		list = append(list, c)
	}
	return list
}

func (t *Tuning) workloadRows() (list []tuning.Workload) {
	for _, w := range t.Workloads {
		list = append(list, tuning.Workload{Name: w.Name, Set: w.Set, Weight: 1})
	}
	return list
}

func (t *Tuning) baselineRows(s *search) (list []tuning.Baseline) {
	for _, n := range s.named[1:] {
		b, _ := scenarios.LookupBaseline(n.name)
		row := tuning.Baseline{Name: n.name, Source: b.Source, Note: b.With}
		if e := s.store.byKey[s.space.key(n.p)]; e != nil {
			row.Point = &e.id
			if e.name != n.name {
				row.Note = "the same values as " + e.name
			}
		}
		list = append(list, row)
	}
	for _, l := range t.lacking {
		b, _ := scenarios.LookupBaseline(l.name)
		list = append(list, tuning.Baseline{Name: l.name, Source: b.Source, Lacks: l.why})
	}
	return list
}

// confirmed writes the points of the confirmation.
func (t *Tuning) confirmed(r *tuning.Result, s *search, f *final) {
	for i := range f.verdicts {
		p := t.point(s, &f.verdicts[i], s.fresh)
		p.Rank = i + 1
		r.Confirmed = append(r.Confirmed, p)
	}
}

// contrasts compares the lead with today and with the best baseline on fresh seeds.
func (t *Tuning) contrasts(s *search, f *final) []tuning.Contrast {
	list := []tuning.Contrast{}
	if f.lead == nil {
		return list
	}
	for _, x := range []struct {
		e  *entry
		as string
	}{{s.today, tuning.AgainstToday}, {f.best, tuning.AgainstBaseline}} {
		if x.e == nil {
			continue
		}
		for _, fig := range t.compared() {
			text := t.Figures[fig].expr.Text
			var each []tuning.Contrast
			whole := make([][2][]float64, 0, len(t.Workloads))
			for w, load := range t.Workloads {
				a, b := replicates(f.lead, fig, w, s.fresh), replicates(x.e, fig, w, s.fresh)
				whole = append(whole, [2][]float64{a, b})
				each = append(each, contrast(f.lead, x.e, x.as, load.Name, text, a, b))
			}
			if a, b := together(whole, 0), together(whole, 1); a != nil && b != nil {
				list = append(list, contrast(f.lead, x.e, x.as, "", text, a, b))
			}
			list = append(list, each...)
		}
		list = append(list, t.scoreContrast(s, f, x.e, x.as))
	}
	return list
}

// contrast compares replicates of the same seeds. The relative change is the
// ratio of means, with the spread of both in its interval.
func contrast(e, against *entry, as, workload, text string, a, b []float64) tuning.Contrast {
	c := tuning.NewContrast(e.id, against.id, as, workload, text, a, b)
	if c.Relative.Mean == nil {
		return c
	}
	i := Jackknife(len(a), confidence, func(replicates []int) float64 {
		x, y := 0.0, 0.0
		for _, k := range replicates {
			x, y = x+a[k], y+b[k]
		}
		return (x - y) / math.Abs(y)
	})
	c.Relative = tuning.Value{Mean: c.Relative.Mean, Half: tuning.Number(i.Half), N: i.N}
	return c
}

// compared are the figures of objectives and bounds, each once.
func (t *Tuning) compared() (list []int) {
	for _, g := range t.judge.goals {
		list = append(list, g.figure)
	}
	for _, b := range t.judge.bounds {
		if !slices.Contains(list, b.figure) {
			list = append(list, b.figure)
		}
	}
	return list
}

// together averages replicates over workloads, seed by seed; nil if one has none.
func together(list [][2][]float64, side int) []float64 {
	var out []float64
	for _, x := range list {
		if x[side] == nil {
			return nil
		}
		if out == nil {
			out = make([]float64, len(x[side]))
		}
		for i, v := range x[side] {
			out[i] += v / float64(len(list))
		}
	}
	return out
}

// scoreContrast compares by what the plan ranks by. Its interval is that of the
// decision: the confidence is shared among the finalists.
func (t *Tuning) scoreContrast(s *search, f *final, e *entry, as string) tuning.Contrast {
	c := tuning.Contrast{Point: f.lead.id, Against: e.id, As: as, Metric: tuning.MetricScore}
	if t.Robust == RobustRegret {
		c.Metric = tuning.MetricRegret
	}
	for _, m := range f.margin {
		if m.rival == e {
			c.Delta = tuning.Value{Mean: tuning.Number(-m.by.Mean), Half: tuning.Number(m.by.Half), N: m.by.N}
			c.Confident = m.by.Low() > 0 || m.by.High() < 0
		}
	}
	return c
}

// watch predicts what one more run would show of every figure: the mean and a
// Student-t interval of one observation, n + 1 in place of n. Source: Hahn and
// Meeker, "Statistical intervals", 1991, section 4.2.
func (t *Tuning) watch(s *search, e *entry) (list []tuning.Watch) {
	for fig := range t.Figures {
		f := &t.Figures[fig]
		for w, load := range t.Workloads {
			x := tuning.Watch{Metric: f.expr.Text, Unit: f.expr.Unit, Workload: load.Name, Counter: counterOf[f.expr.Text]}
			v := replicates(e, fig, w, s.fresh)
			if n := float64(len(v)); n >= 2 {
				i := stat.MeanInterval(v, confidence)
				half := i.Half * math.Sqrt(n+1)
				x.Low, x.High = tuning.Number(i.Mean-half), tuning.Number(i.Mean+half)
				if least := slices.Min(v); least >= 0 && i.Mean-half < 0 {
					x.Low = tuning.Number(0) // figures that are never negative
				}
			}
			if today, ok := s.today.mean(fig, w, s.fresh); ok {
				x.Today = tuning.Number(today)
			}
			list = append(list, x)
		}
	}
	return list
}

// counterOf is how devices call a figure.
var counterOf = map[string]string{
	"pfc.xoff": "PFC Tx of show pfc counters", "pfc.paused_s": "rx_prio3_pause_duration of ethtool -S",
	"cnp.sent": "np_cnp_sent of the NIC", "cnp.handled": "rp_cnp_handled of the NIC", "ecn.marked": "np_ecn_marked_roce_packets of the NIC",
	"packets.dropped.lossless": "SAI_PORT_STAT_IF_IN_DISCARDS", "packets.retransmitted": "packet_seq_err of the NIC",
}

// Settings returns path=value of a point of the result.
func (t *Tuning) Settings(values []float64) []string {
	p := make(point, len(values))
	for i, v := range values {
		if p[i] = v; t.space[i].kind == sweep.Duration {
			p[i] = math.Round(v * 1e12)
		}
	}
	return t.space.settings(p)
}

// Words are the values of a point of the result as the device takes them, with
// the names of the plan.
func (t *Tuning) Words(values []float64) []string {
	list := make([]string, len(values))
	for i, v := range values {
		d := &t.space[i]
		if d.kind == sweep.Duration {
			v = math.Round(v * 1e12)
		}
		if list[i] = d.name + " " + d.text(v); d.kind == sweep.Ratio && d.step > 0 {
			list[i] = fmt.Sprintf("%s %.6g%%", d.name, 100*v)
		}
	}
	return list
}
