package figure

import (
	"sort"
	"strconv"

	"rdmasim/sim"
)

// lookup walks nested objects of resolved.json; nil where a key is missing.
func lookup(v any, path ...string) any {
	for _, k := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

// sizeValue reads a size that is text with a unit, or a number of bytes.
func sizeValue(v any) (float64, bool) {
	switch x := v.(type) {
	case string:
		b, err := sim.ParseBytes(x)
		return float64(b), err == nil
	case float64:
		return x, true
	}
	return 0, false
}

func durationValue(v any) sim.Duration {
	if s, ok := v.(string); ok {
		if d, err := sim.ParseDuration(s); err == nil {
			return d
		}
	}
	return 0
}

// Marking is the ECN curve of one priority as configured.
type Marking struct {
	Prio       int
	Rate       sim.Rate // of the ports for which it holds; 0 = all
	Kmin, Kmax float64  // bytes
}

// markings reads switch.ecn and switch.ecn_by_rate of the resolved scenario.
func markings(resolved map[string]any) []Marking {
	list := markingsOf(lookup(resolved, "switch", "ecn"), 0)
	rules, _ := lookup(resolved, "switch", "ecn_by_rate").([]any)
	for _, r := range rules {
		text, _ := lookup(r, "rate").(string)
		if rate, err := sim.ParseRate(text); err == nil {
			list = append(list, markingsOf(lookup(r, "ecn"), rate)...)
		}
	}
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].Prio != list[j].Prio {
			return list[i].Prio < list[j].Prio
		}
		return list[i].Rate < list[j].Rate
	})
	return list
}

func markingsOf(v any, rate sim.Rate) []Marking {
	m, _ := v.(map[string]any)
	var list []Marking
	for key, e := range m {
		prio, err := strconv.Atoi(key)
		kmin, ok1 := sizeValue(lookup(e, "kmin"))
		kmax, ok2 := sizeValue(lookup(e, "kmax"))
		if err == nil && ok1 && ok2 {
			list = append(list, Marking{prio, rate, kmin, kmax})
		}
	}
	return list
}

// MarkingOf returns the curve that holds for a queue: that of its priority and
// the rate of its port.
func (r *Run) MarkingOf(queue string) (Marking, bool) {
	port, prio, ok := splitQueue(queue)
	if !ok {
		return Marking{}, false
	}
	for _, m := range r.Markings {
		if m.Prio == prio && (m.Rate == 0 || m.Rate == sim.Rate(r.PortRate[port])) {
			return m, true
		}
	}
	return Marking{}, false
}
