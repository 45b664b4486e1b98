package tuning

import (
	"fmt"
	"math"
	"slices"
)

// Surrogate is a polynomial of second order through the evaluated points, in
// Legendre polynomials over the range of each parameter: what the variance of
// the result comes from can be read off its coefficients (B. Sudret, Reliability
// Engineering & System Safety 93:964, 2008, section 4).
type Surrogate struct {
	Points int     // that it was fitted to
	Log    bool    // it predicts the logarithm of the value
	Pairs  bool    // with products of two parameters
	R2     float64 // of points left out one at a time: 1 is perfect, 0 no better than the mean
	Valid  bool    // R2 is at least MinR2
	Why    string  // why it is not valid
	terms  [][2]int
	degree [][2]int
	coef   []float64
	inputs []Parameter
	offset float64 // added before a logarithm is taken, where some values are 0
	least  float64 // a figure that never was negative is not foretold to be
}

// MinR2 is the share of the variance that a surrogate must foretell at points
// that it has not seen before anything is read off it.
const MinR2 = 0.6

// ridge keeps the normal equations solvable where points do not tell two terms
// apart; it is a share of the number of points.
const ridge = 1e-6

// Fit returns a surrogate for the values y of points x. Values that span more
// than a decade and are never negative are fitted by their logarithm; where some
// are 0, by that of the value plus a tenth of the median of the others.
func Fit(inputs []Parameter, x [][]float64, y []float64) *Surrogate {
	s := &Surrogate{Points: len(y), inputs: inputs}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range y {
		lo, hi = min(lo, v), max(hi, v)
	}
	if !(hi > lo) {
		s.Why = "all points have the same value"
		return s
	}
	s.least = min(0, lo)
	s.transform(lo, hi, y)
	d := len(inputs)
	full := 1 + 2*d + d*(d-1)/2
	s.Pairs = len(y) >= full*3/2
	if !s.Pairs && len(y) < (1+2*d)*3/2 {
		s.Why = "fewer points than a polynomial of second order needs: " + fmt.Sprintf("%d, want at least %d", len(y), (1+2*d)*3/2)
		return s
	}
	s.basis(d)
	rows := make([][]float64, len(y))
	target := make([]float64, len(y))
	for i := range y {
		rows[i], target[i] = s.row(x[i]), y[i]
		if s.Log {
			target[i] = math.Log(y[i] + s.offset)
		}
	}
	s.solve(rows, target)
	switch {
	case math.IsNaN(s.R2):
		s.Why = "the points lie in too few places"
	case s.R2 < MinR2:
		s.Why = "a polynomial of second order foretells too little of points that it has not seen"
	default:
		s.Valid = true
	}
	return s
}

// transform decides about logarithms.
func (s *Surrogate) transform(lo, hi float64, y []float64) {
	if lo < 0 {
		return
	}
	var above []float64
	for _, v := range y {
		if v > 0 {
			above = append(above, v)
		}
	}
	slices.Sort(above)
	if s.Log = hi > 10*above[0]; s.Log && lo == 0 {
		s.offset = above[len(above)/2] / 10
	}
}

// basis lists the terms: the two parameters of each and their degrees.
func (s *Surrogate) basis(d int) {
	add := func(a, da, b, db int) {
		s.terms, s.degree = append(s.terms, [2]int{a, b}), append(s.degree, [2]int{da, db})
	}
	add(0, 0, 0, 0)
	for i := range d {
		add(i, 1, i, 0)
		add(i, 2, i, 0)
	}
	if !s.Pairs {
		return
	}
	for i := range d {
		for k := i + 1; k < d; k++ {
			add(i, 1, k, 1)
		}
	}
}

// legendre is the orthonormal shifted Legendre polynomial on 0..1.
func legendre(n int, u float64) float64 {
	switch z := 2*u - 1; n {
	case 0:
		return 1
	case 1:
		return math.Sqrt(3) * z
	default:
		return math.Sqrt(5) * (1.5*z*z - 0.5)
	}
}

// row evaluates all terms at a point; what lies outside of the range counts as
// its end.
func (s *Surrogate) row(x []float64) []float64 {
	u := make([]float64, len(s.inputs))
	for k := range u {
		u[k] = min(max(s.inputs[k].Unit01(x[k]), 0), 1)
	}
	out := make([]float64, len(s.terms))
	for t := range s.terms {
		out[t] = legendre(s.degree[t][0], u[s.terms[t][0]]) * legendre(s.degree[t][1], u[s.terms[t][1]])
	}
	return out
}

// solve fits by least squares and finds R2 from the residuals of points left
// out, which the diagonal of the hat matrix gives without fitting again.
func (s *Surrogate) solve(rows [][]float64, y []float64) {
	m, n := len(s.terms), len(y)
	normal := make([][]float64, m)
	rhs := make([]float64, m)
	for a := range m {
		normal[a] = make([]float64, m)
		for i := range n {
			rhs[a] += rows[i][a] * y[i]
			for b := range m {
				normal[a][b] += rows[i][a] * rows[i][b]
			}
		}
		normal[a][a] += ridge * float64(n)
	}
	l := cholesky(normal)
	if l == nil {
		s.R2 = math.NaN()
		return
	}
	s.coef = l.solve(rhs)
	mean := 0.0
	for _, v := range y {
		mean += v / float64(n)
	}
	press, total := 0.0, 0.0
	for i := range n {
		fit, hat := 0.0, 0.0
		z := l.solve(rows[i])
		for a := range m {
			fit += s.coef[a] * rows[i][a]
			hat += z[a] * rows[i][a]
		}
		e := (y[i] - fit) / max(1-hat, 1e-3)
		out := (y[i] - mean) * float64(n) / float64(n-1) // the mean without the point too
		press, total = press+e*e, total+out*out
	}
	s.R2 = 1 - press/total
}

// Predict returns the value at a point.
func (s *Surrogate) Predict(x []float64) float64 {
	sum := 0.0
	for t, v := range s.row(x) {
		sum += s.coef[t] * v
	}
	if s.Log {
		return max(math.Exp(sum)-s.offset, 0)
	}
	if s.least == 0 {
		return max(sum, 0)
	}
	return sum
}

// Index is the share of the variance of a result that a parameter explains, if
// all parameters are anywhere in their ranges: alone, and with what it does
// together with others (I. M. Sobol', Mathematics and Computers in Simulation
// 55:271, 2001).
type Index struct {
	First, Total float64
}

// Indices returns the Sobol indices of each parameter.
func (s *Surrogate) Indices() []Index {
	out := make([]Index, len(s.inputs))
	sum := 0.0
	for t := range s.terms {
		v := s.coef[t] * s.coef[t]
		a, b := s.terms[t][0], s.terms[t][1]
		switch {
		case s.degree[t] == [2]int{}:
			continue
		case s.degree[t][1] == 0:
			out[a].First += v
			out[a].Total += v
		default:
			out[a].Total += v
			out[b].Total += v
		}
		sum += v
	}
	for k := range out {
		if sum > 0 {
			out[k].First, out[k].Total = out[k].First/sum, out[k].Total/sum
		}
	}
	return out
}

// Swing is what the value becomes when one parameter goes through its range and
// the others stay: the ends, and the least and most on the way.
type Swing struct {
	AtLow, AtHigh float64
	Min, Max      float64
}

// Swings returns the swing of each parameter around a point.
func (s *Surrogate) Swings(at []float64) []Swing {
	const steps = 32
	out := make([]Swing, len(s.inputs))
	x := append([]float64(nil), at...)
	for k := range s.inputs {
		w := Swing{Min: math.Inf(1), Max: math.Inf(-1)}
		for i := range steps + 1 {
			x[k] = s.inputs[k].From01(float64(i) / steps)
			v := s.Predict(x)
			if i == 0 {
				w.AtLow = v
			}
			w.AtHigh, w.Min, w.Max = v, min(w.Min, v), max(w.Max, v)
		}
		x[k], out[k] = at[k], w
	}
	return out
}

// lower is a lower triangular matrix.
type lower [][]float64

// cholesky returns the factor of a symmetric matrix; nil if it is not positive
// definite.
func cholesky(a [][]float64) lower {
	n := len(a)
	l := make(lower, n)
	for i := range n {
		l[i] = make([]float64, i+1)
		for k := range i + 1 {
			sum := a[i][k]
			for j := range k {
				sum -= l[i][j] * l[k][j]
			}
			if i != k {
				l[i][k] = sum / l[k][k]
				continue
			}
			if !(sum > 0) {
				return nil
			}
			l[i][i] = math.Sqrt(sum)
		}
	}
	return l
}

// solve returns x of l lᵀ x = b.
func (l lower) solve(b []float64) []float64 {
	x := append([]float64(nil), b...)
	for i := range x {
		for k := range i {
			x[i] -= l[i][k] * x[k]
		}
		x[i] /= l[i][i]
	}
	for i := len(x) - 1; i >= 0; i-- {
		for k := i + 1; k < len(x); k++ {
			x[i] -= l[k][i] * x[k]
		}
		x[i] /= l[i][i]
	}
	return x
}

// Surrogate fits objective o, averaged over workloads, over all points of the
// search, today and baselines that lie in its ranges.
func (r *Result) Surrogate(o int) *Surrogate {
	var x [][]float64
	var y []float64
	for i := range r.Points {
		p := &r.Points[i]
		v, ok := r.Mean(p, o)
		if !ok || !r.inside(p) {
			continue
		}
		x, y = append(x, p.Values), append(y, v)
	}
	return Fit(r.Parameters, x, y)
}

func (r *Result) inside(p *Point) bool {
	for k, v := range p.Values {
		if v < r.Parameters[k].Low || v > r.Parameters[k].High {
			return false
		}
	}
	return true
}
