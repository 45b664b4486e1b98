package tuning

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

func cube(d int) []Parameter {
	out := make([]Parameter, d)
	for i := range out {
		out[i] = Parameter{Low: 0, High: 1, Scale: Linear}
	}
	return out
}

// sample evaluates f at n points of the cube.
func sample(n, d int, f func(u []float64) float64) (x [][]float64, y []float64) {
	rng := sim.NewRand(1, "surrogate")
	for range n {
		u := make([]float64, d)
		for k := range u {
			u[k] = rng.Float64()
		}
		x, y = append(x, u), append(y, f(u))
	}
	return x, y
}

// f = 4 a + 2 b + 3 (a - 1/2)(b - 1/2) has variances 16/12, 4/12 and 9/144, and
// c does nothing: the indices are known.
func TestSobolOfAKnownFunction(t *testing.T) {
	x, y := sample(60, 3, func(u []float64) float64 { return 4*u[0] + 2*u[1] + 3*(u[0]-0.5)*(u[1]-0.5) })
	s := Fit(cube(3), x, y)
	require.True(t, s.Valid, s.Why)
	assert.True(t, s.Pairs)
	assert.InDelta(t, 1, s.R2, 1e-6)
	sum := 16.0/12 + 4.0/12 + 9.0/144
	index := s.Indices()
	for k, want := range []Index{{16.0 / 12 / sum, (16.0/12 + 9.0/144) / sum}, {4.0 / 12 / sum, (4.0/12 + 9.0/144) / sum}, {}} {
		assert.InDelta(t, want.First, index[k].First, 1e-4)
		assert.InDelta(t, want.Total, index[k].Total, 1e-4)
	}
	assert.InDelta(t, 4*0.3+2*0.2+3*(-0.2)*(-0.3), s.Predict([]float64{0.3, 0.2, 0.9}), 1e-3)
	swing := s.Swings([]float64{0.5, 0.5, 0.5})
	assert.InDelta(t, 4, swing[0].AtHigh-swing[0].AtLow, 1e-3)
	assert.InDelta(t, 0, swing[2].Max-swing[2].Min, 1e-3)
}

// The hat matrix must give what fitting again without each point gives.
func TestR2IsThatOfPointsLeftOut(t *testing.T) {
	rng := sim.NewRand(2, "noise")
	x, y := sample(40, 2, func(u []float64) float64 { return 1 + u[0] + rng.Float64() })
	s := Fit(cube(2), x, y)
	press, total := 0.0, 0.0
	for i := range y {
		var xs [][]float64
		var ys []float64
		mean := 0.0
		for k := range y {
			if k != i {
				xs, ys = append(xs, x[k]), append(ys, y[k])
				mean += y[k] / float64(len(y)-1)
			}
		}
		e := y[i] - Fit(cube(2), xs, ys).Predict(x[i])
		press += e * e
		total += (y[i] - mean) * (y[i] - mean)
	}
	assert.InDelta(t, 1-press/total, s.R2, 1e-3)
}

func TestSurrogateIsNotValid(t *testing.T) {
	rng := sim.NewRand(3, "noise")
	x, y := sample(50, 2, func([]float64) float64 { return rng.Float64() })
	s := Fit(cube(2), x, y)
	assert.False(t, s.Valid)
	assert.Less(t, s.R2, 0.3, "noise cannot be foretold")
	assert.Contains(t, s.Why, "foretells too little")

	s = Fit(cube(2), x[:5], y[:5])
	assert.False(t, s.Valid)
	assert.Contains(t, s.Why, "fewer points")
	s = Fit(cube(2), x, make([]float64, 50))
	assert.Contains(t, s.Why, "same value")
	same := make([][]float64, 50)
	for i := range same {
		same[i] = x[0]
	}
	s = Fit(cube(2), same, y)
	assert.False(t, s.Valid)
	assert.NotEmpty(t, s.Why)
}

// A law of powers is linear in logarithms.
func TestSurrogateOfAPowerLaw(t *testing.T) {
	in := []Parameter{{Low: 1, High: 1000, Scale: Log}, {Low: 1, High: 1000, Scale: Log}}
	x, y := sample(40, 2, nil2)
	for i := range x {
		for k := range x[i] {
			x[i][k] = in[k].From01(x[i][k])
		}
		y[i] = x[i][0] * math.Sqrt(x[i][1])
	}
	s := Fit(in, x, y)
	require.True(t, s.Valid)
	assert.True(t, s.Log)
	assert.InEpsilon(t, 10*math.Sqrt(50), s.Predict([]float64{10, 50}), 1e-3)
	assert.InDelta(t, 0.8, s.Indices()[0].First, 1e-3, "variances 1 and 1/4")
}

// A figure that never is negative is not foretold to be, even where many points
// have none of it.
func TestSurrogateOfZeros(t *testing.T) {
	x, y := sample(80, 2, func(u []float64) float64 { return max(0, math.Exp(8*u[0])-200) })
	s := Fit(cube(2), x, y)
	assert.True(t, s.Log)
	for u := 0.0; u <= 1; u += 0.05 {
		assert.GreaterOrEqual(t, s.Predict([]float64{u, 0.5}), 0.0)
	}
}

func nil2([]float64) float64 { return 0 }
