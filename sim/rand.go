package sim

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// Rand is one named random stream. Streams are independent of each other, so
// that a new component never reshuffles the draws of an old one.
type Rand struct {
	pcg rand.PCG
	r   rand.Rand
}

// NewRand returns the stream of the given name under the run's seed.
func NewRand(seed uint64, name string) *Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	s := &Rand{}
	s.pcg.Seed(Mix64(seed^0x9e3779b97f4a7c15), Mix64(h.Sum64()))
	s.r = *rand.New(&s.pcg)
	return s
}

// Uint64 returns 64 random bits.
func (s *Rand) Uint64() uint64 { return s.pcg.Uint64() }

// Float64 returns a number in [0,1).
func (s *Rand) Float64() float64 { return float64(s.pcg.Uint64()>>11) * (1.0 / (1 << 53)) }

// IntN returns a number in [0,n); n must be positive.
func (s *Rand) IntN(n int) int { return s.r.IntN(n) }

// Perm returns a permutation of [0,n).
func (s *Rand) Perm(n int) []int { return s.r.Perm(n) }

// Exp returns an exponentially distributed duration of the given mean, at
// least one picosecond.
func (s *Rand) Exp(mean Duration) Duration {
	d := Duration(math.Round(-math.Log1p(-s.Float64()) * float64(mean)))
	return max(d, 1)
}

// Mix64 is the finaliser of splitmix64: a bijection of 64-bit words that
// spreads every input bit over the output.
func Mix64(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
