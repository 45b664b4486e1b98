package tune

import (
	"math"

	"rdmasim/sim/stat"
)

// Jackknife returns an estimate over n replicates and its Student-t interval
// from the pseudo-values n t - (n-1) t(without one). f computes the estimate over
// the replicates that it is given. Where f is a mean it is the plain t-interval.
// Source: Tukey, 1958; Miller, "The jackknife - a review", Biometrika, 1974.
func Jackknife(n int, confidence float64, f func(replicates []int) float64) stat.Interval {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	whole := f(all)
	if n < 2 {
		return stat.Interval{Mean: whole, Half: math.NaN(), N: n}
	}
	pseudo, rest := make([]float64, n), make([]int, 0, n-1)
	for i := range n {
		rest = append(append(rest[:0], all[:i]...), all[i+1:]...)
		pseudo[i] = float64(n)*whole - float64(n-1)*f(rest)
	}
	i := stat.MeanInterval(pseudo, confidence)
	i.Mean = whole // the bias that the pseudo-values would take away is within Half
	return i
}
