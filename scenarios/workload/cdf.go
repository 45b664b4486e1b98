package workload

import (
	"bytes"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// Sizes is a distribution of message sizes.
type Sizes interface {
	// Mean returns the mean size in bytes.
	Mean() float64
	// Max returns the largest size that can be drawn.
	Max() sim.Bytes
	// Draw returns a size of at least 1 byte.
	Draw(r *sim.Rand) sim.Bytes
}

// CDF is a distribution of sizes given by points of its cumulative
// distribution function, linear between them.
type CDF struct {
	size    []float64 // bytes, never decreasing
	percent []float64 // never decreasing, from 0 to 100
}

// Bounds of a CDF read from a file.
const (
	maxCDFPoints = 1 << 20
	maxCDFSize   = sim.TiB
)

// ParseCDF reads one point a line, `bytes percent`; empty lines and what
// follows # are skipped. Both columns must not decrease; the percentages must
// end at 100, and a first point above 0 % is a step at its size. An error
// names the line.
func ParseCDF(name string, text []byte) (*CDF, error) {
	c := &CDF{}
	n := 0
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		n++
		if i := bytes.IndexByte(line, '#'); i >= 0 {
			line = line[:i]
		}
		f := strings.Fields(string(line))
		if len(f) == 0 {
			continue
		}
		if len(f) != 2 {
			return nil, fmt.Errorf("%s:%d: %d fields: want bytes and cumulative percent", name, n, len(f))
		}
		size, err1 := strconv.ParseFloat(f[0], 64)
		percent, err2 := strconv.ParseFloat(f[1], 64)
		if err1 != nil || err2 != nil || !(size >= 0 && size <= float64(maxCDFSize)) || !(percent >= 0 && percent <= 100) {
			return nil, fmt.Errorf("%s:%d: %q: want bytes (0..%v) and cumulative percent (0..100)", name, n, strings.Join(f, " "), maxCDFSize)
		}
		if err := c.add(size, percent); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	return c, c.check(name)
}

func (c *CDF) add(size, percent float64) error {
	k := len(c.size) - 1
	switch {
	case k < 0 && percent > 0:
		c.size, c.percent = append(c.size, size), append(c.percent, 0)
	case k >= 0 && size < c.size[k]:
		return fmt.Errorf("size %g after %g: sizes must not decrease", size, c.size[k])
	case k >= 0 && percent < c.percent[k]:
		return fmt.Errorf("%g %% after %g %%: a cumulative distribution must not decrease", percent, c.percent[k])
	case k >= maxCDFPoints:
		return fmt.Errorf("more than %d points", maxCDFPoints)
	}
	c.size, c.percent = append(c.size, size), append(c.percent, percent)
	return nil
}

func (c *CDF) check(name string) error {
	k := len(c.size) - 1
	switch {
	case k < 0:
		return fmt.Errorf("%s: no points: want lines of bytes and cumulative percent", name)
	case c.percent[k] != 100:
		return fmt.Errorf("%s: the distribution ends at %g %%: the last point must be at 100", name, c.percent[k])
	case c.size[k] < 1:
		return fmt.Errorf("%s: every size is below one byte", name)
	}
	return nil
}

// Mean returns the mean of the distribution, the integral over its linear pieces.
func (c *CDF) Mean() float64 {
	sum := 0.0
	for i := 1; i < len(c.size); i++ {
		sum += (c.size[i-1] + c.size[i]) / 2 * (c.percent[i] - c.percent[i-1])
	}
	return sum / 100
}

// Max returns the largest size.
func (c *CDF) Max() sim.Bytes { return max(1, sim.Bytes(c.size[len(c.size)-1])) }

// Draw returns the size at a uniform percentage, interpolated linearly between
// the points and truncated to whole bytes, at least 1, as the HPCC traffic
// generator does.
func (c *CDF) Draw(r *sim.Rand) sim.Bytes { return c.at(r.Float64() * 100) }

// at returns the size at a percentage in [0,100).
func (c *CDF) at(percent float64) sim.Bytes {
	i := sort.SearchFloat64s(c.percent, percent)
	for i < len(c.percent)-1 && c.percent[i] == percent {
		i++ // of points at one percentage, the piece that begins there
	}
	if i == 0 || c.percent[i] == c.percent[i-1] {
		return max(1, sim.Bytes(c.size[i]))
	}
	share := (percent - c.percent[i-1]) / (c.percent[i] - c.percent[i-1])
	return max(1, sim.Bytes(c.size[i-1]+float64(share*(c.size[i]-c.size[i-1]))))
}

// fixedSize is one size only (the D of M/D/1).
type fixedSize sim.Bytes

func (f fixedSize) Mean() float64            { return float64(f) }
func (f fixedSize) Max() sim.Bytes           { return sim.Bytes(f) }
func (f fixedSize) Draw(*sim.Rand) sim.Bytes { return sim.Bytes(f) }

// exponentialSize draws exponentially distributed sizes (the second M of
// M/M/1), rounded to bytes, at least 1.
type exponentialSize sim.Bytes

func (e exponentialSize) Mean() float64 { return float64(e) }

// Max returns the largest draw: 53 random bits reach 53 ln 2, about 37 means.
func (e exponentialSize) Max() sim.Bytes { return 37 * sim.Bytes(e) }

func (e exponentialSize) Draw(r *sim.Rand) sim.Bytes {
	n := math.Round(-math.Log1p(-r.Float64()) * float64(e))
	return min(max(1, sim.Bytes(n)), e.Max())
}
