package metric

import (
	"strconv"
	"strings"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// linkLoads is how busy the links of a run were.
type linkLoads struct {
	load    map[trace.Object]float64 // by port: share of what it could send
	queues  map[class]float64        // by port and priority: mean bytes waiting
	longest map[class]float64
	marks   map[class]float64               // packets marked
	far     map[trace.Object]trace.Object   // by port: the other end of its link
	peers   map[trace.Object][]trace.Object // by port: the equal-cost links that it is one of, itself included
}

// newLinkLoads reads topology and counters.
func newLinkLoads(run *trace.Run, list []trace.Counter) *linkLoads {
	l := &linkLoads{load: map[trace.Object]float64{}, queues: map[class]float64{}, longest: map[class]float64{}, marks: map[class]float64{}, peers: map[trace.Object][]trace.Object{}, far: map[trace.Object]trace.Object{}}
	span := sim.Time(run.Manifest.Simulated).Sub(sim.Time(run.Manifest.Warmup)).Seconds()
	sent := map[trace.Object]float64{}
	for i := range list {
		c := &list[i]
		port, _, _ := strings.Cut(c.Object, "/")
		switch c.Name {
		case trace.CountTxBytes:
			sent[c.Object] += c.Value
		case trace.CountQueueIntegral:
			l.queues[class{port, c.Prio}] += c.Value
		case trace.CountQueueMax:
			l.longest[class{port, c.Prio}] = c.Value
		case trace.CountECNMarked:
			l.marks[class{port, c.Prio}] += c.Value
		}
	}
	for k := range l.queues {
		if span > 0 {
			l.queues[k] /= span
		}
	}
	t := &run.Topology
	groups := map[string][]trace.Object{}
	of := map[trace.Object]string{}
	for _, e := range t.Links {
		a, b := t.Nodes[e.A].Name+":"+strconv.Itoa(e.APort), t.Nodes[e.B].Name+":"+strconv.Itoa(e.BPort)
		l.far[a], l.far[b] = b, a
		if span > 0 {
			l.load[a], l.load[b] = sent[a]*8/float64(max(e.RateAB, 1))/span, sent[b]*8/float64(max(e.RateBA, 1))/span
		}
		for _, side := range []struct {
			port     trace.Object
			from, to int
		}{{a, e.A, e.B}, {b, e.B, e.A}} {
			if g := stage(t, side.from, side.to); g != "" {
				groups[g] = append(groups[g], side.port)
				of[side.port] = g
			}
		}
	}
	for port, g := range of {
		l.peers[port] = groups[g]
	}
	return l
}

// stage names the set of equal-cost links that one between two switches is
// part of: upwards those of the lower switch to the same tier, downwards those
// that lead to the same switch of the lowest tier, or to the same pod.
func stage(t *trace.TopologyFile, from, to int) string {
	a, b := &t.Nodes[from], &t.Nodes[to]
	switch {
	case a.Kind == "host" || b.Kind == "host":
		return ""
	case b.Tier > a.Tier:
		return "up " + a.Name
	case b.Tier == a.Tier:
		return "across " + a.Name + " " + b.Name
	case b.Tier == 1 || b.Pod < 0:
		return "down " + b.Name
	}
	return "down pod " + strconv.Itoa(b.Pod) + " tier " + strconv.Itoa(b.Tier)
}

// hottest returns the port of a way with the largest value: of the priority that
// the sender gave its packets, or of any where switches gave them another.
func (l *linkLoads) hottest(way []trace.Object, prio int8, values map[class]float64) (port trace.Object, most float64) {
	for _, p := range way {
		if v := values[class{p, prio}]; v > most {
			port, most = p, v
		}
	}
	if most > 0 {
		return port, most
	}
	for _, p := range way {
		for c := range int8(8) {
			if v := values[class{p, c}]; v > most {
				port, most = p, v
			}
		}
	}
	return port, most
}

// at returns the largest value of a port, of the priority given first.
func (l *linkLoads) at(port trace.Object, prio int8, values map[class]float64) float64 {
	_, v := l.hottest([]trace.Object{port}, prio, values)
	return v
}

// collisionShare is the mean load of equal-cost links, over that of the busiest
// one, below which its congestion is a collision: spread evenly, its traffic
// would have found room.
const collisionShare = 0.8

// collision reports whether a port is one of several equal-cost links of which
// the others had room.
func (l *linkLoads) collision(port trace.Object) bool {
	mean, n := l.others(port)
	return n > 1 && mean < collisionShare*l.load[port]
}

// others returns the mean load of the equal-cost links of a port, itself
// included, and their number.
func (l *linkLoads) others(port trace.Object) (mean float64, n int) {
	for _, p := range l.peers[port] {
		mean += l.load[p]
		n++
	}
	if n > 0 {
		mean /= float64(n)
	}
	return mean, n
}
