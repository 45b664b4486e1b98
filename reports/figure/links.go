package figure

import (
	"fmt"
	"sort"
	"strings"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// LinkUse is one direction of a link and how busy it was.
type LinkUse struct {
	From, To trace.Object // ports; From transmits
	Rate     float64      // bit/s
	Up       bool         // towards a higher tier
	Tiers    [2]int       // of From and To
	Bytes    float64      // on the wire, in the measured interval
	Mean     float64      // utilisation in 0..1; negative = not measured
	Peak     float64      // of a bin of the series; negative = not recorded
	series   *Series
}

// measured is the interval that counters cover: the run without its warm-up.
func (r *Run) measured() float64 {
	return sim.Time(r.Manifest.Simulated).Sub(sim.Time(r.Manifest.Warmup)).Seconds()
}

// LinkUses returns every direction of every link, the busiest first.
func (r *Run) LinkUses() []LinkUse {
	bytes := map[trace.Object]float64{}
	for _, c := range r.Counter(trace.CountTxBytes) {
		bytes[c.Object] += c.Value
	}
	series := map[trace.Object]*Series{}
	for _, s := range r.Series[trace.SeriesThroughput] {
		series[s.Object] = s
	}
	var list []LinkUse
	for _, l := range r.Topology.Links {
		a, b := r.Topology.Nodes[l.A], r.Topology.Nodes[l.B]
		pa, pb := portName(a.Name, l.APort), portName(b.Name, l.BPort)
		list = append(list, r.linkUse(pa, pb, l.RateAB, [2]int{a.Tier, b.Tier}, bytes, series),
			r.linkUse(pb, pa, l.RateBA, [2]int{b.Tier, a.Tier}, bytes, series))
	}
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].Mean != list[j].Mean {
			return list[i].Mean > list[j].Mean
		}
		if list[i].Peak != list[j].Peak {
			return list[i].Peak > list[j].Peak
		}
		return natural(list[i].From, list[j].From)
	})
	return list
}

func (r *Run) linkUse(from, to string, rate int64, tiers [2]int, bytes map[string]float64, series map[string]*Series) LinkUse {
	u := LinkUse{From: from, To: to, Rate: float64(rate), Tiers: tiers, Up: tiers[0] < tiers[1], Mean: -1, Peak: -1, series: series[from]}
	if rate <= 0 {
		return u
	}
	if s := u.series; s != nil {
		u.Mean, u.Peak = s.Average/u.Rate, s.Peak/u.Rate
	}
	if b, ok := bytes[from]; ok && r.measured() > 0 {
		u.Bytes, u.Mean = b, b*8/u.Rate/r.measured()
	}
	return u
}

// tierName names a tier of topology.json.
func (r *Run) tierName(tier int) string {
	top := 0
	for _, n := range r.Topology.Nodes {
		top = max(top, n.Tier)
	}
	switch {
	case tier == 0:
		return "host"
	case tier == 1 && top == 1:
		return "switch"
	case tier == 1:
		return "leaf"
	case tier == 2 && top == 2:
		return "spine"
	case tier == 2:
		return "aggregation"
	case tier == 3 && top == 3:
		return "core"
	}
	return fmt.Sprintf("tier %d", tier)
}

// tierGroup is the links that join two tiers in one direction.
type tierGroup struct {
	name  string
	links []LinkUse // busiest first
}

// tierGroups sorts links into groups, from the hosts upwards and down again.
func (r *Run) tierGroups(list []LinkUse) []tierGroup {
	by := map[[2]int][]LinkUse{}
	var keys [][2]int
	for _, l := range list {
		if by[l.Tiers] == nil {
			keys = append(keys, l.Tiers)
		}
		by[l.Tiers] = append(by[l.Tiers], l)
	}
	rank := func(k [2]int) int {
		switch {
		case k[0] < k[1]:
			return k[0]*16 + k[1]
		case k[0] == k[1]:
			return 1<<20 + k[0]
		}
		return 1<<21 - k[0]*16 - k[1]
	}
	sort.Slice(keys, func(i, j int) bool { return rank(keys[i]) < rank(keys[j]) })
	var groups []tierGroup
	for _, k := range keys {
		groups = append(groups, tierGroup{name: r.tierName(k[0]) + " → " + r.tierName(k[1]), links: by[k]})
	}
	return groups
}

// busiest is the table of the links with the highest utilisation.
func busiest(list []LinkUse) Table {
	t := Table{Head: []string{"link", "rate", "bytes on the wire", "mean utilisation", "highest of a bin"}}
	shown, above := 0, false
	for _, l := range list {
		if l.Mean < 0 || shown == maxLines {
			break
		}
		shown++
		peak := "not recorded"
		if l.Peak >= 0 {
			peak = Share(l.Peak)
			above = above || l.Peak > 1
		}
		t.Rows = append(t.Rows, []string{l.From + " → " + l.To, Bitrate(l.Rate), Size(l.Bytes), Share(l.Mean), peak})
	}
	if shown < len(list) {
		t.Note = "The " + Whole(shown) + " busiest of " + Whole(len(list)) + " link directions."
	}
	if above {
		t.Note = strings.TrimSpace(t.Note + " A frame counts in the bin in which it begins, so that a bin may show a little more than 100 %.")
	}
	return t
}
