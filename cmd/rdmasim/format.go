package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"rdmasim/sim"
)

// roundTime prints a time with four significant digits, for lines that change.
func roundTime(t sim.Time) string { return seconds(t.Seconds()) }

// scaled prints v with four significant digits in the largest of units
// (each 1000 times the one before) in which it is at least 1.
func scaled(v float64, units []string, first float64) string {
	x, i := v/first, 0
	for math.Abs(x) >= 999.95 && i < len(units)-1 {
		x /= 1000
		i++
	}
	s := strconv.FormatFloat(x, 'g', 4, 64)
	if strings.ContainsAny(s, "e") || math.Abs(x) >= 1000 {
		s = strconv.FormatFloat(x, 'f', 0, 64)
	}
	return s + units[i]
}

// seconds prints a span given in seconds, such as 12.35us.
func seconds(s float64) string {
	if s == 0 {
		return "0s"
	}
	return scaled(s, []string{"ps", "ns", "us", "ms", "s"}, 1e-12)
}

// bitRate prints a rate given in bit/s, such as 92.41Gbps.
func bitRate(r float64) string {
	return scaled(r, []string{"bps", "Kbps", "Mbps", "Gbps", "Tbps"}, 1)
}

// byteCount prints a size given in bytes, such as 1.6MB.
func byteCount(b float64) string {
	return scaled(b, []string{"B", "KB", "MB", "GB", "TB"}, 1)
}

// siCount prints a count that is only roughly of interest, such as 12.3M.
func siCount(n float64) string {
	return scaled(math.Round(n), []string{"", "k", "M", "G"}, 1)
}

// percent prints a share.
func percent(f float64) string { return fmt.Sprintf("%.3g%%", 100*f) }

// grouped prints a count exactly, with its thousands set apart.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// wallClock prints a span of real time for people.
func wallClock(s float64) string {
	d := time.Duration(min(s, 1e8) * float64(time.Second))
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
