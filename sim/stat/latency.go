package stat

import (
	"math/bits"

	"rdmasim/sim"
)

// latencyBits gives 1<<latencyBits buckets per octave: a quantile is at most
// 0.1 % above the value that occurred.
const latencyBits = 10

// Latencies counts durations in buckets of 0.1 % of their size, all of them,
// however many there are. The zero value is empty.
type Latencies struct {
	n     int64
	first int
	count []int64
}

// Add counts a duration; one below 0 counts as 0.
func (l *Latencies) Add(d sim.Duration) {
	l.n++
	b := latencyBucket(max(int64(d), 0))
	switch {
	case l.count == nil:
		l.first, l.count = b, make([]int64, 1, 64)
	case b < l.first:
		grown := make([]int64, l.first-b+len(l.count))
		copy(grown[l.first-b:], l.count)
		l.first, l.count = b, grown
	}
	for b-l.first >= len(l.count) {
		l.count = append(l.count, 0)
	}
	l.count[b-l.first]++
}

// N returns how many durations were counted.
func (l *Latencies) N() int64 { return l.n }

// Quantile returns the upper edge of the bucket that holds sorted[floor(p n)],
// 0 if there is none. p is in 0..1.
func (l *Latencies) Quantile(p float64) sim.Duration {
	if l.n == 0 {
		return 0
	}
	r := int64(rank(int(l.n), p))
	for i, c := range l.count {
		if r -= c; r < 0 {
			return sim.Duration(latencyUpper(l.first + i))
		}
	}
	return sim.Duration(latencyUpper(l.first + len(l.count) - 1))
}

func latencyBucket(v int64) int {
	shift := bits.Len64(uint64(v)) - latencyBits - 1
	if shift <= 0 {
		return int(v)
	}
	return shift<<latencyBits + int(v>>shift)
}

func latencyUpper(b int) int64 {
	shift := b>>latencyBits - 1
	if shift <= 0 {
		return int64(b)
	}
	return (int64(b-shift<<latencyBits)+1)<<shift - 1
}
