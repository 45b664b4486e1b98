package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rdmasim/sim"
	"rdmasim/sim/stat"
	"rdmasim/sim/trace"
)

// Kinds of figures.
const (
	Latency = "latency" // mean time from posting to completion without the tenth at either end, in seconds
	Rate    = "rate"    // messages per second of the whole group
)

// batches is into how many parts a group is cut to see its spread (the method
// of batch means: A. Law, "Simulation Modeling and Analysis", section 9.5.3).
const batches = 10

// least is how many messages a figure needs.
const least = 2 * batches

// busy separates the two kinds: where fewer messages are outstanding on average,
// the time of each says most; where more are, their rate does, and the time of
// each is only the number outstanding divided by that rate.
const busy = 1.5

// Group names messages of one kind: those of one workload, verb and size.
type Group struct {
	Workload string
	Tag      string
	Verb     string
	Size     sim.Bytes
}

func (g Group) String() string {
	if g.Verb == "" {
		return g.Workload
	}
	if g.Tag != "" {
		return fmt.Sprintf("%s %s %v (%s)", g.Workload, g.Verb, g.Size, g.Tag)
	}
	return fmt.Sprintf("%s %s %v", g.Workload, g.Verb, g.Size)
}

// Observation is one figure of a group.
type Observation struct {
	Group
	Kind     string
	Messages int
	Value    float64 // seconds, or messages per second
	Error    float64 // standard error of Value
}

type interval struct {
	start, end sim.Time
}

// groups reads the completed messages of a run, in the order of their posting.
func groups(run *trace.Run) (map[Group][]interval, error) {
	out := map[Group][]interval{}
	for f, err := range run.Flows() {
		if err != nil {
			return nil, err
		}
		if _, ok := f.FCT(); !ok {
			continue
		}
		g := Group{f.Workload, f.Tag, f.Verb, f.Bytes}
		out[g] = append(out[g], interval{f.Start, f.End})
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b interval) int { return cmp.Compare(a.start, b.start) })
	}
	return out, nil
}

// sorted returns the groups in the order of their names.
func sorted[V any](m map[Group]V) []Group {
	var list []Group
	for g := range m {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Size, b.Size))
	})
	return list
}

// Observe returns the figures of a run, one for each group of at least twenty
// messages in the order of their names, and that of the CNPs if there are any.
func Observe(run *trace.Run) ([]Observation, error) {
	m, err := groups(run)
	if err != nil {
		return nil, err
	}
	var out []Observation
	for _, g := range sorted(m) {
		if list := m[g]; len(list) >= least {
			if o := figure(g, list); o.Value > 0 && !math.IsInf(o.Value, 0) {
				out = append(out, o)
			}
		}
	}
	o, ok, err := observeCNPs(run)
	if ok {
		out = append(out, o)
	}
	return out, err
}

// figure makes the figure of a group, of the kind that says most.
func figure(g Group, list []interval) Observation {
	kind := Latency
	if outstanding(list) >= busy {
		kind = Rate
	}
	o := Observation{Group: g, Kind: kind, Messages: len(list)}
	if kind == Rate { // a batch is what completed one after the other
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b interval) int { return cmp.Compare(a.end, b.end) })
	}
	o.Value = value(list, kind)
	o.Error = o.Value // nothing is known of its spread
	for _, n := range []int{batches, batches / 2, 2} {
		if e := spread(list, kind, n); !math.IsNaN(e) && !math.IsInf(e, 0) {
			o.Error = e
			break
		}
	}
	return o
}

// spread is the standard error of a figure by n batches; it is not finite where
// all of a batch completed at once, as one poll of a real completion queue may find.
func spread(list []interval, kind string, n int) float64 {
	var parts stat.Moments
	for b := range n {
		parts.Add(value(list[b*len(list)/n:(b+1)*len(list)/n], kind))
	}
	return parts.Deviation() / math.Sqrt(float64(n))
}

// outstanding is how many messages were under way on average (Little's law).
func outstanding(list []interval) float64 {
	sum, last := 0.0, list[0].end
	for _, m := range list {
		sum += m.end.Sub(m.start).Seconds()
		last = max(last, m.end)
	}
	return sum / last.Sub(list[0].start).Seconds()
}

// trim is the share of messages at either end that a latency leaves out: a
// stall is not what a path takes, and half of a few kinds is not their mean.
const trim = 0.1

// value is the trimmed mean time of messages or their rate. The rate is counted
// between the first completion and the last, so that filling the pipe, and
// where a batch begins, does not change it.
func value(list []interval, kind string) float64 {
	if kind == Latency {
		times := make([]float64, len(list))
		for i, m := range list {
			times[i] = m.end.Sub(m.start).Seconds()
		}
		slices.Sort(times)
		cut := int(trim * float64(len(times)))
		return stat.Mean(times[cut : len(times)-cut])
	}
	first, last := sim.Never, sim.Time(0)
	for _, m := range list {
		first, last = min(first, m.end), max(last, m.end)
	}
	if last <= first {
		return math.Inf(1)
	}
	return float64(len(list)-1) / last.Sub(first).Seconds()
}
