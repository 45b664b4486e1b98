package stat

import "math"

// Interval is a mean with the half-width of its confidence interval: the true
// mean lies within Mean - Half .. Mean + Half with the confidence asked for.
type Interval struct {
	Mean, Half float64
	N          int
}

// Low and High are the ends of the interval.
func (i Interval) Low() float64  { return i.Mean - i.Half }
func (i Interval) High() float64 { return i.Mean + i.Half }

// Overlaps says whether two intervals have a value in common.
func (i Interval) Overlaps(o Interval) bool { return i.Low() <= o.High() && o.Low() <= i.High() }

// MeanInterval returns the mean over independent replicates (runs with other
// seeds) and its Student-t interval; confidence is in 0..1, for example 0.95.
// With fewer than two replicates Half is NaN: one run says nothing of spread.
func MeanInterval(replicates []float64, confidence float64) Interval {
	var m Moments
	for _, v := range replicates {
		m.Add(v)
	}
	n := len(replicates)
	i := Interval{Mean: m.Mean(), Half: math.NaN(), N: n}
	if n >= 2 {
		i.Half = StudentQuantile((1+confidence)/2, float64(n-1)) * m.Deviation() / math.Sqrt(float64(n))
	}
	return i
}

// StudentCDF returns the probability that a Student-t variable of df degrees of
// freedom is at most t, by the incomplete beta function (Abramowitz and Stegun
// 26.7.1): for t >= 0 it is 1 - I_x(df/2, 1/2) / 2 with x = df / (df + t^2).
func StudentCDF(t, df float64) float64 {
	if t < 0 {
		return 1 - StudentCDF(-t, df)
	}
	return 1 - betaRegularized(df/(df+t*t), df/2, 0.5)/2
}

// StudentQuantile returns the t below which a Student-t variable of df degrees
// of freedom lies with probability p: infinite for p of 0 and 1, NaN outside of
// 0..1 and for df that is not positive.
func StudentQuantile(p, df float64) float64 {
	switch {
	case !(p >= 0 && p <= 1) || !(df > 0):
		return math.NaN()
	case p < 0.5:
		return -StudentQuantile(1-p, df)
	case p == 0.5:
		return 0
	case p == 1:
		return math.Inf(1)
	}
	low, high := 0.0, 1.0
	for StudentCDF(high, df) < p && high < 1e300 {
		low, high = high, high*2
	}
	for range 200 { // bisection: halves the error, so that 60 steps would do
		mid := low + (high-low)/2
		if mid == low || mid == high {
			break
		}
		if StudentCDF(mid, df) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// betaRegularized returns I_x(a, b).
func betaRegularized(x, a, b float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	ga, _ := math.Lgamma(a)
	gb, _ := math.Lgamma(b)
	gab, _ := math.Lgamma(a + b)
	front := math.Exp(gab - ga - gb + a*math.Log(x) + b*math.Log1p(-x))
	if x < (a+1)/(a+b+2) { // where the fraction converges fast
		return front * betaFraction(x, a, b) / a
	}
	return 1 - front*betaFraction(1-x, b, a)/b
}

// betaFraction evaluates the continued fraction of the incomplete beta function
// (Abramowitz and Stegun 26.5.8) by Lentz's method.
func betaFraction(x, a, b float64) float64 {
	const tiny, enough = 1e-300, 1e-16
	guard := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/guard(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m <= 500; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / guard(1+even*d)
		c = guard(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / guard(1+odd*d)
		c = guard(1 + odd/c)
		step := d * c
		h *= step
		if math.Abs(step-1) <= enough {
			break
		}
	}
	return h
}
