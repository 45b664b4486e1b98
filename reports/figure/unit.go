package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"rdmasim/reports/metric"
)

// scale turns an SI value into one that people read: 0.0000125 s is 12.5 µs.
type scale struct {
	div  float64
	unit string
}

var (
	timeScales = []scale{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}
	byteScales = []scale{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}, {1, "B"}}
	rateScales = []scale{{1e12, "Tbit/s"}, {1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}, {1, "bit/s"}}
	ppsScales  = []scale{{1e9, "G packets/s"}, {1e6, "M packets/s"}, {1e3, "k packets/s"}, {1, "packets/s"}}
	plainScale = scale{1, ""}
	shareScale = scale{0.01, "%"}
)

// noBreak is the space between a number and its unit.
const noBreak = "\u00a0"

// pick returns the largest scale in which v is at least 1.
func pick(list []scale, v float64) scale {
	v = math.Abs(v)
	for _, s := range list {
		if v >= s.div*0.9995 {
			return s
		}
	}
	return list[len(list)-1]
}

// digits prints v with three significant digits and no exponent.
func digits(v float64) string {
	a := math.Abs(v)
	switch {
	case a == 0:
		return "0"
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return trimZeros(strconv.FormatFloat(v, 'f', 1, 64))
	case a >= 0.9995:
		return trimZeros(strconv.FormatFloat(v, 'f', 2, 64))
	}
	return trimZeros(strconv.FormatFloat(v, 'f', min(2-int(math.Floor(math.Log10(a))), 15), 64))
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func withUnit(list []scale, v float64) string {
	if v == 0 {
		return "0" + noBreak + list[len(list)-1].unit
	}
	s := pick(list, v)
	return digits(v/s.div) + noBreak + s.unit
}

// Seconds prints a time of v seconds, such as 12.5 µs.
func Seconds(v float64) string {
	if v == 0 {
		return "0" + noBreak + "s"
	}
	return withUnit(timeScales, v)
}

// Size prints a number of bytes, such as 1.6 MB (1 KB is 1000 bytes).
func Size(v float64) string { return withUnit(byteScales, v) }

// Bitrate prints a rate of v bit/s, such as 92.4 Gbit/s.
func Bitrate(v float64) string { return withUnit(rateScales, v) }

// PacketRate prints a rate of v packets per second.
func PacketRate(v float64) string { return withUnit(ppsScales, v) }

// Share prints a ratio as a percentage; what is neither nothing nor all is
// never rounded to 0 % or 100 %.
func Share(v float64) string {
	switch {
	case v > 0 && v < 0.0001:
		return "less than 0.01" + noBreak + "%"
	case v < 1 && v > 0.9995:
		return "more than 99.9" + noBreak + "%"
	}
	return digits(v*100) + noBreak + "%"
}

// Fraction prints a ratio in 0..1 with three decimals; what is not 1 is never
// rounded to 1.
func Fraction(v float64) string {
	if v < 1 && v > 0.9995 {
		return "more than 0.999"
	}
	return trimZeros(strconv.FormatFloat(v, 'f', 3, 64))
}

// Number prints a value without a unit with three significant digits.
func Number(v float64) string { return digits(v) }

// Whole prints an integer with thin spaces between thousands.
func Whole[T ~int | ~int64 | ~uint64 | ~float64](v T) string {
	s := strconv.FormatFloat(math.Round(float64(v)), 'f', 0, 64)
	neg := strings.TrimPrefix(s, "-") != s
	s = strings.TrimPrefix(s, "-")
	var b strings.Builder
	if neg {
		b.WriteByte('-')
	}
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 && len(s) > 4 {
			b.WriteString("\u202f")
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Count prints a number with its noun in the right number: 1 flow, 2 flows, no flows.
func Count[T ~int | ~int64 | ~uint64 | ~float64](n T, noun string) string {
	switch n {
	case 0:
		return "no " + metric.Plural(n, noun)
	case 1:
		return "1 " + noun
	}
	return Whole(n) + " " + metric.Plural(n, noun)
}

// List joins words as a sentence does: a, b and c.
func List(words []string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// rangeText prints a range of two values in one unit.
func rangeText(print func(float64) string, lo, hi float64) string {
	if lo == hi {
		return print(lo)
	}
	return fmt.Sprintf("%s – %s", print(lo), print(hi))
}

// Capital makes the first letter of a sentence large.
func Capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
