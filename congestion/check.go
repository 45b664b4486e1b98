package congestion

import (
	"cmp"
	"fmt"
	"strings"

	"rdmasim/sim"
)

// Bounds that keep every algorithm's arithmetic exact and its work per
// simulated second finite.
const (
	minTimer = 100 * sim.Nanosecond // no shorter period of a repeated timer
	maxRate  = 1000 * sim.Tbps      // below 2^53 bit/s: exact in a float64
)

// firstError returns the first error that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// oneOf reports an error naming the key unless v is one of want.
func oneOf[T ~string](key string, v T, want ...T) error {
	names := make([]string, len(want))
	for i, w := range want {
		if v == w {
			return nil
		}
		names[i] = string(w)
	}
	return fmt.Errorf("%s %q: want one of %s", key, string(v), strings.Join(names, ", "))
}

// within reports an error naming the key unless lo <= v <= hi; NaN is outside.
func within[T cmp.Ordered](key string, v, lo, hi T) error {
	if v >= lo && v <= hi {
		return nil
	}
	return fmt.Errorf("%s %v: want %v to %v", key, v, lo, hi)
}
