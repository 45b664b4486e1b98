package metric

import (
	"fmt"
	"strings"
)

// Plural returns a noun in the number that n of it have: 1 port, 2 ports, 0 switches.
func Plural[T ~int | ~int64 | ~uint64 | ~float64](n T, noun string) string {
	switch {
	case n == 1:
		return noun
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ey"):
		return strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "h"), strings.HasSuffix(noun, "x"):
		return noun + "es"
	}
	return noun + "s"
}

// were begins a sentence on what happened to n of something: 1 packet was, 2 packets were.
func were[T ~int | ~int64 | ~uint64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return fmt.Sprintf("%d %s were", n, Plural(n, noun))
}

// Counted prints a count with its noun: 1 port, 2 ports.
func Counted(n int, noun string) string { return fmt.Sprintf("%d %s", n, Plural(n, noun)) }
