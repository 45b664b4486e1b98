package main

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"rdmasim/reports/metric"
)

// figure prints a figure, "-" where it was not measured.
func figure(v *float64, unit string) string {
	if v == nil {
		return "-"
	}
	return metric.Format(*v, unit)
}

// count prints a count exactly, "-" where it was not measured.
func count(n *int64) string {
	if n == nil {
		return "-"
	}
	return grouped(*n)
}

// counted is count with its noun.
func counted(n *int64, noun string) string {
	if n == nil {
		return "- " + noun + "s"
	}
	return grouped(*n) + " " + metric.Plural(*n, noun)
}

// grouped prints a count exactly, with its thousands set apart.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// roughly prints a count that is only of interest by its size, such as 12.3M.
func roughly(n float64) string {
	i := 0
	for ; math.Round(n*10)/10 >= 1000 && i < 4; i++ {
		n /= 1000
	}
	digits := 1
	if i == 0 {
		digits = 0
	}
	return strconv.FormatFloat(n, 'f', digits, 64) + []string{"", "k", "M", "G", "T"}[i]
}

// percent prints a share.
func percent(f float64) string { return fmt.Sprintf("%.3g%%", 100*f) }

// wallClock prints a span of real time, given in seconds.
func wallClock(s float64) string {
	d := time.Duration(min(s, 1e8) * float64(time.Second))
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
