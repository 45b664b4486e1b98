package validation

import (
	"fmt"
	"strings"

	"rdmasim/sim/trace"
)

var _ = register("T3", Row{
	Title: "ECMP keeps a queue pair on one path",
	Hard:  true,
	Explain: `All packets of one queue pair have one 5-tuple, so that a hash sends them over one of the (k/2)^2 paths of a fat tree, and
none overtakes another; a queue pair with another UDP source port may take another path. Spraying by packet is the counterexample
that shows that the check can fail: it uses all paths at once and reorders.
Source: RFC 2992; RoCEv2 (InfiniBand Architecture annex A17.9.2) on the UDP source port as entropy.`,
	Scenarios: []string{"ecmp.yaml"},
	Measure:   measureECMP,
})

// coresUsed counts core switches that sent data frames of a run.
func coresUsed(o *Outcome) int {
	used := map[string]bool{}
	for i := range o.counters {
		c := &o.counters[i]
		node, _, _ := strings.Cut(c.Object, ":")
		if c.Name == trace.CountTxBytes && c.Value > 50_000 && strings.HasPrefix(node, "core") { // more than a stream of ACKs
			used[node] = true
		}
	}
	return len(used)
}

func measureECMP(b *Bench) error {
	traffic := "traffic=[{incast: {receiver: h15, senders: [h0], message: 20KB, repeat: forever, depth: 2, qps_per_peer: QPS}}]"
	qps := func(n int, more ...string) []string {
		return append([]string{strings.ReplaceAll(traffic, "QPS", fmt.Sprint(n))}, more...)
	}
	seeds := [...]int{Short: 3, Quick: 8, Full: 32}[b.Level]
	for seed := 1; seed <= seeds; seed++ {
		o, err := b.Run("ecmp.yaml", qps(1, fmt.Sprintf("seed=%d", seed), fmt.Sprintf("switch.balance.seed=%d", seed))...)
		if err != nil {
			return err
		}
		b.Exact(fmt.Sprintf("1 queue pair, seed %d: core switches used, packets out of sequence", seed), "1 0", fmt.Sprint(coresUsed(o), " ", o.Sum(trace.CountOutOfSequence)), "RFC 2992")
		o.Discard()
	}
	for _, method := range []string{"ecmp", "spray"} {
		o, err := b.Run("ecmp.yaml", qps(64, "switch.balance.method="+method)...)
		if err != nil {
			return err
		}
		b.Exact("64 queue pairs, "+method+": core switches used", 4, coresUsed(o), "RFC 2992")
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
	return nil
}
