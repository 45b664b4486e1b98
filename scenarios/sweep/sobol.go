package sweep

import "rdmasim/sim"

// MostSobol is how many dimensions Sobol points can have.
const MostSobol = len(joeKuo) + 1

// joeKuo has degree s, coefficients a and initial direction numbers m of the
// dimensions from the second on. Source: S. Joe and F. Y. Kuo, "Constructing
// Sobol sequences with better two-dimensional projections", SIAM Journal on
// Scientific Computing 30 (2008), table new-joe-kuo-6.
var joeKuo = [...]struct {
	s, a int
	m    []uint32
}{
	{1, 0, []uint32{1}},
	{2, 1, []uint32{1, 3}},
	{3, 1, []uint32{1, 3, 1}},
	{3, 2, []uint32{1, 1, 1}},
	{4, 1, []uint32{1, 1, 3, 3}},
	{4, 4, []uint32{1, 3, 5, 13}},
	{5, 2, []uint32{1, 1, 5, 5, 17}},
	{5, 4, []uint32{1, 1, 5, 5, 5}},
	{5, 7, []uint32{1, 1, 7, 11, 19}},
	{5, 11, []uint32{1, 1, 5, 1, 1}},
	{5, 13, []uint32{1, 1, 1, 3, 11}},
	{5, 14, []uint32{1, 3, 5, 5, 31}},
	{6, 1, []uint32{1, 3, 3, 9, 7, 49}},
	{6, 13, []uint32{1, 1, 1, 15, 21, 21}},
	{6, 16, []uint32{1, 3, 1, 13, 27, 49}},
	{6, 19, []uint32{1, 1, 1, 15, 7, 5}},
	{6, 22, []uint32{1, 3, 1, 15, 13, 25}},
	{6, 25, []uint32{1, 1, 5, 5, 19, 61}},
	{7, 1, []uint32{1, 3, 7, 11, 23, 15, 103}},
	{7, 4, []uint32{1, 3, 7, 13, 13, 15, 69}},
	{7, 7, []uint32{1, 1, 3, 13, 7, 35, 63}},
	{7, 8, []uint32{1, 3, 5, 9, 1, 25, 53}},
	{7, 14, []uint32{1, 3, 1, 13, 9, 35, 107}},
	{7, 19, []uint32{1, 3, 1, 5, 27, 61, 31}},
	{7, 21, []uint32{1, 1, 5, 11, 19, 41, 61}},
	{7, 28, []uint32{1, 3, 5, 3, 3, 13, 69}},
	{7, 31, []uint32{1, 1, 7, 13, 1, 19, 1}},
	{7, 32, []uint32{1, 3, 7, 5, 13, 19, 59}},
	{7, 37, []uint32{1, 1, 3, 9, 25, 29, 41}},
	{7, 41, []uint32{1, 3, 5, 13, 23, 1, 55}},
}

const sobolBits = 32

// directions returns the direction numbers of a dimension, counted from 0, as
// binary fractions of 32 bits.
func directions(d int) (v [sobolBits]uint32) {
	if d == 0 {
		for i := range v {
			v[i] = 1 << (sobolBits - 1 - i)
		}
		return v
	}
	p := joeKuo[d-1]
	for i := range v {
		if i < p.s {
			v[i] = p.m[i] << (sobolBits - 1 - i)
			continue
		}
		v[i] = v[i-p.s] ^ v[i-p.s]>>p.s
		for k := 1; k < p.s; k++ {
			if p.a>>(p.s-1-k)&1 == 1 {
				v[i] ^= v[i-k]
			}
		}
	}
	return v
}

// SobolPoints returns n points of a Sobol sequence in the open unit cube of dims
// dimensions, at most MostSobol, each dimension shifted by random bits of the
// seed; the shift keeps how evenly the points lie. They lie best where n is a
// power of two.
func SobolPoints(n, dims int, seed uint64) [][]float64 {
	points := make([][]float64, n)
	flat := make([]float64, n*dims)
	for i := range points {
		points[i] = flat[i*dims : (i+1)*dims : (i+1)*dims]
	}
	rand := sim.NewRand(seed, "sobol")
	for d := range dims {
		v := directions(d)
		x := uint32(rand.Uint64() >> 32)
		for i := range points {
			points[i][d] = (float64(x) + 0.5) / (1 << sobolBits)
			// Antonov and Saleev: points in the order of Gray codes differ in one direction.
			x ^= v[trailingOnes(uint32(i))]
		}
	}
	return points
}

func trailingOnes(i uint32) int {
	n := 0
	for ; i&1 == 1; i >>= 1 {
		n++
	}
	return n
}
