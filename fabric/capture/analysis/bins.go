package analysis

import "rdmasim/sim"

// maxBins is how many bins a series has at the most: when there are more, two
// and two become one.
const maxBins = 2048

// binClock is the width of the bins of all series.
type binClock struct {
	width sim.Duration
	epoch int // how often it was doubled
}

// newBinClock begins with bins of 1 us.
func newBinClock() binClock { return binClock{width: sim.Microsecond} }

// bins is a sum over time.
type bins struct {
	sums  []float64
	epoch int
}

// add adds to the bin of a time.
func (b *bins) add(c *binClock, now sim.Time, v int) {
	for int64(now)/int64(c.width) >= maxBins {
		c.width *= 2
		c.epoch++
	}
	b.align(c)
	i := int(int64(now) / int64(c.width))
	for len(b.sums) <= i {
		b.sums = append(b.sums, 0)
	}
	b.sums[i] += float64(v)
}

// progress adds payload to the goodput of a stream.
func (a *Analyzer) progress(s *stream, payload int) {
	if s.number < maxSeries {
		s.goodput.add(&a.series, a.now, payload*8)
	}
}

// align brings the bins to the width of the clock.
func (b *bins) align(c *binClock) {
	if b.sums == nil {
		b.epoch = c.epoch
	}
	for ; b.epoch < c.epoch; b.epoch++ {
		n := (len(b.sums) + 1) / 2
		for i := range n {
			v := b.sums[2*i]
			if 2*i+1 < len(b.sums) {
				v += b.sums[2*i+1]
			}
			b.sums[i] = v
		}
		b.sums = b.sums[:n]
	}
}
