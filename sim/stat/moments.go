package stat

import "math"

// Moments collects count, mean and variance of a stream of samples in one pass
// (Welford, Technometrics 4, 1962). The zero value is ready for use.
type Moments struct {
	n        int64
	mean, m2 float64
	min, max float64
}

// Add takes one sample.
func (m *Moments) Add(v float64) {
	m.n++
	if m.n == 1 {
		m.min, m.max = v, v
	}
	m.min, m.max = math.Min(m.min, v), math.Max(m.max, v)
	d := v - m.mean
	m.mean += d / float64(m.n)
	m.m2 += float64(d * (v - m.mean))
}

// Merge takes the samples of o (Chan, Golub, LeVeque, 1979).
func (m *Moments) Merge(o Moments) {
	if o.n == 0 {
		return
	}
	if m.n == 0 {
		*m = o
		return
	}
	n := float64(m.n + o.n)
	d := o.mean - m.mean
	m.mean += float64(d * float64(o.n) / n)
	m.m2 += o.m2 + float64(d*d*(float64(m.n)*float64(o.n)/n))
	m.n += o.n
	m.min, m.max = math.Min(m.min, o.min), math.Max(m.max, o.max)
}

// N returns the number of samples.
func (m *Moments) N() int64 { return m.n }

// Mean returns the mean, NaN without samples.
func (m *Moments) Mean() float64 { return m.orNaN(1, m.mean) }

// Min returns the smallest sample, NaN without samples.
func (m *Moments) Min() float64 { return m.orNaN(1, m.min) }

// Max returns the largest sample, NaN without samples.
func (m *Moments) Max() float64 { return m.orNaN(1, m.max) }

// Variance returns the unbiased variance of the samples, NaN with fewer than two.
func (m *Moments) Variance() float64 { return m.orNaN(2, m.m2/float64(m.n-1)) }

// Deviation returns the standard deviation, NaN with fewer than two samples.
func (m *Moments) Deviation() float64 { return math.Sqrt(m.Variance()) }

func (m *Moments) orNaN(need int64, v float64) float64 {
	if m.n < need {
		return math.NaN()
	}
	return v
}
