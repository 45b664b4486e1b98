// Package stat holds the statistics of reports: quantiles, fairness,
// time-weighted means and confidence intervals. Everything is pure and gives
// the same bits for the same input in the same order.
package stat

import (
	"math"
	"slices"
)

// Quantile returns sorted[floor(p n)], clamped to the ends: the smallest sample
// that at least p of the samples do not exceed, up to one sample. p is in 0..1.
// There is no interpolation, so that every quantile is a value that occurred.
// It is NaN for an empty slice.
func Quantile(sorted []float64, p float64) float64 {
	n := len(sorted)
	if n == 0 || p != p {
		return math.NaN()
	}
	return sorted[rank(n, p)]
}

// rank returns floor(p n), clamped to 0..n-1. A product such as 0.29 x 100,
// which is 28.999... in binary, counts as the whole number that it means.
func rank(n int, p float64) int {
	r := p * float64(n)
	if w := math.Round(r); math.Abs(r-w) <= 1e-9*math.Max(w, 1) {
		r = w
	}
	return int(math.Min(math.Max(math.Floor(r), 0), float64(n-1)))
}

// Summary is what is told of a distribution.
type Summary struct {
	N                        int
	Mean, Min, P50, P95, P99 float64
	Max                      float64
}

// Summarize sorts samples in place and summarizes them; ok is false if there are none.
func Summarize(samples []float64) (s Summary, ok bool) {
	if len(samples) == 0 {
		return s, false
	}
	slices.Sort(samples)
	return Summary{N: len(samples), Mean: Mean(samples), Min: samples[0], P50: Quantile(samples, 0.50),
		P95: Quantile(samples, 0.95), P99: Quantile(samples, 0.99), Max: samples[len(samples)-1]}, true
}

// Mean returns the arithmetic mean, NaN for an empty slice. Sums are
// compensated (Neumaier, 1974), so that a million samples lose no digit.
func Mean(samples []float64) float64 {
	var sum, lost float64
	for _, v := range samples {
		t := sum + v
		if math.Abs(sum) >= math.Abs(v) {
			lost += (sum - t) + v
		} else {
			lost += (v - t) + sum
		}
		sum = t
	}
	return (sum + lost) / float64(len(samples))
}

// Jain returns Jain's fairness index (sum x)^2 / (n sum x^2) of shares x >= 0:
// 1 when all are equal, 1/n when one has everything (Jain, Chiu, Hawe, "A
// Quantitative Measure of Fairness", DEC TR-301, 1984). It is NaN if there is
// no share, or none above 0.
func Jain(shares []float64) float64 {
	if len(shares) == 0 {
		return math.NaN()
	}
	top := slices.Max(shares)
	var sum, squares float64
	for _, x := range shares {
		x /= top // the index does not depend on the unit; squares stay finite
		sum += x
		squares += float64(x * x)
	}
	return float64(sum*sum) / (float64(len(shares)) * squares)
}
