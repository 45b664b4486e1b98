package topology

import (
	"cmp"
	"fmt"
	"math"

	"rdmasim/sim"
)

// FatTreeParams describes the k-ary fat tree of Al-Fares, Loukissas and Vahdat,
// "A scalable, commodity data center network architecture", SIGCOMM 2008: k
// pods of k/2 ToR (tor) and k/2 aggregation (agg) switches, (k/2)^2 core
// switches, k/2 hosts per ToR.
type FatTreeParams struct {
	K                int          `key:"k" doc:"ports per switch and number of pods, even"`
	Rate             sim.Rate     `key:"rate" doc:"rate of every link for which its tier gives none"`
	HostRate         sim.Rate     `key:"host_rate" doc:"hosts to ToR; 0bps = rate"`
	AggRate          sim.Rate     `key:"agg_rate" doc:"ToR to aggregation; 0bps = rate"`
	CoreRate         sim.Rate     `key:"core_rate" doc:"aggregation to core; 0bps = rate"`
	Oversubscription sim.Ratio    `key:"oversubscription" doc:"hosts per uplink of a ToR: 2 gives k hosts instead of k/2"`
	HostsPerToR      int          `key:"hosts_per_tor" doc:"hosts per ToR, instead of oversubscription; 0 = k/2 times oversubscription"`
	Delay            sim.Duration `key:"delay" doc:"propagation delay of every link for which its tier gives none"`
	Cable            sim.Length   `key:"cable" doc:"length of the cables instead of delay, at 5 ns/m"`
	HostDelay        sim.Duration `key:"host_delay" doc:"hosts to ToR; 0s = delay"`
	HostCable        sim.Length   `key:"host_cable" doc:"hosts to ToR, instead of host_delay"`
	AggDelay         sim.Duration `key:"agg_delay" doc:"ToR to aggregation; 0s = delay"`
	AggCable         sim.Length   `key:"agg_cable" doc:"ToR to aggregation, instead of agg_delay"`
	CoreDelay        sim.Duration `key:"core_delay" doc:"aggregation to core; 0s = delay"`
	CoreCable        sim.Length   `key:"core_cable" doc:"aggregation to core, instead of core_delay"`
}

var _ = sim.Register(Topologies, "fat_tree", "k-ary fat tree: k pods, k^3/4 hosts h0.., switches tor0.., agg0.., core0..",
	FatTreeParams{K: 4, Rate: DefaultRate, Oversubscription: 1, Delay: DefaultDelay}, nil, fatTree)

func fatTree(p FatTreeParams) (*Graph, error) {
	const name = "fat_tree"
	if p.K < 2 || p.K%2 != 0 || p.K > MaxPorts {
		return in(name, fmt.Errorf("k: %d: want an even number of at least 2", p.K))
	}
	half := p.K / 2
	hosts, err := p.hostsPerToR()
	if err != nil {
		return in(name, err)
	}
	for _, r := range []struct {
		key string
		v   sim.Rate
	}{{"host_rate", p.HostRate}, {"agg_rate", p.AggRate}, {"core_rate", p.CoreRate}} {
		if err := checkRate(r.key, cmp.Or(r.v, p.Rate)); err != nil {
			return in(name, err)
		}
	}
	all, err := topSpan(p.Delay, p.Cable)
	if err != nil {
		return in(name, err)
	}
	tiers := []ClosTier{{Down: hosts, Up: 1, Rate: p.HostRate}, {Down: half, Up: half, Rate: p.AggRate}, {Down: p.K, Up: half, Rate: p.CoreRate}}
	for i, s := range []struct {
		prefix string
		delay  sim.Duration
		cable  sim.Length
	}{{"host_", p.HostDelay, p.HostCable}, {"agg_", p.AggDelay, p.AggCable}, {"core_", p.CoreDelay, p.CoreCable}} {
		own, err := all.or(s.prefix, s.delay, s.cable)
		if err != nil {
			return in(name, err)
		}
		tiers[i].Delay, tiers[i].Cable = own.delay, own.cable
	}
	return buildClos(name, ClosParams{Tiers: tiers, Rate: p.Rate, Delay: p.Delay, Cable: p.Cable})
}

func (p FatTreeParams) hostsPerToR() (int, error) {
	o := float64(p.Oversubscription)
	want := float64(p.K/2) * o
	if !(o > 0) || want > MaxPorts {
		return 0, fmt.Errorf("oversubscription: %v: want more than 0 and at most %d hosts per ToR, for example 1 or 2", p.Oversubscription, MaxPorts)
	}
	if p.HostsPerToR != 0 {
		if o != 1 && want != float64(p.HostsPerToR) {
			return 0, fmt.Errorf("hosts_per_tor: %d contradicts oversubscription: %v, which gives %v: give one of them", p.HostsPerToR, p.Oversubscription, want)
		}
		return p.HostsPerToR, checks(check{"hosts_per_tor", p.HostsPerToR, 1})
	}
	if n := math.Round(want); n >= 1 && math.Abs(want-n) < 1e-9*n {
		return int(n), nil
	}
	return 0, fmt.Errorf("oversubscription: %v: k/2 = %d times it is %v hosts per ToR: want a whole number of at least 1", p.Oversubscription, p.K/2, want)
}
