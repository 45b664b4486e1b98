package fabric

import (
	"rdmasim/sim"
	"rdmasim/sim/stat"
)

// EgressQueue is the queue of one class at one port.
type EgressQueue struct {
	fifo      fifo
	Bytes     int64
	Eligible  uint64     // ECT frames that left while marking was on
	ecn       *ECNConfig // ports that mark alike share it
	level     followed
	Marked    uint64
	Deficit   int64
	binMarked uint64
}

// level follows a quantity over time: its integral and its extremes.
type level struct {
	value    int64
	at       sim.Time
	integral float64 // value times picoseconds
	max      int64

	binIntegral float64
	binMin      int64
	binMax      int64
	last        [3]float64 // the bin written last
}

func (l *level) set(v int64, now sim.Time) {
	if d := now.Sub(l.at); d > 0 {
		l.integral += float64(float64(l.value) * float64(d))
		l.at = now
	}
	l.value = v
	if v > l.max {
		l.max = v
	}
	if v > l.binMax {
		l.binMax = v
	} else if v < l.binMin {
		l.binMin = v
	}
}

// followed is a level whose quantiles are wanted: it also notes how long the
// value stayed in which bucket.
type followed struct {
	level
	held    stat.Histogram
	bucket  int      // of held, for value
	entered sim.Time // when value came into that bucket
}

func (f *followed) follow(v int64, now sim.Time) {
	if b := stat.BucketOf(v); b != f.bucket {
		f.settle(now)
		f.bucket = b
	}
	f.set(v, now)
}

// settle books the time spent in the present bucket. The empty bucket is what
// remains of the whole.
func (f *followed) settle(now sim.Time) {
	if now < f.entered {
		panic("fabric: a level is settled before it was entered")
	}
	if d := now.Sub(f.entered); d > 0 && f.bucket != 0 {
		f.held.Add(f.bucket, d)
	}
	f.entered = now
}

// quantile returns the value below which the level stayed for the share q of
// the time span, at most an eighth too high.
func (f *followed) quantile(q float64, span sim.Duration) int64 {
	if span <= 0 {
		return 0
	}
	return min(f.held.Exceeded(sim.Duration(float64(span)*(1-q))), f.max)
}

// reset begins a new measurement; a bin of the series goes on across it.
func (l *level) reset(now sim.Time) {
	l.set(l.value, now)
	l.at = now
	l.binIntegral -= l.integral
	l.integral, l.max = 0, l.value
}

func (f *followed) reset(now sim.Time) {
	f.level.reset(now)
	f.held.Reset()
	f.entered = now
}

// start begins to follow a value that has been 0.
func (l *level) start(now sim.Time) { l.at = now }

func (f *followed) start(now sim.Time) {
	f.level.start(now)
	f.entered = now
}

// begin starts a bin at a time up to which nothing has changed.
func (l *level) begin(t sim.Time) {
	if t > l.at {
		l.set(l.value, t)
	}
	l.binIntegral, l.binMin, l.binMax = l.integral, l.value, l.value
}

// bin ends a bin of the series and returns mean, least and greatest value, and
// whether they differ from the bin before.
func (l *level) bin(now sim.Time, width sim.Duration) (mean, lo, hi float64, changed bool) {
	l.set(l.value, now)
	mean = (l.integral - l.binIntegral) / float64(width)
	lo, hi = float64(l.binMin), float64(l.binMax)
	l.binIntegral, l.binMin, l.binMax = l.integral, l.value, l.value
	b := [3]float64{mean, lo, hi}
	changed = b != l.last
	l.last = b
	return mean, lo, hi, changed
}
