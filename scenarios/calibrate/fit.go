package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"rdmasim/scenarios"
	"rdmasim/sim/stat"
	"rdmasim/sim/trace"
)

// Fitted is a parameter with its value and 95 % confidence interval.
type Fitted struct {
	Param     *Param
	Before    float64 // in the scenario, SI units
	Value     float64
	Low, High float64
	Known     bool // false: the run does not determine it, Value is Before
}

// Result is what a run says of its NICs and links.
type Result struct {
	Params       []Fitted
	Observations []Observation
	Simulated    []float64 // the figures of Observations with the fitted values
	Misfit       float64   // root mean square of ln(simulated / measured)
	Simulations  int
	Timeouts     *Timeouts // nil: not measured
}

const (
	// confidence of the intervals.
	confidence = 0.95
	// floor is the relative error below which no figure is believed: a model of
	// a real NIC is not better, and a simulated run has no spread at all.
	floor = 0.002
	// rounds bounds the iterations.
	rounds = 25
)

// ErrNothing says that a run has no messages that could be fitted.
var ErrNothing = errors.New("no group of at least twenty completed messages of one workload, verb and size: there is nothing to fit; want a run with a perftest or another workload that repeats")

// Options of a fit.
type Options struct {
	Names    string // of parameters, separated by commas; empty = the default ones, and the interval of CNPs where it can be had
	Scenario string // to simulate; empty = that in the run directory
	Version  string // of the program
	Progress func(round int, misfit float64)
}

// ErrNoCNPs says that the interval of CNPs was asked for, and why it cannot be had.
var ErrNoCNPs = errors.New("--fit " + cnpParam)

// Fit fits parameters to a run.
func Fit(ctx context.Context, run *trace.Run, o Options) (*Result, error) {
	names := o.Names
	params, err := Choose(names)
	if err != nil {
		return nil, err
	}
	obs, err := Observe(run)
	if err != nil {
		return nil, err
	}
	t, err := newTwin(ctx, run, o.Scenario, o.Version)
	if err != nil {
		return nil, err
	}
	s, err := t.with(nil, nil)
	if err != nil {
		return nil, err
	}
	if params, err = withCNPs(params, names, s, obs); err != nil {
		return nil, fmt.Errorf("%s: %w", run.Dir, err)
	}
	if len(obs) == 0 {
		return nil, fmt.Errorf("%s: %w", run.Dir, ErrNothing)
	}
	f := &fitter{twin: t, obs: obs, progress: o.Progress}
	r := &Result{Observations: obs}
	for _, p := range params {
		v := p.get(s)
		r.Params = append(r.Params, Fitted{Param: p, Before: v, Value: v, Low: v, High: v})
	}
	if err := f.solve(ctx, r); err != nil {
		return nil, err
	}
	r.Simulations = t.runs
	r.Timeouts, err = timeouts(run)
	return r, err
}

// withCNPs adds the interval of CNPs to the default parameters where it can be
// fitted; it is an error to ask for it where it cannot.
func withCNPs(params []*Param, names string, s *scenarios.Spec, obs []Observation) ([]*Param, error) {
	_, reacts := dcqcn(s)
	counted := slices.ContainsFunc(obs, func(o Observation) bool { return o.Kind == CNPs })
	p, err := lookup(cnpParam)
	if err != nil {
		return nil, err
	}
	switch asked := slices.Contains(params, p); {
	case !asked && names == "" && reacts && counted:
		return append(params, p), nil
	case asked && !reacts:
		return nil, fmt.Errorf("%w: the scenario does not run DCQCN (nic.congestion is %s)", ErrNoCNPs, s.NIC.Congestion.Name)
	case asked && !counted:
		return nil, fmt.Errorf("%w: it takes a run of at least %d CNPs in which at least %.0f %% of the packets were marked, and counters of both", ErrNoCNPs, leastCNPs, 100*leastMarked)
	}
	return params, nil
}

type fitter struct {
	twin     *twin
	obs      []Observation
	progress func(int, float64)
}

// weight is the relative error that a figure is believed to have.
func (f *fitter) weight(i int) float64 {
	return math.Hypot(f.obs[i].Error/f.obs[i].Value, floor)
}

// residuals are ln(simulated / measured) in units of their error.
func (f *fitter) residuals(got []float64) []float64 {
	r := make([]float64, len(got))
	for i, v := range got {
		r[i] = math.Log(v/f.obs[i].Value) / f.weight(i)
	}
	return r
}

func squares(r []float64) float64 {
	sum := 0.0
	for _, v := range r {
		sum += v * v
	}
	return sum
}

// internal and external change between a parameter and what is fitted: its
// logarithm where it is positive, a multiple of its step otherwise.
func internal(p *Param, v float64) float64 {
	if p.Positive {
		return math.Log(v)
	}
	return v / p.Step
}

func external(p *Param, u float64) float64 {
	if p.Positive {
		return math.Exp(u)
	}
	return max(0, u*p.Step)
}

// solve runs the fit and fills in the result; a parameter that the run does
// not determine is left out and the rest is fitted again.
func (f *fitter) solve(ctx context.Context, r *Result) error {
	active := make([]int, len(r.Params))
	for i := range active {
		active[i] = i
	}
	fit, err := f.levenberg(ctx, r, active)
	if err != nil {
		return err
	}
	for {
		weakest := fit.undetermined(r, active)
		if weakest < 0 {
			break
		}
		fewer := append(append([]int(nil), active[:weakest]...), active[weakest+1:]...)
		next, err := f.levenberg(ctx, r, fewer)
		if err != nil {
			return err
		}
		if fit.whole(len(active)) && squares(next.r) > squares(fit.r)+missed*fit.scale(len(active)) {
			break // it is not known well, but the figures need it
		}
		fit, active = next, fewer
	}
	fit.report(r, active, f.obs)
	return nil
}

// missed is by how much the sum of squares must grow, in units of what is left,
// for a parameter to be missed: three standard deviations.
const missed = 9

// whole reports whether every parameter has an interval.
func (s *state) whole(n int) bool {
	cov := s.covariance(n)
	for k := range n {
		if cov == nil || !(cov.At(k, k) >= 0) || math.IsInf(cov.At(k, k), 0) {
			return false
		}
	}
	return true
}

// state is a point of the fit.
type state struct {
	u   []float64 // internal values
	got []float64 // simulated figures
	r   []float64
	jac *mat.Dense
}

func (f *fitter) at(ctx context.Context, r *Result, active []int, u []float64) (*state, error) {
	params := make([]*Param, len(active))
	x := make([]float64, len(active))
	for k, i := range active {
		params[k], x[k] = r.Params[i].Param, external(r.Params[i].Param, u[k])
	}
	got, err := f.twin.simulate(ctx, params, x, f.obs)
	if err != nil {
		return nil, err
	}
	return &state{u: u, got: got, r: f.residuals(got)}, nil
}

// jacobian takes the derivatives by forward differences; each is one run.
func (f *fitter) jacobian(ctx context.Context, r *Result, active []int, s *state) error {
	s.jac = mat.NewDense(len(s.r), max(1, len(active)), nil)
	for k, i := range active {
		var h float64
		if r.Params[i].Param.Positive {
			h = r.Params[i].Param.Step
		} else {
			h = max(1, 0.02*s.u[k])
		}
		u := append([]float64(nil), s.u...)
		u[k] += h
		d, err := f.at(ctx, r, active, u)
		if err != nil {
			return err
		}
		for j := range s.r {
			s.jac.Set(j, k, (d.r[j]-s.r[j])/h)
		}
	}
	return nil
}

// levenberg minimises the sum of squares (K. Levenberg 1944, D. Marquardt 1963)
// within the bounds: what would be negative is 0.
func (f *fitter) levenberg(ctx context.Context, r *Result, active []int) (*state, error) {
	u := make([]float64, len(active))
	for k, i := range active {
		u[k] = internal(r.Params[i].Param, r.Params[i].Before)
	}
	s, err := f.start(ctx, r, active, u)
	if err != nil {
		return nil, err
	}
	damp := 1e-3
	for round := range rounds {
		if err := f.jacobian(ctx, r, active, s); err != nil {
			return nil, err
		}
		if f.progress != nil {
			f.progress(round+1, math.Sqrt(meanSquare(f.obs, s.got)))
		}
		if len(active) == 0 {
			return s, nil
		}
		next, err := f.step(ctx, r, active, s, &damp)
		if err != nil {
			return nil, err
		}
		if next == nil {
			return s, nil
		}
		gain := squares(s.r) - squares(next.r)
		next.jac = s.jac
		s = next
		if gain < 1e-3*squares(s.r)+1e-6 {
			return s, f.jacobian(ctx, r, active, s)
		}
	}
	return s, nil
}

// start returns where the fit begins: at u, and with the interval of CNPs at the
// best of a few. The number of CNPs neither rises nor falls with it all the way:
// with few of them queues are long and marks are many.
func (f *fitter) start(ctx context.Context, r *Result, active []int, u []float64) (*state, error) {
	best, err := f.at(ctx, r, active, u)
	if err != nil {
		return nil, err
	}
	for k, i := range active {
		if r.Params[i].Param.Name != cnpParam {
			continue
		}
		for us := 1.0; us <= 256; us *= 2 {
			v := append([]float64(nil), u...)
			v[k] = internal(r.Params[i].Param, us*1e-6)
			s, err := f.at(ctx, r, active, v)
			if err != nil {
				return nil, err
			}
			if squares(s.r) < squares(best.r) {
				best = s
			}
		}
	}
	return best, nil
}

// step tries to go downhill with more and more damping; nil when it cannot.
func (f *fitter) step(ctx context.Context, r *Result, active []int, s *state, damp *float64) (*state, error) {
	free, normal, down := s.free(r, active)
	n := len(free)
	if n == 0 {
		return nil, nil
	}
	for range 8 {
		a := mat.DenseCopyOf(normal)
		for k := range n {
			a.Set(k, k, normal.At(k, k)*(1+*damp))
		}
		var d mat.VecDense
		if err := d.SolveVec(a, down); err == nil {
			next, err := f.at(ctx, r, active, moved(r, active, s.u, free, &d))
			if err != nil {
				return nil, err
			}
			if squares(next.r) < squares(s.r) {
				*damp = max(*damp/5, 1e-9)
				return next, nil
			}
		}
		*damp *= 10
	}
	return nil, nil
}

// free returns which active parameters may move (not those at 0 that want to be
// less, nor those that change nothing), the normal matrix of them, and which way
// is down.
func (s *state) free(r *Result, active []int) (free []int, normal *mat.Dense, down *mat.VecDense) {
	slope := mat.NewVecDense(len(active), nil)
	slope.MulVec(s.jac.T(), mat.NewVecDense(len(s.r), s.r))
	for k, i := range active {
		bound := !r.Params[i].Param.Positive && s.u[k] <= 0 && slope.AtVec(k) > 0
		if !bound && column(s.jac, k) > 0 {
			free = append(free, k)
		}
	}
	if len(free) == 0 {
		return nil, nil, nil
	}
	var all mat.Dense
	all.Mul(s.jac.T(), s.jac)
	normal, down = mat.NewDense(len(free), len(free), nil), mat.NewVecDense(len(free), nil)
	for a, k := range free {
		down.SetVec(a, -slope.AtVec(k))
		for b, l := range free {
			normal.Set(a, b, all.At(k, l))
		}
	}
	return free, normal, down
}

// moved returns u after a step of its free members: rates by a factor of e at
// most, nothing below 0.
func moved(r *Result, active []int, u []float64, free []int, d *mat.VecDense) []float64 {
	u = append([]float64(nil), u...)
	for a, k := range free {
		if r.Params[active[k]].Param.Positive {
			u[k] += max(-1, min(1, d.AtVec(a)))
		} else {
			u[k] = max(0, u[k]+d.AtVec(a))
		}
	}
	return u
}

func meanSquare(obs []Observation, got []float64) float64 {
	sum := 0.0
	for i, v := range got {
		l := math.Log(v / obs[i].Value)
		sum += l * l
	}
	return sum / float64(len(obs))
}

// covariance is that of the internal values; the errors of figures are scaled
// up when they miss by more than those explain. Nil: it cannot be had.
func (s *state) covariance(n int) *mat.Dense {
	if n == 0 || len(s.r) < n {
		return nil
	}
	var normal, inv mat.Dense
	normal.Mul(s.jac.T(), s.jac)
	if err := inv.Inverse(&normal); err != nil {
		return nil
	}
	inv.Scale(s.scale(n), &inv)
	return &inv
}

func (s *state) scale(n int) float64 {
	return max(1, squares(s.r)/float64(max(1, len(s.r)-n)))
}

// undetermined returns which active parameter the run says least of, if it says
// too little: its interval is wider than its value and than a hundred steps.
// -1: all are determined.
func (s *state) undetermined(r *Result, active []int) int {
	n := len(active)
	if n == 0 {
		return -1
	}
	cov := s.covariance(n)
	worst, at := 0.0, -1
	for k, i := range active {
		p := r.Params[i].Param
		var loss float64 // the half interval in units of the value
		if cov != nil && cov.At(k, k) >= 0 && !math.IsInf(cov.At(k, k), 0) {
			half := quantile(len(s.r)-n) * math.Sqrt(cov.At(k, k))
			loss = half // of a logarithm
			if !p.Positive {
				loss = half / max(s.u[k], 100)
			}
		} else {
			loss = 2 + 1e6/(1e-9+column(s.jac, k)) // none has an interval: the one that changes least
		}
		if loss > 1 && loss > worst {
			worst, at = loss, k
		}
	}
	return at
}

func column(m *mat.Dense, k int) float64 {
	sum := 0.0
	rows, _ := m.Dims()
	for j := range rows {
		sum += m.At(j, k) * m.At(j, k)
	}
	return sum
}

func quantile(df int) float64 { return stat.StudentQuantile((1+confidence)/2, float64(max(1, df))) }

// report writes values and intervals.
func (s *state) report(r *Result, active []int, obs []Observation) {
	cov := s.covariance(len(active))
	for k, i := range active {
		p := &r.Params[i]
		half := quantile(len(s.r)-len(active)) * math.Sqrt(cov.At(k, k))
		p.Value, p.Low, p.High = external(p.Param, s.u[k]), external(p.Param, s.u[k]-half), external(p.Param, s.u[k]+half)
		p.Known = true
	}
	r.Simulated = s.got
	r.Misfit = math.Sqrt(meanSquare(obs, s.got))
}
