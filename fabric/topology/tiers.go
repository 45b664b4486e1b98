package topology

import (
	"fmt"

	"rdmasim/sim"
)

// Stats counts what a graph is made of.
type Stats struct {
	Hosts, Switches, Links, Endpoints int
	Tiers                             int // tiers of switches
}

// Stats returns the counts of the graph.
func (g *Graph) Stats() Stats {
	s := Stats{Links: len(g.Links), Endpoints: len(g.Endpoints())}
	for _, n := range g.Nodes {
		if n.Kind == Host {
			s.Hosts++
		} else {
			s.Switches++
		}
		s.Tiers = max(s.Tiers, n.Tier)
	}
	return s
}

// String prints the counts in one line.
func (s Stats) String() string {
	t := fmt.Sprintf("%d hosts, %d switches, %d links, %d tiers", s.Hosts, s.Switches, s.Links, s.Tiers)
	if s.Endpoints != s.Hosts {
		t += fmt.Sprintf(", %d endpoints", s.Endpoints)
	}
	return t
}

// TierLoad compares what a tier of switches takes in from below with what it
// can send up. Links within the tier count for neither.
type TierLoad struct {
	Tier     int
	Switches int
	Down     sim.Rate // capacity of the links from lower tiers to this one
	Up       sim.Rate // capacity of the links from this tier to higher ones
	Worst    float64  // largest Down / Up of one of its switches, 0 where none has uplinks
	WorstAt  string   // name of that switch
}

// Ratio is Down / Up: above 1 the tier is oversubscribed. It is 0 for a tier
// without uplinks.
func (t TierLoad) Ratio() float64 {
	if t.Up == 0 {
		return 0
	}
	return float64(t.Down) / float64(t.Up)
}

// String prints the tier in one line.
func (t TierLoad) String() string {
	noun := "switches"
	if t.Switches == 1 {
		noun = "switch"
	}
	s := fmt.Sprintf("tier %d: %d %s, %v from below", t.Tier, t.Switches, noun, t.Down)
	if t.Up == 0 {
		return s + ", no uplinks"
	}
	s += fmt.Sprintf(", %v up: oversubscription %.4g:1", t.Up, t.Ratio())
	if t.Worst > t.Ratio()*1.001 {
		s += fmt.Sprintf(" (worst %.4g:1 at %s)", t.Worst, t.WorstAt)
	}
	return s
}

// Oversubscription returns the load of every tier of switches, lowest first.
func (g *Graph) Oversubscription() []TierLoad {
	down, up := make([]float64, len(g.Nodes)), make([]float64, len(g.Nodes))
	for _, l := range g.Links {
		lo, hi, rate := l.A, l.B, l.AtoB.Rate
		if g.Nodes[lo].Tier > g.Nodes[hi].Tier {
			lo, hi, rate = l.B, l.A, l.BtoA.Rate
		}
		if g.Nodes[lo].Tier != g.Nodes[hi].Tier {
			up[lo] += float64(rate)
			down[hi] += float64(rate)
		}
	}
	loads := make([]TierLoad, g.Stats().Tiers)
	sumDown, sumUp := make([]float64, len(loads)), make([]float64, len(loads))
	for i, n := range g.Nodes {
		if n.Kind == Host || n.Tier == 0 {
			continue
		}
		t := &loads[n.Tier-1]
		t.Switches++
		sumDown[n.Tier-1] += down[i]
		sumUp[n.Tier-1] += up[i]
		if up[i] > 0 && down[i]/up[i] > t.Worst {
			t.Worst, t.WorstAt = down[i]/up[i], n.Name
		}
	}
	out := loads[:0]
	for i, t := range loads {
		t.Tier, t.Down, t.Up = i+1, saturate(sumDown[i]), saturate(sumUp[i])
		if t.Switches > 0 {
			out = append(out, t)
		}
	}
	return out
}

func saturate(v float64) sim.Rate {
	const most = float64(1 << 62)
	return sim.Rate(min(v, most))
}

// deriveTiers gives every switch without a tier its distance, in links, to the
// nearest host; the hosts in quiet do not count unless there are no others.
func (g *Graph) deriveTiers(quiet map[int]bool) {
	ports := g.Ports()
	distance := make([]int, len(g.Nodes))
	var queue []int
	for _, counted := range []bool{true, false} {
		for i, n := range g.Nodes {
			if n.Kind == Host && !quiet[i] == counted {
				queue = append(queue, i)
			}
		}
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			for _, q := range ports.Of(i) {
				if g.Nodes[q.Peer].Kind == Switch && distance[q.Peer] == 0 {
					distance[q.Peer] = distance[i] + 1
					queue = append(queue, q.Peer)
				}
			}
		}
	}
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Kind == Switch && n.Tier == 0 {
			n.Tier = distance[i]
		}
	}
}
