package page

import (
	"fmt"

	"rdmasim/reports/figure"
	"rdmasim/reports/metric"
	"rdmasim/sim/trace"
)

// pausers is who sent XOFF frames: switches, whose ingress was full, or hosts
// that take packets more slowly than their link brings them.
type pausers struct {
	switches float64 // XOFF frames of switches
	hosts    float64 // of hosts
	host     string  // that sent most of these
	several  bool    // hosts
}

func (w *writer) pausers() (p pausers) {
	host := map[string]bool{}
	for _, n := range w.r.Topology.Nodes {
		host[n.Name] = n.Kind == "host"
	}
	sent := map[string]float64{}
	for _, c := range w.r.Counter(trace.CountPFCXoffTx) {
		node := figure.NodeOf(c.Object)
		switch {
		case !(c.Value > 0):
		case !host[node]:
			p.switches += c.Value
		default:
			p.hosts += c.Value
			sent[node] += c.Value
			if sent[node] > sent[p.host] {
				p.host = node
			}
		}
	}
	p.several = len(sent) > 1
	return p
}

// reason says why XOFF frames were sent; closest is the state of the switches.
func (w *writer) reason(closest string, from []string) {
	p := w.pausers()
	if p.hosts == 0 || p.switches > 0 {
		if closest != "" {
			w.say(from, "The reason: %s.", closest)
		}
		if p.hosts == 0 {
			return
		}
	}
	text, places := w.slowHost(p)
	if p.switches > 0 {
		w.say(places, "Hosts sent %s of the XOFF frames: %s.", figure.Whole(int64(p.hosts)), text)
		return
	}
	w.say(places, "The reason: %s.", text)
	if closest != "" {
		w.say(from, "No switch had to pause its peers: %s.", closest)
	}
}

// storm returns the root of pauses that is a storm of a host, nil if there is none.
func (w *writer) storm(host string) *metric.PauseRoot {
	if w.r.Forensics == nil {
		return nil
	}
	for i := range w.r.Forensics.Roots {
		if r := &w.r.Forensics.Roots[i]; r.Kind == metric.RootStorm && figure.NodeOf(r.Where) == host {
			return r
		}
	}
	return nil
}

// slowHost tells of the host that sent most XOFF frames.
func (w *writer) slowHost(p pausers) (text string, from []string) {
	from = []string{"counters.csv " + trace.CountPFCXoffTx + " of " + p.host}
	if root := w.storm(p.host); root != nil {
		text = fmt.Sprintf("%s is a storming NIC: it paused its switch for no reason that the run knows", root.Where)
		if p.several {
			text += "; other hosts paused their switch too"
		}
		return text, append(from, metric.FilePauses)
	}
	text = fmt.Sprintf("%s took packets more slowly than its link brought them, and its receive buffer filled", p.host)
	used, ok1 := w.r.CounterOf(trace.CountBufferMax, p.host, -1)
	size, ok2 := w.r.CounterOf(trace.CountBufferSize, p.host, -1)
	if ok1 && ok2 {
		text += fmt.Sprintf(" (at most %s of %s)", figure.Size(used), figure.Size(size))
		from = append(from, "counters.csv "+trace.CountBufferMax, "counters.csv "+trace.CountBufferSize)
	}
	if p.several {
		text += "; other hosts paused their switch too"
	}
	return text, from
}
