package analysis

import (
	"math/bits"

	"rdmasim/sim"
)

// histogram counts durations in buckets of 1/32 of a power of two, so that a
// quantile is right within 3.2 %.
type histogram struct {
	count    uint64
	min, max sim.Duration
	sum      float64
	buckets  map[uint16]uint64
}

func (h *histogram) add(d sim.Duration) {
	d = max(d, 0)
	if h.buckets == nil {
		h.buckets = map[uint16]uint64{}
		h.min = d
	}
	h.count++
	h.min, h.max = min(h.min, d), max(h.max, d)
	h.sum += float64(d)
	h.buckets[bucket(d)]++
}

func bucket(d sim.Duration) uint16 {
	v := uint64(d)
	if v < 64 {
		return uint16(v)
	}
	e := bits.Len64(v) - 6
	return uint16(e<<5) + uint16(v>>e)
}

// lower returns the smallest duration of a bucket.
func lower(b uint16) sim.Duration {
	if b < 64 {
		return sim.Duration(b)
	}
	e := b>>5 - 1
	return sim.Duration(uint64(b-e<<5) << e)
}

// quantile returns the p-quantile, within the width of a bucket.
func (h *histogram) quantile(p float64) sim.Duration {
	want := uint64(p * float64(h.count))
	n := uint64(0)
	for b := range uint16(64 << 5) {
		if n += h.buckets[b]; n > want {
			return min(max(lower(b), h.min), h.max)
		}
	}
	return h.max
}

func (h *histogram) mean() sim.Duration {
	if h.count == 0 {
		return 0
	}
	return sim.Duration(h.sum / float64(h.count))
}

// spread is what is kept of the durations of one of many.
type spread struct {
	count    uint64
	min, max sim.Duration
	sum      float64
}

func (s *spread) add(d sim.Duration) {
	d = max(d, 0)
	if s.count == 0 {
		s.min = d
	}
	s.count++
	s.min, s.max = min(s.min, d), max(s.max, d)
	s.sum += float64(d)
}

func (s *spread) mean() sim.Duration {
	if s.count == 0 {
		return 0
	}
	return sim.Duration(s.sum / float64(s.count))
}
