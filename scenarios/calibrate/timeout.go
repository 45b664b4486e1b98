package calibrate

import (
	"cmp"
	"math"
	"slices"

	"rdmasim/sim"
	"rdmasim/sim/stat"
	"rdmasim/sim/trace"
)

// Timeouts is which local ACK timer explains the stalls of a run best.
type Timeouts struct {
	Stalls    int
	Policy    string  // exact, jitter or adaptive, as nic.timeout_policy
	Exponent  int     // of T = 4.096 us * 2^n; -1: the policy does not depend on it
	Explained float64 // share of the stalls that it explains
	Median    float64 // seconds, of the stalls
}

const (
	// leastStalls is how many stalls tell one policy from another.
	leastStalls = 5
	// slack is by how much a stall may be longer than its timer, as a share: the
	// message itself takes its time too.
	slack = 0.1
	// leastExplained is the share of stalls that a timer has to explain; otherwise
	// they were something else: a host that was busy, a queue.
	leastExplained = 0.8
	// outlier is the share of stalls that have other causes.
	outlier = 0.05
)

// stalls returns by how much the messages of a run that were held up were later
// than half of their group, in seconds: of those that waited behind each other
// on one queue pair, the longest. Held up is what took three times as long, and
// 200 us longer, than half of its group.
func stalls(run *trace.Run) ([]float64, error) {
	type lane struct {
		src string
		qp  uint32
	}
	m, err := groups(run)
	if err != nil {
		return nil, err
	}
	median := map[Group]float64{}
	for g, list := range m {
		times := make([]float64, len(list))
		for i, m := range list {
			times[i] = m.end.Sub(m.start).Seconds()
		}
		slices.Sort(times)
		median[g] = stat.Quantile(times, 0.5)
	}
	lanes := map[lane][]trace.Flow{}
	for f, err := range run.Flows() {
		if err != nil {
			return nil, err
		}
		if _, ok := f.FCT(); ok {
			l := lane{f.Src, f.QP}
			lanes[l] = append(lanes[l], f)
		}
	}
	var out []float64
	for _, list := range lanes {
		slices.SortStableFunc(list, func(a, b trace.Flow) int { return cmp.Compare(a.Start, b.Start) })
		longest, until := 0.0, sim.Time(0)
		for i := range list {
			f := &list[i]
			d, _ := f.FCT()
			usual := median[Group{f.Workload, f.Tag, f.Verb, f.Bytes}]
			late := d.Seconds() - usual
			if late < 2*usual || late < 200e-6 {
				continue
			}
			if f.Start >= until {
				if longest > 0 {
					out = append(out, longest)
				}
				longest, until = 0, f.End
			}
			longest = max(longest, late)
		}
		if longest > 0 {
			out = append(out, longest)
		}
	}
	slices.Sort(out)
	return out, nil
}

// timeouts finds the policy under which the stalls of a run are most likely;
// nil if there are too few, or if none explains most of them.
func timeouts(run *trace.Run) (*Timeouts, error) {
	list, err := stalls(run)
	if err != nil || len(list) < leastStalls {
		return nil, err
	}
	if none, err := countedNone(run); none || err != nil {
		return nil, err
	}
	best, score := Timeouts{}, math.Inf(-1)
	try := func(policy string, exponent int, density func(float64) float64) {
		sum, explained := 0.0, 0
		for _, v := range list {
			d := density(v)
			if d > 0 {
				explained++
			}
			sum += math.Log((1-outlier)*d + outlier/10) // of other causes: anything up to 10 s
		}
		if sum > score {
			score = sum
			best = Timeouts{Stalls: len(list), Policy: policy, Exponent: exponent,
				Explained: float64(explained) / float64(len(list)), Median: stat.Quantile(list, 0.5)}
		}
	}
	try("adaptive", -1, func(v float64) float64 { return steps(v, []float64{2e-3, 6e-3, 14e-3, 30e-3, 46e-3}) })
	for n := 1; n <= 31; n++ {
		t := 4.096e-6 * math.Ldexp(1, n)
		try("exact", n, func(v float64) float64 { return steps(v, []float64{t, 2 * t, 3 * t, 4 * t, 5 * t}) })
		try("jitter", n, func(v float64) float64 {
			if v < t || v > 4*t*(1+slack) {
				return 0
			}
			return 1 / (4*t*(1+slack) - t)
		})
	}
	if best.Explained < leastExplained {
		return nil, nil
	}
	return &best, nil
}

// steps is the density of a stall that ends at one of some times, each half as
// likely as the one before it, or up to a tenth later.
func steps(v float64, times []float64) float64 {
	share := 0.5
	for _, t := range times {
		if v >= t*(1-1e-3) && v <= t*(1+slack) {
			return share / (t * slack)
		}
		share /= 2
	}
	return 0
}

// retries are the counters of devices that grow whenever something is sent again,
// for a timer or otherwise: of Soft-RoCE, and of mlx5, bnxt_re and irdma.
var retries = []string{"completer_retry_err", trace.CountTimeouts}

// countedNone reports whether devices count what they send again, and have sent
// nothing again: then stalls were something else.
func countedNone(run *trace.Run) (bool, error) {
	if run.Manifest.Mode != trace.ModeHardware {
		return false, nil
	}
	list, err := run.Counters()
	if err != nil {
		return false, err
	}
	counts, sum := false, 0.0
	for _, c := range list {
		if slices.Contains(retries, c.Name) {
			counts, sum = true, sum+c.Value
		}
	}
	return counts && sum == 0, nil
}
