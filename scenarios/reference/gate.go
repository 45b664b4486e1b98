package reference

import (
	"fmt"
	"math"

	"rdmasim/scenarios/hpcc"
)

// The gates. Where nothing is random, the mean FCT is that of Main within
// Exact. Otherwise the two simulators themselves differ, by random streams and
// by details of their models: the median over seeds has to lie between the
// smaller and the larger of their results, with a margin.
const (
	Exact             = 0.005
	MeanLow, MeanHigh = 0.94, 1.06
	TailLow, TailHigh = 0.75, 1.25
)

// Gate is one figure that is judged.
type Gate struct {
	Figure           string
	Value, Low, High float64
}

// OK reports whether the value lies in its bounds.
func (g Gate) OK() bool { return g.Value >= g.Low && g.Value <= g.High }

func (g Gate) String() string {
	return fmt.Sprintf("%s %.2f us, want %.2f to %.2f", g.Figure, g.Value*1e6, g.Low*1e6, g.High*1e6)
}

// Judged is a case with its runs and what the gates say of them.
type Judged struct {
	*Case
	Runs     []*Outcome
	Gates    []Gate
	Same     int // flows whose FCT is that of Main to the nanosecond, in the first run
	Problems []string
}

// OK reports whether every gate holds.
func (j *Judged) OK() bool { return len(j.Problems) == 0 }

// Random reports whether the case was run with several seeds.
func (j *Judged) Random() bool { return j.Runs[0].Random() }

// Judge applies the gates to the runs of a case under compat hpcc.
func Judge(c *Case, runs []*Outcome) *Judged {
	j := &Judged{Case: c, Runs: runs}
	for _, r := range runs {
		if r.Flows != c.Flows || r.Bytes != c.Bytes {
			j.fail("seed %d: %d flows of %d bytes ended, of %d of %d", r.Seed, r.Flows, r.Bytes, c.Flows, c.Bytes)
		}
		if r.DropLossless > 0 {
			j.fail("seed %d: %d drops in a lossless class", r.Seed, r.DropLossless)
		}
	}
	for _, r := range c.Results {
		if r.Flows != c.Flows || r.Bytes != c.Bytes {
			j.fail("fct_%s.txt has %d flows of %d bytes, flow.txt %d of %d", r.Name, r.Flows, r.Bytes, c.Flows, c.Bytes)
		}
	}
	main := &c.Results[0]
	j.Same = same(runs[0].Rows, main.Rows)
	mean, tail := over(runs, meanFCT).Median, over(runs, tailFCT).Median
	if !j.Random() {
		m := main.FCT.Mean
		j.gate(Gate{"mean FCT", mean, m * (1 - Exact), m * (1 + Exact)})
		return j
	}
	meanLow, meanHigh := j.bounds(func(r *Result) float64 { return r.FCT.Mean })
	tailLow, tailHigh := j.bounds(func(r *Result) float64 { return r.FCT.P99 })
	j.gate(Gate{"mean FCT", mean, MeanLow * meanLow, MeanHigh * meanHigh})
	j.gate(Gate{"p99 FCT", tail, TailLow * tailLow, TailHigh * tailHigh})
	return j
}

func meanFCT(o *Outcome) float64 { return o.FCT.Mean }
func tailFCT(o *Outcome) float64 { return o.FCT.P99 }

func (j *Judged) fail(format string, args ...any) {
	j.Problems = append(j.Problems, fmt.Sprintf(format, args...))
}

func (j *Judged) gate(g Gate) {
	j.Gates = append(j.Gates, g)
	if !g.OK() {
		j.fail("%v", g)
	}
}

// bounds returns the smallest and the largest of a figure among the results.
func (c *Case) bounds(figure func(*Result) float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range c.Results {
		v := figure(&c.Results[i])
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// same counts the flows of a that took as long in b.
func same(a, b []hpcc.FCT) int {
	type flow struct {
		src, dst     uint32
		sport, dport uint16
		start, fct   int64
	}
	key := func(r *hpcc.FCT) flow {
		return flow{r.SrcIP, r.DstIP, r.SrcPort, r.DstPort, int64(r.Start), int64(r.FCT)}
	}
	left := map[flow]int{}
	for i := range b {
		left[key(&b[i])]++
	}
	n := 0
	for i := range a {
		if k := key(&a[i]); left[k] > 0 {
			left[k]--
			n++
		}
	}
	return n
}
