package tuning

import (
	"errors"
	"fmt"
)

// Exclusion is what a search that recommends nothing proves of the points that
// it ran. Its intervals hold together with Confidence: each is one of Comparisons
// (Bonferroni). Of the space between the points nothing is proven; Coverage says
// how far apart they are.
type Exclusion struct {
	Confidence  float64  `json:"confidence"`
	Against     int      `json:"against"` // id of the point to beat: the best baseline, else today's settings
	Cost        *float64 `json:"cost"`    // its score on the seeds of the search
	Comparisons int      `json:"comparisons"`

	Points int      `json:"points"` // of the search; each is one of the four below
	Broken int      `json:"broken"` // a constraint fails: in a run where it has to hold, or with the whole interval
	Worse  int      `json:"worse"`  // the whole interval of the score is no better than Against
	Open   int      `json:"open"`   // neither
	Single int      `json:"single"` // on one seed only: no interval
	Most   *float64 `json:"most"`   // by how much the score of an open point may be better at most
	// Unbounded: an open point was not measured in some run, so that Most is not of it.
	Unbounded bool `json:"unbounded,omitempty"`

	Finalists        int      `json:"finalists"` // on fresh seeds, by which they were not chosen
	FreshComparisons int      `json:"fresh_comparisons"`
	FreshExcluded    int      `json:"fresh_excluded"` // Broken or Worse there
	FreshMost        *float64 `json:"fresh_most"`

	Coverage Coverage `json:"coverage"`
}

// Coverage is how densely points lie in the space that was searched. Distances
// are the largest difference of a parameter as a share of its range, on the scale
// of the search.
type Coverage struct {
	Points     int     `json:"points"` // that ran at least once, today and baselines included
	Dimensions int     `json:"dimensions"`
	Probes     int     `json:"probes"`   // places that were measured
	Median     float64 `json:"median"`   // half of the space is at most so far from a point
	Farthest   float64 `json:"farthest"` // the farthest place found
}

// checkExclusion says what is wrong with what a search without a winner proves.
func (r *Result) checkExclusion() error {
	x := r.Exclusion
	if x == nil {
		return nil
	}
	switch {
	case r.Point(x.Against) == nil:
		return fmt.Errorf("exclusion.against %d: no such point", x.Against)
	case !(x.Confidence > 0 && x.Confidence < 1) || !number(x.Cost) || !number(x.Most) || !number(x.FreshMost) || !finite(x.Coverage.Median, x.Coverage.Farthest):
		return errors.New("exclusion: want a confidence in 0..1 and numbers")
	case min(x.Broken, x.Worse, x.Open, x.Single, x.Finalists, x.FreshExcluded, x.Coverage.Points) < 0 || x.Broken+x.Worse+x.Open+x.Single != x.Points || x.FreshExcluded > x.Finalists:
		return errors.New("exclusion: points that are broken, worse, open or ran on a single seed have to be all points")
	}
	return nil
}

// Excluded is how many points of the search certainly do not beat Against.
func (x *Exclusion) Excluded() int { return x.Broken + x.Worse }

// Words say what is proven and what is not, one sentence each: name is that of
// the point to beat, show prints a share.
func (x *Exclusion) Words(name string, show func(share float64) string, plural func(n int, thing string) string) (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	better := func(v float64) string {
		if x.Cost == nil || *x.Cost == 0 {
			return fmt.Sprintf("%.3g of a score", v)
		}
		c := *x.Cost
		return fmt.Sprintf("%s of the score of %s", show(v/max(c, -c)), name)
	}
	if x.Finalists > 0 {
		rest := "so that none of them is better"
		if x.FreshExcluded < x.Finalists {
			rest = "for the others no bound can be given"
			if x.FreshMost != nil {
				rest = "the others are better by at most " + better(*x.FreshMost)
			}
		}
		say("On seeds that the search has not seen, %d of %s are certainly no better than %s or break a constraint; %s (intervals that hold together with %s confidence: %s, Bonferroni).",
			x.FreshExcluded, plural(x.Finalists, "finalist"), name, rest, show(x.Confidence), plural(x.FreshComparisons, "comparison"))
	}
	say("Of %s that the search ran, %d break a constraint and %d are no better than %s, both beyond chance (%s together, Bonferroni; on the seeds that the search went by, which favours points that it likes).",
		plural(x.Points, "point"), x.Broken, x.Worse, name, plural(x.Comparisons, "comparison"))
	if x.Open > 0 {
		most := "for which no bound can be given"
		if x.Most != nil && !x.Unbounded {
			most = "which may be better by up to " + better(*x.Most)
		}
		say("Open are %s, %s: more seeds would decide.", plural(x.Open, "point"), most)
	}
	if x.Single > 0 {
		say("%s ran on one seed only and cannot be judged.", plural(x.Single, "point"))
	}
	say("Between the points nothing is proven: half of the space lies within %s of its ranges from one of %s, the farthest of %d places that were measured %s.",
		show(x.Coverage.Median), plural(x.Coverage.Points, "point"), x.Coverage.Probes, show(x.Coverage.Farthest))
	return list
}
