package tune

import (
	"fmt"

	"rdmasim/sim"
)

// hypercube returns n points of the unit cube of dim dimensions such that every
// n-th part of every axis holds exactly one. Source: McKay, Beckman, Conover,
// 1979. Points of every axis are drawn from a stream of its own.
func hypercube(seed uint64, n, dim int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, dim)
	}
	for k := range dim {
		r := sim.NewRand(seed, fmt.Sprintf("tune/hypercube/%d", k))
		for i, cell := range r.Perm(n) {
			out[i][k] = (float64(cell) + r.Float64()) / float64(n)
		}
	}
	return out
}
