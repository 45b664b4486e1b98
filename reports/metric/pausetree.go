package metric

import (
	"cmp"
	"slices"

	"rdmasim/sim"
)

// trees returns the roots with their trees, in the order in which they appeared.
func (f *pauseTrack) trees() []PauseRoot {
	out := make([]PauseRoot, len(f.roots))
	for i, r := range f.roots {
		p := PauseRoot{Where: r.where, Kind: r.kind, Prio: r.prio, First: r.first.Seconds(), Last: r.last.Seconds(), Episodes: r.episodes,
			Paused: r.paused.Seconds(), PortCount: len(r.edges), Tree: []PauseEdge{}, cross: r.cross}
		if !r.lasts {
			v := max(r.far.Sub(r.near), 0).Seconds()
			p.Recover = &v
		}
		wide := map[int]int{}
		for _, g := range r.edges {
			e := PauseEdge{Port: g.class.key.object, By: g.by, Level: g.level, Episodes: g.episodes, Paused: g.paused.Seconds(), First: g.first.Seconds()}
			if up := g.mainParent(); up != nil {
				e.Parent = up.key.object
			}
			if g.lags > 0 {
				e.Lag = (g.lag / sim.Duration(g.lags)).Seconds()
			}
			wide[g.level]++
			p.Depth, p.Breadth = max(p.Depth, g.level), max(p.Breadth, wide[g.level])
			p.Tree = append(p.Tree, e)
		}
		slices.SortStableFunc(p.Tree, func(a, b PauseEdge) int {
			return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(b.Paused, a.Paused), cmp.Compare(a.Port, b.Port))
		})
		out[i] = p
	}
	return out
}

// mainParent returns the port for which the frames of an edge waited longest,
// nil for the root.
func (g *edge) mainParent() *pausedClass {
	var best *pausedClass
	most := sim.Duration(-1)
	for c, d := range g.parents {
		if d > most || d == most && name(c) < name(best) {
			best, most = c, d
		}
	}
	return best
}

func name(c *pausedClass) string {
	if c == nil {
		return ""
	}
	return c.key.String()
}
