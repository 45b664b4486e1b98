package stat

import (
	"math/bits"

	"rdmasim/sim"
)

// subBits gives 1<<subBits buckets per octave: values in one bucket differ by
// at most 1/8 of the smaller.
const subBits = 3

// Buckets of a Histogram: values up to 15 have one each, the octaves above
// eight, up to the largest int64.
const (
	octave  = 1 << subBits
	Buckets = (64 - subBits) * octave
)

// BucketOf returns the bucket of a value v >= 0.
func BucketOf(v int64) int {
	u := uint64(v)
	if u < 2*octave {
		return int(u)
	}
	shift := bits.Len64(u) - subBits - 1
	return shift<<subBits + int(u>>shift)
}

// Upper returns the largest value of a bucket.
func Upper(bucket int) int64 {
	if bucket < 2*octave {
		return int64(bucket)
	}
	shift := bucket>>subBits - 1
	u := uint64(bucket&(octave-1) | octave)
	return int64((u+1)<<shift - 1)
}

// Histogram is the time that a whole quantity spent in each bucket. It holds
// the octaves between the least and the greatest bucket used: a queue that
// stayed short costs 64 bytes per octave, not the 4 KiB of all. The zero value
// is empty.
type Histogram struct {
	first int // bucket of time[0], a multiple of octave
	time  []sim.Duration
}

// Add books a time in a bucket.
func (h *Histogram) Add(bucket int, d sim.Duration) {
	i := bucket - h.first
	if uint(i) >= uint(len(h.time)) {
		i = h.grow(bucket)
	}
	h.time[i] += d
}

// grow makes room for a bucket and returns its index.
func (h *Histogram) grow(bucket int) int {
	first := bucket &^ (octave - 1)
	last := first + octave
	if len(h.time) > 0 {
		first, last = min(first, h.first), max(last, h.first+len(h.time))
	}
	t := make([]sim.Duration, last-first)
	copy(t[max(h.first-first, 0):], h.time)
	h.first, h.time = first, t
	return bucket - first
}

// Quantile returns the upper edge of the bucket up to which the quantity
// stayed for at least the time need, and false if all booked time is less.
func (h *Histogram) Quantile(need sim.Duration) (int64, bool) {
	var sum sim.Duration
	for i, d := range h.time {
		if sum += d; sum >= need {
			return Upper(h.first + i), true
		}
	}
	return 0, false
}

// Exceeded returns the upper edge of the greatest bucket above which, it
// included, the quantity spent more than the time limit; 0 if there is none.
func (h *Histogram) Exceeded(limit sim.Duration) int64 {
	var above sim.Duration
	for i := len(h.time) - 1; i >= 0; i-- {
		if above += h.time[i]; above > limit {
			return Upper(h.first + i)
		}
	}
	return 0
}

// Merge adds what o holds.
func (h *Histogram) Merge(o *Histogram) {
	for i, d := range o.time {
		if d != 0 {
			h.Add(o.first+i, d)
		}
	}
}

// Reset forgets everything and gives the memory back.
func (h *Histogram) Reset() { *h = Histogram{} }
