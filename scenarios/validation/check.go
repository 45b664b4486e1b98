package validation

import (
	"fmt"
	"math"
	"strconv"

	"rdmasim/sim/stat"
)

// Check is one line of the table: what was expected, what was found.
type Check struct {
	Row       string   `json:"row"`
	What      string   `json:"what"`
	Expected  string   `json:"expected"`
	Source    string   `json:"source"`
	Measured  string   `json:"measured"`
	Tolerance string   `json:"tolerance"`
	OK        bool     `json:"ok"`
	Hard      bool     `json:"hard"`
	Value     *float64 `json:"value,omitempty"` // the measured number, where it is one
	Half      *float64 `json:"half,omitempty"`  // half of its 95 % confidence interval
	Seeds     int      `json:"seeds,omitempty"`
}

// Confidence of the intervals that verdicts state.
const Confidence = 0.95

// one is the interval of a number that is not random.
func one(v float64) stat.Interval { return stat.Interval{Mean: v, Half: math.NaN(), N: 1} }

// add appends a check; hardness is that of the row.
func (b *Bench) add(c Check) {
	c.Row = b.id
	c.Hard = b.row.Hard
	b.result.Checks = append(b.result.Checks, c)
}

// Near checks that a mean lies within a relative tolerance of what an oracle
// says; unit follows the numbers.
func (b *Bench) Near(what string, want float64, got stat.Interval, tolerance float64, unit, source string) {
	b.measured(Check{What: what, Expected: show(want, unit), Source: source, Tolerance: show(tolerance*100, "%"),
		OK: math.Abs(got.Mean-want) <= tolerance*math.Abs(want)}, got, unit)
}

// Off checks that a mean lies within an absolute tolerance.
func (b *Bench) Off(what string, want float64, got stat.Interval, tolerance float64, unit, source string) {
	b.measured(Check{What: what, Expected: show(want, unit), Source: source, Tolerance: show(tolerance, unit),
		OK: math.Abs(got.Mean-want) <= tolerance}, got, unit)
}

// Within checks that a mean lies in a range.
func (b *Bench) Within(what string, low, high float64, got stat.Interval, unit, source string) {
	want := show(low, "") + " .. " + show(high, unit)
	switch {
	case math.IsInf(high, 1):
		want = ">= " + show(low, unit)
	case math.IsInf(low, -1):
		want = "<= " + show(high, unit)
	}
	b.measured(Check{What: what, Expected: want, Source: source, Tolerance: "as stated", OK: got.Mean >= low && got.Mean <= high}, got, unit)
}

func (b *Bench) measured(c Check, got stat.Interval, unit string) {
	c.Measured = show(got.Mean, unit)
	v := got.Mean
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		c.Value = &v
	}
	if got.N > 1 {
		h := got.Half
		c.Measured = fmt.Sprintf("%s ± %s", show(got.Mean, ""), show(h, unit))
		c.Half, c.Seeds = &h, got.N
	}
	b.add(c)
}

// Exact checks that two values print alike.
func (b *Bench) Exact(what string, want, got any, source string) {
	w, g := fmt.Sprint(want), fmt.Sprint(got)
	b.add(Check{What: what, Expected: w, Measured: g, Source: source, Tolerance: "exact", OK: w == g})
}

// Alike checks that each of n values prints as it should, and shows the first
// that does not.
func (b *Bench) Alike(what string, n int, value func(i int) (want, got any), source string) {
	found := fmt.Sprintf("all %d", n)
	for i := range n {
		want, got := value(i)
		if w, g := fmt.Sprint(want), fmt.Sprint(got); w != g {
			found = fmt.Sprintf("number %d is %s, not %s", i, g, w)
			break
		}
	}
	b.Exact(what, fmt.Sprintf("all %d", n), found, source)
}

// nth is an element of a list, or "nothing" beyond its end.
func nth[T any](list []T, i int) any {
	if i >= len(list) {
		return "nothing"
	}
	return list[i]
}

// show prints a number with six digits at most.
func show(v float64, unit string) string {
	s := strconv.FormatFloat(v, 'g', 6, 64)
	if a := math.Abs(v); a >= 1e-3 && a < 1e7 {
		s = strconv.FormatFloat(v, 'f', max(0, 5-int(math.Floor(math.Log10(a)))), 64)
		s = trim(s)
	}
	if unit == "" {
		return s
	}
	return s + " " + unit
}

func trim(s string) string {
	dot := false
	for _, c := range s {
		dot = dot || c == '.'
	}
	for dot && (s[len(s)-1] == '0' || s[len(s)-1] == '.') {
		point := s[len(s)-1] == '.'
		s = s[:len(s)-1]
		if point {
			break
		}
	}
	return s
}

// inf is the upper end of a range that has none.
var inf = math.Inf(1)
