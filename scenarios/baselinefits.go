package scenarios

import (
	"fmt"
	"strings"

	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// Fits reports whether a baseline was published for ports of a rate: For is
// "every rate", a range such as 25G to 100G, or a list such as 100G, 400G.
func (b *Baseline) Fits(r sim.Rate) bool {
	if b.Lacks != "" {
		return false
	}
	if _, ok := b.At(r); !ok {
		return false
	}
	if b.For == "every rate" {
		return true
	}
	for part := range strings.SplitSeq(b.For, ", ") {
		low, high, span := strings.Cut(part, " to ")
		if !span {
			high = low
		}
		from, err1 := shortRate(low)
		to, err2 := shortRate(high)
		if err1 == nil && err2 == nil && from <= r && r <= to {
			return true
		}
	}
	return false
}

// shortRate reads 100G or 1.6T.
func shortRate(text string) (sim.Rate, error) { return sim.ParseRate(text + "bps") }

// Thresholds returns Kmin and Kmax of a curve in bytes for a switch with that
// buffer: fill levels are shares of the longest queue that it can hold.
func (c BaselineCurve) Thresholds(b *BufferSpec) (kmin, kmax sim.Bytes) {
	var e ECNSpec
	e.take(c, b.largestQueue())
	return e.Kmin, e.Kmax
}

// HostRate returns the rate of the links of the hosts, the slowest where they differ.
func (s *Spec) HostRate() (sim.Rate, error) {
	g, err := s.graph()
	if err != nil {
		return 0, err
	}
	rate := sim.Rate(0)
	for i := range g.Links {
		l := &g.Links[i]
		if g.Nodes[l.A].Kind == topology.Host && (rate == 0 || l.AtoB.Rate < rate) {
			rate = l.AtoB.Rate
		}
		if g.Nodes[l.B].Kind == topology.Host && (rate == 0 || l.BtoA.Rate < rate) {
			rate = l.BtoA.Rate
		}
	}
	if rate == 0 {
		return 0, fmt.Errorf("no host has a link")
	}
	return rate, nil
}
