package tune

import (
	"math"
	"strconv"
	"strings"

	"rdmasim/scenarios/sweep"
)

// dimension is a parameter, ready to be searched.
type dimension struct {
	name   string
	paths  []string
	role   string
	kind   sweep.Kind
	low    float64 // of the value, or of the factor over another dimension
	high   float64
	over   int // dimension whose value the factor multiplies; -1 = none
	scale  string
	step   float64  // 0 = any value
	values []string // of a choice: its value is a place in this list
}

// space is the product of the dimensions.
type space []dimension

// point is a value for every dimension, as the device takes it.
type point []float64

// at maps a place of the unit cube to the nearest point that the device takes.
func (s space) at(u []float64) point {
	p := make(point, len(s))
	for i := range s {
		d := &s[i]
		p[i] = d.round(d.from01(u[i]), p)
	}
	return p
}

// from01 spreads 0..1 over the range by the scale.
func (d *dimension) from01(u float64) float64 {
	u = min(max(u, 0), 1)
	switch d.scale {
	case scaleLog, scalePower:
		return d.low * math.Pow(d.high/d.low, u)
	}
	return d.low + u*(d.high-d.low)
}

// to01 is the inverse of from01; values outside of the range map to its ends.
func (d *dimension) to01(v float64) float64 {
	if d.high <= d.low {
		return 0.5
	}
	v = min(max(v, d.low), d.high)
	switch d.scale {
	case scaleLog, scalePower:
		return math.Log(v/d.low) / math.Log(d.high/d.low)
	}
	return (v - d.low) / (d.high - d.low)
}

// round returns the nearest value that the device takes within the range; below
// are the values of the dimensions before it.
func (d *dimension) round(v float64, below point) float64 {
	low, high := d.low, d.high
	if d.over >= 0 {
		v, low, high = v*below[d.over], low*below[d.over], high*below[d.over]
	}
	switch {
	case d.scale == scalePower:
		return math.Exp2(math.Round(math.Log2(v)))
	case d.step > 0:
		n := math.Round(v / d.step)
		if n*d.step < low-d.step*1e-9 {
			n = math.Ceil(low/d.step - 1e-9)
		}
		if n*d.step > high+d.step*1e-9 && d.over < 0 {
			n = math.Floor(high/d.step + 1e-9)
		}
		return tidy(n * d.step)
	case d.kind != sweep.Ratio:
		return math.Round(v)
	}
	return tidy(v)
}

// tidy rounds to twelve digits: 7 x 0.01 is 0.07.
func tidy(v float64) float64 {
	t, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		return v
	}
	return t
}

// place is the inverse of at, as far as there is one: where to search around a
// point.
func (s space) place(p point) []float64 {
	u := make([]float64, len(s))
	for i := range s {
		d, v := &s[i], p[i]
		if d.over >= 0 && p[d.over] > 0 {
			v /= p[d.over]
		}
		u[i] = d.to01(v)
	}
	return u
}

// text writes the value of a dimension as a scenario reads it.
func (d *dimension) text(v float64) string {
	if d.values != nil {
		return d.values[min(max(int(v), 0), len(d.values)-1)]
	}
	return textOf(d.kind, v)
}

// settings returns path=value for every path of a point.
func (s space) settings(p point) []string {
	var list []string
	for i := range s {
		for _, path := range s[i].paths {
			list = append(list, path+"="+s[i].text(p[i]))
		}
	}
	return list
}

// key identifies a point: two that the device cannot tell apart are one.
func (s space) key(p point) string {
	parts := make([]string, len(s))
	for i := range s {
		parts[i] = s[i].text(p[i])
	}
	return strings.Join(parts, " ")
}

// envelope returns the least and the greatest value of a dimension.
func (s space) envelope(i int) (low, high float64) {
	d := &s[i]
	if d.over < 0 {
		return d.low, d.high
	}
	a, b := s.envelope(d.over)
	return d.low * a, d.high * b
}
