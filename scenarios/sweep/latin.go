package sweep

import "rdmasim/sim"

// LatinHypercube returns n points in the open unit cube of dims dimensions: of
// each dimension every n-th part holds exactly one point, anywhere in it.
// Source: M. McKay, R. Beckman and W. Conover, "A comparison of three methods
// for selecting values of input variables", Technometrics 21 (1979).
func LatinHypercube(n, dims int, seed uint64) [][]float64 {
	points := make([][]float64, n)
	flat := make([]float64, n*dims)
	for i := range points {
		points[i] = flat[i*dims : (i+1)*dims : (i+1)*dims]
	}
	rand := sim.NewRand(seed, "latin hypercube")
	for d := range dims {
		for i, cell := range rand.Perm(n) {
			u := float64(rand.Uint64()>>11) + 0.5
			points[i][d] = min((float64(cell)+float64(u/(1<<53)))/float64(n), 1-1.0/(1<<53))
		}
	}
	return points
}
