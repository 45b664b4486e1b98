package scenarios

import (
	"strings"

	"rdmasim/sim"
)

// nearest returns the candidate that is a likely reading of a misspelt word, or "".
func nearest(word string, candidates []string) string {
	best, least := "", len(word)/3+1
	for _, c := range candidates {
		if d := wordDistance(word, c, least); d <= least && (best == "" || d < least) {
			best, least = c, d
		}
	}
	return best
}

// didYouMean returns "did you mean x? " or nothing.
func didYouMean(word string, candidates []string) string {
	if n := nearest(word, candidates); n != "" {
		return "did you mean " + n + "? "
	}
	return ""
}

// wordDistance is the distance of two words whatever their case, or more than
// limit as soon as their lengths say so.
func wordDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	return sim.EditDistance(strings.ToLower(a), strings.ToLower(b))
}
