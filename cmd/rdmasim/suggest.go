package main

import (
	"fmt"
	"strings"

	"rdmasim/sim"
)

// closest returns the member of names that is most like s, "" when none is
// like it: more than a third of the letters differ, and s begins none.
func closest(s string, names []string) string {
	best, bestDistance := "", len(s)/3+2
	for _, n := range names {
		d := sim.EditDistance(strings.ToLower(s), strings.ToLower(n))
		if len(s) > 1 && strings.HasPrefix(n, s) {
			d = min(d, 1)
		}
		if d < bestDistance {
			best, bestDistance = n, d
		}
	}
	return best
}

// unknown is the error for a name that does not exist: what it was, what was
// probably meant, what there is.
func unknown(kind, got string, names []string) error {
	hint := ""
	if c := closest(got, names); c != "" {
		hint = fmt.Sprintf(": did you mean %s?", c)
	}
	if len(names) == 0 {
		return fmt.Errorf("unknown %s %q", kind, got)
	}
	return fmt.Errorf("unknown %s %q%s (there are %s)", kind, got, hint, strings.Join(names, ", "))
}
