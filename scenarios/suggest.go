package scenarios

import "strings"

// nearest returns the candidate that is a likely reading of a misspelt word, or "".
func nearest(word string, candidates []string) string {
	best, least := "", len(word)/3+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c), least); d <= least && (best == "" || d < least) {
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

// distance is the Levenshtein distance of two words, or more than limit as soon
// as it cannot be less.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
