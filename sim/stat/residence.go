package stat

import (
	"math"
	"math/bits"

	"rdmasim/sim"
)

// Residence is a log-linear histogram of how long a whole quantity, such as the
// bytes in a queue, stayed at each value: the source of time-weighted means and
// quantiles. Values below 16 have buckets of their own; above, an octave has 8
// buckets. Mean, minimum and maximum are exact. Memory grows with the logarithm of the
// largest value, at most 4 KiB. The zero value is ready for use.
type Residence struct {
	held     Histogram
	total    sim.Duration
	hi, lo   uint64 // integral of value x picoseconds, 128 bits
	min, max int64
	any      bool
}

// Add records that the quantity was v for the time d. Negative values count as
// 0; a time of 0 or less only takes part in the minimum and maximum.
func (r *Residence) Add(v int64, d sim.Duration) {
	v = max(v, 0)
	if !r.any {
		r.min, r.max, r.any = v, v, true
	}
	r.min, r.max = min(r.min, v), max(r.max, v)
	if d <= 0 {
		return
	}
	r.held.Add(BucketOf(v), d)
	r.total += d
	hi, lo := bits.Mul64(uint64(v), uint64(d))
	var carry uint64
	r.lo, carry = bits.Add64(r.lo, lo, 0)
	r.hi, _ = bits.Add64(r.hi, hi, carry)
}

// Total returns how much time was recorded.
func (r *Residence) Total() sim.Duration { return r.total }

// Max returns the largest value seen, 0 if there was none.
func (r *Residence) Max() int64 { return r.max }

// Min returns the smallest value seen, 0 if there was none.
func (r *Residence) Min() int64 { return r.min }

// Integral returns the integral of the quantity over time, in units x seconds.
func (r *Residence) Integral() float64 {
	return r.integral() / float64(sim.Second)
}

// integral is Integral in units x picoseconds.
func (r *Residence) integral() float64 { return math.Ldexp(float64(r.hi), 64) + float64(r.lo) }

// Mean returns the time-weighted mean, 0 if no time was recorded.
func (r *Residence) Mean() float64 {
	if r.total == 0 {
		return 0
	}
	return r.integral() / float64(r.total)
}

// Quantile returns the value that the quantity did not exceed during the share
// p of the time: the upper edge of its bucket, at most 1/8 too high, and never
// above Max. It is 0 if no time was recorded.
func (r *Residence) Quantile(p float64) int64 {
	if r.total == 0 {
		return 0
	}
	need := sim.Duration(math.Ceil(p * float64(r.total)))
	need = min(max(need, 1), r.total)
	v, _ := r.held.Quantile(need)
	return min(v, r.max)
}

// Merge adds what o recorded.
func (r *Residence) Merge(o *Residence) {
	if !o.any {
		return
	}
	if !r.any {
		r.min, r.max, r.any = o.min, o.max, true
	}
	r.min, r.max = min(r.min, o.min), max(r.max, o.max)
	r.held.Merge(&o.held)
	r.total += o.total
	var carry uint64
	r.lo, carry = bits.Add64(r.lo, o.lo, 0)
	r.hi, _ = bits.Add64(r.hi, o.hi, carry)
}

// Reset forgets everything, as at the end of a warm-up.
func (r *Residence) Reset() { *r = Residence{} }

// Level follows a quantity that changes in steps and feeds a Residence: the
// value set last holds until the next Set.
type Level struct {
	Residence
	value int64
	since sim.Time
}

// Set records that the quantity is v from t on. Times must not go back.
func (l *Level) Set(t sim.Time, v int64) {
	l.Add(l.value, t.Sub(l.since))
	l.value, l.since = v, t
	l.Add(v, 0)
}

// Restart forgets what was before t and goes on from the present value.
func (l *Level) Restart(t sim.Time) {
	l.Reset()
	l.since = t
	l.Add(l.value, 0)
}
