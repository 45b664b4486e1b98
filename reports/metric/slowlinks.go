package metric

import (
	"slices"
	"strings"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// slowLinks are the directions of links that a fault has slowed down, and when.
type slowLinks map[trace.Object][]slowSpan

type slowSpan struct {
	from, to sim.Time
	what     string // the fault in words
}

// findSlowLinks reads them from the events of a run.
func findSlowLinks(run *trace.Run) (slowLinks, error) {
	l := slowLinks{}
	for e, err := range run.Events(trace.EventLinkState) {
		if err != nil {
			return nil, err
		}
		what, slow := strings.CutPrefix(e.Cause, trace.CauseSlow)
		switch list := l[e.Object]; {
		case slow && e.Value > 0:
			l[e.Object] = append(list, slowSpan{e.Time, sim.Never, what})
		case slow:
			for i := len(list) - 1; i >= 0; i-- {
				if list[i].what == what && list[i].to == sim.Never {
					list[i].to = e.Time
					break
				}
			}
		}
	}
	return l, nil
}

// on returns the first port of a way that was slow while a message was on it.
func (l slowLinks) on(ports []trace.Object, m *passage) (port trace.Object, found bool) {
	i := slices.IndexFunc(ports, func(p trace.Object) bool { return l.during(p, m) != "" })
	if i < 0 {
		return "", false
	}
	return ports[i], true
}

// during returns the fault that slowed a port down while a message was on its way.
func (l slowLinks) during(port trace.Object, m *passage) string {
	for _, s := range l[port] {
		if s.from < m.end && s.to > m.Start {
			return s.what
		}
	}
	return ""
}
