package metric

import (
	"math"
	"strconv"
)

// Format prints a figure for people, with four significant digits and the unit
// that fits: 93.12 Gbit/s, 12.5 us, 1.6 MB (1 MB is 10^6 bytes). Counts are
// printed in full, ratios as they are.
func Format(v float64, unit string) string {
	digits := func(v float64) string { return strconv.FormatFloat(round4(v), 'f', -1, 64) }
	switch unit {
	case Seconds:
		return scaled(v, 1e-12, []string{"ps", "ns", "us", "ms", "s"}, digits)
	case BitsPerS:
		return scaled(v, 1, []string{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"}, digits)
	case Bytes:
		return scaled(v, 1, []string{"B", "KB", "MB", "GB", "TB"}, digits)
	case Ratio:
		return digits(v)
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// scaled prints v in the largest unit that leaves at least 1 before the point.
func scaled(v, first float64, names []string, digits func(float64) string) string {
	last := len(names) - 1
	if v == 0 {
		if first < 1 {
			return "0 " + names[last]
		}
		return "0 " + names[0]
	}
	i, scale := 0, first
	for i < last && round4(math.Abs(v)/(scale*1000)) >= 1 {
		i++
		scale *= 1000
	}
	return digits(v/scale) + " " + names[i]
}

// round4 rounds to four significant digits, but never digits before the point.
func round4(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	p := math.Pow(10, math.Max(3-math.Floor(math.Log10(math.Abs(v))), 0))
	if math.IsInf(p, 0) {
		return v
	}
	return math.Round(v*p) / p
}
