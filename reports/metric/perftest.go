package metric

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rdmasim/sim"
	"rdmasim/sim/stat"
	"rdmasim/sim/trace"
)

// Perftest is one line of what a tool of perftest would print.
type Perftest struct {
	Tool       string // ib_write_bw, ib_send_lat, ...
	Service    string // RC, UC, UD
	Label      string // the workload's tag
	Both       bool   // both hosts sent: figures are sums of both directions
	Size       sim.Bytes
	Iterations int64

	// Bandwidth: bytes per second. Peak is the fastest span from a posting to a
	// later completion; nil where there are too many messages to look for it.
	Peak           *float64
	Average        float64
	MessagesPerSec float64

	// Latency: of one way for SEND and WRITE (half of the time from a posting to
	// the next one), of both for READ and atomics.
	Latency          bool
	Min, Max, Median sim.Duration
	P99, P999        sim.Duration
	Mean, Deviation  float64 // seconds
}

// maxPeak bounds the messages of which the peak is looked for, as perftest does.
const maxPeak = 20000

// PerftestWorkload is the workload that Perftests looks at.
const PerftestWorkload = "perftest"

// perftestAnswer is the tag of what the other side sends back.
const perftestAnswer = "answer"

// Perftests returns the results of the perftest workloads of a run in the order
// in which they were measured. Every message counts.
func Perftests(run *trace.Run) ([]Perftest, error) {
	byTag := map[string]*perftestRun{}
	var order []*perftestRun
	for f, err := range run.Flows() {
		if err != nil {
			return nil, err
		}
		if f.Workload != PerftestWorkload || f.Tag == perftestAnswer || f.Status != trace.StatusSuccess {
			continue
		}
		r := byTag[f.Tag]
		if r == nil {
			p, ok := parsePerftest(f.Tag)
			if !ok {
				continue
			}
			r = &perftestRun{Perftest: p, first: f.Start}
			byTag[f.Tag] = r
			order = append(order, r)
		}
		r.add(&f)
	}
	slices.SortStableFunc(order, func(a, b *perftestRun) int { return cmp.Compare(a.first, b.first) })
	out := make([]Perftest, 0, len(order))
	for _, r := range order {
		out = append(out, r.result())
	}
	return out, nil
}

// parsePerftest takes the label of a message apart: verb_test/service/size.
func parsePerftest(tag string) (p Perftest, ok bool) {
	f := strings.SplitN(tag, "/", 4)
	if len(f) < 3 {
		return p, false
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return p, false
	}
	p = Perftest{Tool: "ib_" + f[0], Service: strings.ToUpper(f[1]), Size: sim.Bytes(size), Latency: strings.HasSuffix(f[0], "_lat")}
	if len(f) == 4 {
		rest, both := f[3], false
		if rest == "both" || strings.HasPrefix(rest, "both/") {
			rest, both = strings.TrimPrefix(strings.TrimPrefix(rest, "both"), "/"), true
		}
		p.Label, p.Both = rest, both
	}
	return p, true
}

// perftestRun collects the messages of one line.
type perftestRun struct {
	Perftest
	first, last sim.Time
	span        [][2]sim.Time // posting and completion, for the peak
	starts      map[perftestLane]sim.Time
	latencies   stat.Latencies
	moments     stat.Moments
	least, most sim.Duration
}

type perftestLane struct {
	src string
	qp  uint32
}

func (r *perftestRun) add(f *trace.Flow) {
	r.Iterations++
	r.first, r.last = min(r.first, f.Start), max(r.last, f.End)
	if !r.Latency {
		if len(r.span) <= maxPeak {
			r.span = append(r.span, [2]sim.Time{f.Start, f.End})
		}
		return
	}
	if r.starts == nil {
		r.starts = map[perftestLane]sim.Time{}
	}
	lane := perftestLane{f.Src, f.QP}
	if before, ok := r.starts[lane]; ok {
		d := f.Start.Sub(before)
		if !strings.Contains(r.Tool, "read") && !strings.Contains(r.Tool, "atomic") {
			d /= 2
		}
		if r.moments.N() == 0 {
			r.least = d
		}
		r.least, r.most = min(r.least, d), max(r.most, d)
		r.latencies.Add(d)
		r.moments.Add(d.Seconds())
	}
	r.starts[lane] = f.Start
}

func (r *perftestRun) result() Perftest {
	p := r.Perftest
	if p.Latency {
		p.Min, p.Max = r.least, r.most
		p.Median, p.P99, p.P999 = r.within(0.5), r.within(0.99), r.within(0.999)
		p.Mean, p.Deviation = r.moments.Mean(), r.moments.Deviation()
		return p
	}
	seconds := r.last.Sub(r.first).Seconds()
	if seconds > 0 {
		p.Average = float64(r.Iterations) * float64(r.Size) / seconds
		p.MessagesPerSec = float64(r.Iterations) / seconds
	}
	p.Peak = r.peak()
	return p
}

// within is a quantile, which the bucket's edge may not carry beyond what occurred.
func (r *perftestRun) within(q float64) sim.Duration {
	return min(max(r.latencies.Quantile(q), r.least), r.most)
}

// peak returns the greatest rate of bytes between a posting and a later
// completion.
func (r *perftestRun) peak() *float64 {
	if len(r.span) > maxPeak || len(r.span) == 0 {
		return nil
	}
	slices.SortFunc(r.span, func(a, b [2]sim.Time) int { return cmp.Compare(a[0], b[0]) })
	best := 0.0
	for i := range r.span {
		end := r.span[i][1]
		for j := i; j < len(r.span); j++ {
			end = max(end, r.span[j][1])
			if d := end.Sub(r.span[i][0]).Seconds(); d > 0 {
				best = max(best, float64(j-i+1)*float64(r.Size)/d)
			}
		}
	}
	return &best
}

// mebibyte is what perftest counts bandwidth in.
const mebibyte = 1 << 20

// Columns returns the headline and the line of a result as perftest prints
// them, times in microseconds and bandwidth in MiB/s. "-" is not measured.
func (p *Perftest) Columns() (head, line string) {
	if p.Latency {
		us := func(seconds float64) string {
			if p.Iterations < 2 || seconds != seconds {
				return "-"
			}
			return fmt.Sprintf("%.2f", seconds*1e6)
		}
		return " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]",
			fmt.Sprintf(" %-6d %-14d %-14s %-12s %-18s %-14s %-15s %-22s %s", int64(p.Size), p.Iterations, us(p.Min.Seconds()), us(p.Max.Seconds()), us(p.Median.Seconds()),
				us(p.Mean), us(p.Deviation), us(p.P99.Seconds()), us(p.P999.Seconds()))
	}
	peak := "-"
	if p.Peak != nil {
		peak = fmt.Sprintf("%.2f", *p.Peak/mebibyte)
	}
	return " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]",
		fmt.Sprintf(" %-10d %-14d %-19s %-21s %.6f", int64(p.Size), p.Iterations, peak, fmt.Sprintf("%.2f", p.Average/mebibyte), p.MessagesPerSec/1e6)
}
