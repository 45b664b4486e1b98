package reference

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rdmasim/scenarios/hpcc"
)

// simulators returns the names of all results, in the order of their first case.
func simulators(cases []*Judged) []string {
	var names []string
	for _, c := range cases {
		for _, r := range c.Results {
			if !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
	}
	return names
}

func (c *Case) result(name string) *Result {
	for i := range c.Results {
		if c.Results[i].Name == name {
			return &c.Results[i]
		}
	}
	return nil
}

// Verdicts is the table of gates.
func Verdicts(cases []*Judged) string {
	var b strings.Builder
	row(&b, "case", "seeds", "flows", "bytes", "drops in a lossless class", "FCT equal to the ns", "gates", "verdict")
	rule(&b, 8)
	for _, c := range cases {
		drops := int64(0)
		for _, r := range c.Runs {
			drops += r.DropLossless
		}
		var gates []string
		for _, g := range c.Gates {
			gates = append(gates, g.String())
		}
		verdict := "holds"
		if !c.OK() {
			verdict = "**fails**: " + strings.Join(c.Problems, "; ")
		}
		row(&b, c.Name, fmt.Sprint(len(c.Runs)), fmt.Sprintf("%d of %d", c.Runs[0].Flows, c.Flows), fmt.Sprint(int64(c.Runs[0].Bytes)), fmt.Sprint(drops),
			fmt.Sprintf("%d of %d", c.Same, c.Flows), strings.Join(gates, "; "), verdict)
	}
	return b.String()
}

// figure is one row of the table of FCTs.
type figure struct {
	name  string
	scale float64
	of    func(*hpcc.Summary) float64
}

var figures = []figure{
	{"mean", 1e6, func(s *hpcc.Summary) float64 { return s.FCT.Mean }},
	{"p50", 1e6, func(s *hpcc.Summary) float64 { return s.FCT.P50 }},
	{"p99", 1e6, func(s *hpcc.Summary) float64 { return s.FCT.P99 }},
	{"max", 1e6, func(s *hpcc.Summary) float64 { return s.FCT.Max }},
	{"mean slowdown", 1, func(s *hpcc.Summary) float64 { return s.Slowdown.Mean }},
	{"p99 slowdown", 1, func(s *hpcc.Summary) float64 { return s.Slowdown.P99 }},
}

// manySizes is how many flows make quantiles of the slowdown worth a row.
const manySizes = 100

// FCTs is the table of completion times in microseconds: the median over seeds,
// its range, and the results of the other simulators with ours divided by theirs.
func FCTs(cases []*Judged) string {
	var b strings.Builder
	names := simulators(cases)
	head := []string{"case", "FCT, us", "rdmasim", "seeds from .. to"}
	for _, n := range names {
		head = append(head, n, "rdmasim / "+n)
	}
	row(&b, head...)
	rule(&b, len(head))
	for _, c := range cases {
		shown := figures
		switch {
		case c.Flows == 1:
			shown = figures[:1]
		case c.Flows < manySizes:
			shown = figures[:4]
		}
		for i, f := range shown {
			cells := []string{c.Name, f.name}
			if i > 0 {
				cells[0] = ""
			}
			s := over(c.Runs, func(o *Outcome) float64 { return f.of(&o.Summary) * f.scale })
			cells = append(cells, number(s.Median), span(s, len(c.Runs)))
			for _, n := range names {
				if r := c.result(n); r != nil {
					v := f.of(&r.Summary) * f.scale
					cells = append(cells, number(v), fmt.Sprintf("%.4f", s.Median/v))
				} else {
					cells = append(cells, "", "")
				}
			}
			row(&b, cells...)
		}
	}
	return b.String()
}

// Events is the table of pauses, marks and queues.
func Events(cases []*Judged, theirs CountTable) string {
	var b strings.Builder
	names := simulators(cases)
	head := []string{"case"}
	for _, k := range []string{"XOFF frames", "CE marks", "longest queue to a host, KB", "drops"} {
		head = append(head, k)
		for _, n := range names {
			if len(theirs) > 0 {
				head = append(head, n)
			}
		}
	}
	row(&b, head...)
	rule(&b, len(head))
	for _, c := range cases {
		cells := []string{c.Name}
		for _, k := range []struct {
			ours   func(*Outcome) float64
			theirs func(Counts) float64
			scale  float64
		}{
			{func(o *Outcome) float64 { return float64(o.Pauses) }, func(c Counts) float64 { return c.Pauses }, 1},
			{func(o *Outcome) float64 { return float64(o.Marks) }, func(c Counts) float64 { return c.Marks }, 1},
			{func(o *Outcome) float64 { return o.MaxQueue }, func(c Counts) float64 { return c.MaxQueue }, 1e-3},
			{func(o *Outcome) float64 { return float64(o.DropLossless + o.DropOther) }, func(c Counts) float64 { return c.Drops }, 1},
		} {
			s := over(c.Runs, func(o *Outcome) float64 { return k.ours(o) * k.scale })
			cell := count(s.Median)
			if s.Min != s.Max {
				cell += fmt.Sprintf(" (%s .. %s)", count(s.Min), count(s.Max))
			}
			cells = append(cells, cell)
			for _, n := range names {
				if len(theirs) > 0 {
					cells = append(cells, count(k.theirs(theirs.of(c.Name, n))*k.scale))
				}
			}
		}
		row(&b, cells...)
	}
	return b.String()
}

func row(b *strings.Builder, cells ...string) {
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

func rule(b *strings.Builder, n int) {
	fmt.Fprintf(b, "|%s\n", strings.Repeat("---|", n))
}

// number writes microseconds to the nanosecond below 10 s, ratios to 1/1000.
func number(v float64) string { return fmt.Sprintf("%.3f", v) }

func count(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf("%.0f", v)
}

func span(s Spread, n int) string {
	if n == 1 {
		return ""
	}
	return number(s.Min) + " .. " + number(s.Max)
}
