package metric

import (
	"fmt"
	"strings"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// worstQueue returns queue_bytes: the figures of the queue with the highest
// maximum, the first in the order of names among equals. A host's own send
// queue says nothing of the fabric, so that switches come first.
func worstQueue(counters []trace.Counter, topology *trace.TopologyFile, measured sim.Duration) Queue {
	switches := map[string]bool{}
	for _, n := range topology.Nodes {
		switches[n.Name] = n.Kind == "switch"
	}
	var q Queue
	var worst class
	onSwitch := false
	for i := range counters {
		c := &counters[i]
		if c.Name != trace.CountQueueMax {
			continue
		}
		node, _, _ := strings.Cut(c.Object, ":")
		here := switches[node]
		if q.Max == nil || here && !onSwitch || here == onSwitch && c.Value > *q.Max {
			q.Max, worst, onSwitch = number(c.Value), class{c.Object, c.Prio}, here
		}
	}
	if q.Max == nil {
		return q
	}
	q.Where = worst.object
	if worst.prio >= 0 && !strings.Contains(worst.object, "/") {
		q.Where = fmt.Sprintf("%s/q%d", worst.object, worst.prio)
	}
	for i := range counters {
		c := &counters[i]
		if (class{c.Object, c.Prio}) != worst {
			continue
		}
		switch {
		case c.Name == trace.CountQueueP99:
			q.P99 = number(c.Value)
		case c.Name == trace.CountQueueIntegral && measured > 0:
			q.Mean = number(c.Value / measured.Seconds())
		}
	}
	return q
}

// mostUsedHeadroom returns headroom_bytes: the largest use, and what was
// configured there.
func mostUsedHeadroom(counters []trace.Counter) Headroom {
	var h Headroom
	var where class
	for i := range counters {
		c := &counters[i]
		if c.Name == trace.CountHeadroomMax && (h.MaxUsed == nil || c.Value > *h.MaxUsed) {
			h.MaxUsed, where = number(c.Value), class{c.Object, c.Prio}
		}
	}
	if h.MaxUsed == nil {
		return h
	}
	if *h.MaxUsed > 0 {
		h.Where = where.object
	}
	if h.Where != "" && where.prio >= 0 && !strings.Contains(where.object, "/") {
		h.Where = fmt.Sprintf("%s/pg%d", where.object, where.prio)
	}
	for i := range counters {
		if c := &counters[i]; c.Name == trace.CountHeadroomSize && (class{c.Object, c.Prio}) == where {
			h.Configured = number(c.Value)
		}
	}
	return h
}
