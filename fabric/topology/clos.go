package topology

import (
	"cmp"
	"fmt"
	"strconv"

	"rdmasim/sim"
)

// ClosParams describes a folded Clos network of any number of tiers as an
// extended generalised fat tree, XGFT(h; m1..mh; w1..wh) of Öhring et al., "On
// generalized fat trees", IPPS 1995: m is Down, w is Up of a tier.
type ClosParams struct {
	Tiers []ClosTier   `key:"tiers" doc:"tiers of switches, lowest first"`
	Rate  sim.Rate     `key:"rate" doc:"rate of every link for which its tier gives none"`
	Delay sim.Duration `key:"delay" doc:"propagation delay of every link for which its tier gives none"`
	Cable sim.Length   `key:"cable" doc:"length of the cables instead of delay, at 5 ns/m"`
}

// ClosTier is one tier of switches and the links below it.
type ClosTier struct {
	Name     string       `key:"name" doc:"what its switches are called, before their number; default leaf, spine with two tiers, tor, agg, core with three"`
	Down     int          `key:"down" doc:"nodes of the tier below (hosts, for the first) in a group that shares switches of this tier"`
	Up       int          `key:"up" doc:"switches of this tier that each node below joins"`
	Parallel int          `key:"parallel" doc:"links between a switch and each node below; 0 = 1"`
	LAG      bool         `key:"lag" doc:"parallel links form a LAG, that is one next hop"`
	Rate     sim.Rate     `key:"rate" doc:"rate of the links below this tier; 0bps = that of all"`
	Delay    sim.Duration `key:"delay" doc:"delay of the links below this tier; 0s = that of all"`
	Cable    sim.Length   `key:"cable" doc:"cable of the links below this tier, instead of delay"`
}

// hpcc320 is the fabric of Li et al., "HPCC: High Precision Congestion
// Control", SIGCOMM 2019, section 5.1: 320 hosts in 20 racks of 16, 20
// aggregation and 16 core switches, 100 Gb/s to hosts, 400 Gb/s above, 1 us.
var hpcc320 = ClosParams{
	Tiers: []ClosTier{
		{Down: 16, Up: 1, Rate: 100 * sim.Gbps},
		{Down: 4, Up: 4, Rate: 400 * sim.Gbps},
		{Down: 5, Up: 4, Rate: 400 * sim.Gbps},
	},
	Rate:  DefaultRate,
	Delay: sim.Microsecond,
}

var _ = sim.Register(Topologies, "clos", "folded Clos of any number of tiers and widths (a generalised fat tree)",
	ClosParams{
		Tiers: []ClosTier{{Down: 4, Up: 1}, {Down: 4, Up: 4}},
		Rate:  DefaultRate,
		Delay: DefaultDelay,
	},
	map[string]ClosParams{"hpcc320": hpcc320},
	func(p ClosParams) (*Graph, error) { return buildClos("clos", p) })

// maxTiers bounds the depth of a Clos network.
const maxTiers = 8

// closLevel is a tier, checked; widths[i] in clos is the number of its nodes.
type closLevel struct {
	name               string
	down, up, parallel int
	lag                bool
	wire               Wire
}

// buildClos builds hosts first, then the tiers from below; links likewise, so
// that the ports of a switch are those towards hosts, then those upwards.
func buildClos(topology string, p ClosParams) (*Graph, error) {
	levels, err := closLevels(p)
	if err != nil {
		return in(topology, err)
	}
	widths := closWidths(levels)
	links := 0
	for i, l := range levels {
		links = sum(links, product(widths[i], l.up, l.parallel))
	}
	if err := checkSize(sum(widths...), links); err != nil {
		return in(topology, err)
	}
	b := NewBuilder(topology)
	first := make([]int, len(widths)) // index of the first node of each tier
	for tier, n := range widths {
		for i := range n {
			pod := closPod(levels, widths, tier, i)
			var node int
			if tier == 0 {
				node = b.AddHost("h" + strconv.Itoa(i))
				b.SetPod(node, pod)
			} else {
				node = b.AddSwitch(levels[tier-1].name+strconv.Itoa(i), tier, pod)
			}
			if i == 0 {
				first[tier] = node
			}
		}
	}
	for tier, l := range levels {
		ups := 1 // switches of the lower tier per group: w1 * ... * wi
		for _, below := range levels[:tier] {
			ups *= below.up
		}
		for i := range widths[tier] {
			group, member := i/ups/l.down, i%ups
			for j := range l.up {
				upper := (group*ups+member)*l.up + j
				for range l.parallel {
					b.Connect(first[tier]+i, first[tier+1]+upper, l.wire)
				}
			}
		}
	}
	return b.Graph()
}

func closLevels(p ClosParams) ([]closLevel, error) {
	if n := len(p.Tiers); n < 1 || n > maxTiers {
		return nil, fmt.Errorf("tiers: %d tiers of switches: want 1 to %d", n, maxTiers)
	}
	if err := checkRate("rate", p.Rate); err != nil {
		return nil, err
	}
	all, err := topSpan(p.Delay, p.Cable)
	if err != nil {
		return nil, err
	}
	levels := make([]closLevel, len(p.Tiers))
	for i, t := range p.Tiers {
		key := fmt.Sprintf("tiers[%d].", i)
		l := closLevel{name: cmp.Or(t.Name, closName(i, len(p.Tiers))), down: t.Down, up: t.Up, parallel: cmp.Or(t.Parallel, 1), lag: t.LAG}
		if err := checks(check{key + "down", l.down, 1}, check{key + "up", l.up, 1}, check{key + "parallel", l.parallel, 1}); err != nil {
			return nil, err
		}
		rate := cmp.Or(t.Rate, p.Rate)
		if err := checkRate(key+"rate", rate); err != nil {
			return nil, err
		}
		s, err := all.or(key, t.Delay, t.Cable)
		if err != nil {
			return nil, err
		}
		l.wire = s.wire(rate)
		if l.lag && l.parallel > 1 {
			l.wire.LAG = "lag"
		}
		levels[i] = l
	}
	return levels, nil
}

func closName(tier, tiers int) string {
	switch {
	case tiers <= 2:
		return []string{"leaf", "spine"}[tier]
	case tiers == 3:
		return []string{"tor", "agg", "core"}[tier]
	}
	return fmt.Sprintf("t%dn", tier+1)
}

// closWidths returns the number of nodes of every tier, hosts first: tier i
// has the product of down above it times that of up below and at it.
func closWidths(levels []closLevel) []int {
	widths := make([]int, len(levels)+1)
	for tier := range widths {
		widths[tier] = 1
		for i, l := range levels {
			if i < tier {
				widths[tier] = product(widths[tier], l.up)
			} else {
				widths[tier] = product(widths[tier], l.down)
			}
		}
	}
	return widths
}

// closPod returns the pod of a node: the group of the highest tier but one that
// it belongs to, from three tiers on; nodes of the highest tier have none.
func closPod(levels []closLevel, widths []int, tier, i int) int {
	if len(levels) < 3 || tier == len(levels) {
		return -1
	}
	pods := levels[len(levels)-1].down
	return i / (widths[tier] / pods)
}
