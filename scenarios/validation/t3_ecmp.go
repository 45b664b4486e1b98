package validation

import (
	"fmt"
	"math"
	"strings"

	"rdmasim/congestion/fluid"
	"rdmasim/sim/stat"
	"rdmasim/sim/trace"
)

var _ = register("T3", Row{
	Title: "ECMP keeps a queue pair on one path",
	Hard:  true,
	Explain: `All packets of one queue pair have one 5-tuple, so that a hash sends them over one of the (k/2)^2 paths of a fat tree, and
none overtakes another; a queue pair with another UDP source port may take another path. Spraying by packet is the counterexample
that shows that the check can fail: it uses all paths at once and reorders.
How many of M paths N queue pairs use is that of balls in bins.
Source: RFC 2992; RoCEv2 (InfiniBand Architecture annex A17.9.2) on the UDP source port as entropy.`,
	Oracles:   []string{"ecmp_collisions"},
	Scenarios: []string{"ecmp.yaml"},
	Measure:   measureECMP,
})

// tree is a fabric of T3: its settings, the switches of its top tier, the last
// host, one beside the first and one beside the last.
type tree struct {
	name, shape, top   string
	paths              int
	far, second, other string
}

var (
	k4   = tree{"k 4", "fat_tree: {k: 4, rate: 100Gbps, delay: 500ns}", "core", 4, "h15", "h1", "h12"}
	k8   = tree{"k 8", "fat_tree: {k: 8, rate: 100Gbps, delay: 500ns}", "core", 16, "h127", "h1", "h124"}
	leaf = tree{"3 spines", "leaf_spine: {leaves: 3, spines: 3, hosts_per_leaf: 4, rate: 25Gbps, delay: 1us}", "spine", 3, "h11", "h1", "h10"}
)

// settings make one host send to another pod over so many queue pairs.
func (t tree) settings(qps int, more ...string) []string {
	return append([]string{"topology={" + t.shape + "}", fmt.Sprintf("traffic=[{incast: {receiver: %s, senders: [h0], message: 20KB, repeat: forever, depth: 2, qps_per_peer: %d}}]", t.far, qps)}, more...)
}

// used counts the switches of the top tier that sent data frames.
func (t tree) used(o *Outcome) int {
	used := map[string]bool{}
	data := o.Of("h0:0", trace.CountTxBytes) / 50 // more than a stream of ACKs
	for i := range o.counters {
		c := &o.counters[i]
		node, _, _ := strings.Cut(c.Object, ":")
		if c.Name == trace.CountTxBytes && c.Value > data && strings.HasPrefix(node, t.top) {
			used[node] = true
		}
	}
	return len(used)
}

func measureECMP(b *Bench) error {
	seeds := [...]int{Short: 3, Quick: 8, Full: 32}[b.Level]
	for _, t := range []tree{k4, k8, leaf} {
		if t != k4 && b.Level == Short {
			continue
		}
		if err := b.keepPath(t, seeds); err != nil {
			return err
		}
	}
	for _, method := range []string{"ecmp", "spray"} {
		o, err := b.Run("ecmp.yaml", k4.settings(64, "switch.balance.method="+method)...)
		if err != nil {
			return err
		}
		b.Exact("64 queue pairs, "+method+": core switches used", 4, k4.used(o), "RFC 2992")
		if method == "ecmp" {
			b.Exact("64 queue pairs, ecmp: packets out of sequence", 0, o.Sum(trace.CountOutOfSequence), "RFC 2992")
		}
		o.Discard()
	}
	// Other traffic makes the paths unequal: packets that are sprayed overtake.
	o, err := b.Run("ecmp.yaml", "switch.balance.method=spray")
	if err != nil {
		return err
	}
	b.Within("1 queue pair, spray beside other traffic: packets out of sequence", 1, inf, one(o.Sum(trace.CountOutOfSequence)), "", "counterexample")
	o.Discard()
	if b.Level == Short {
		return nil
	}
	return b.drawCollisions()
}

// keepPath checks that one queue pair has one path, whatever the seed of the
// hash.
func (b *Bench) keepPath(t tree, seeds int) error {
	found := make([]string, seeds)
	err := each(seeds, func(i int) error {
		o, err := b.Run("ecmp.yaml", t.settings(1, fmt.Sprintf("seed=%d", i+1), fmt.Sprintf("switch.balance.seed=%d", i+1))...)
		if err != nil {
			return err
		}
		defer o.Discard()
		found[i] = fmt.Sprint(t.used(o), " ", o.Sum(trace.CountOutOfSequence))
		return nil
	})
	b.Alike(fmt.Sprintf("%s, 1 queue pair, %d seeds: top switches used, packets out of sequence", t.name, seeds), seeds, func(i int) (want, got any) { return "1 0", found[i] }, "RFC 2992")
	return err
}

// collisions checks how many of the paths of a tree so many queue pairs use, in
// the mean over seeds, to four standard errors.
func (b *Bench) collisions(t tree, qps, seeds int) (stat.Interval, error) {
	used := make([]float64, seeds)
	err := each(seeds, func(i int) error {
		o, err := b.Run("ecmp.yaml", t.settings(qps, "duration=100us", fmt.Sprintf("seed=%d", i+1), fmt.Sprintf("switch.balance.seed=%d", i+1))...)
		if err != nil {
			return err
		}
		defer o.Discard()
		used[i] = float64(t.used(o))
		return nil
	})
	if err != nil {
		return stat.Interval{}, err
	}
	got := stat.MeanInterval(used, Confidence)
	b.Off(fmt.Sprintf("%s, %d queue pairs, %d seeds: top switches used in the mean", t.name, qps, seeds), fluid.ECMPUsed(t.paths, qps), got, 4*fluid.ECMPUsedDeviation(t.paths, qps)/math.Sqrt(float64(seeds)), "",
		"M (1 - (1-1/M)^N); four standard errors")
	return got, nil
}

// drawCollisions measures and draws how many paths hashed queue pairs find.
func (b *Bench) drawCollisions() error {
	seeds := [...]int{Short: 8, Quick: 24, Full: 96}[b.Level]
	var lines []Line
	for _, t := range []tree{k4, k8, leaf} {
		found := Line{Name: t.name + ", simulated"}
		for _, qps := range []int{2, 4, 8} {
			got, err := b.collisions(t, qps, seeds)
			if err != nil {
				return err
			}
			found.at(float64(qps), got.Mean)
			found.Half = append(found.Half, got.Half)
		}
		lines = append(lines, oracle(fmt.Sprintf("M = %d", t.paths), 1, 8, func(n float64) float64 { return float64(t.paths) * (1 - math.Pow(1-1/float64(t.paths), n)) }), found)
	}
	b.Draw(Curve{Name: "paths", Title: "Paths that N hashed queue pairs use of M", X: Axis{Label: "queue pairs N"}, Y: Axis{Label: "paths used"}, Lines: lines})
	return nil
}
