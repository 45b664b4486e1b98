package switchconf

import (
	"slices"

	"rdmasim/sim"
)

// lossless is a lossless priority of a port with what belongs to it.
type lossless struct {
	port     *Port
	priority int
	group    int
	queue    int
	pg       *PG      // nil: not bound
	profile  *Profile // of the priority group; nil: none, or not known
	pool     *Pool    // of the profile
}

// eachLossless calls f for every lossless priority of every port.
func (l *Linter) eachLossless(f func(c *lossless)) {
	for _, p := range l.ports {
		for _, n := range p.PFCEnable.V {
			f(l.losslessOf(p, n))
		}
	}
}

// losslessOf follows the references of a lossless priority.
func (l *Linter) losslessOf(p *Port, n int) *lossless {
	s := l.Switch
	c := &lossless{port: p, priority: n, group: mapped(s.PFCToPG, p.PFCToPG, n), queue: mapped(s.PFCToQueue, p.PFCToQueue, n)}
	if c.pg = p.PG(c.group); c.pg != nil && c.pg.Profile.V != "" {
		if c.profile = s.Profile(c.pg.Profile.V); c.profile != nil {
			c.pool = s.Pool(c.profile.Pool.V)
		}
	}
	return c
}

// mapped returns what a map of a port takes a number to: the number itself
// without a map, and without a line for it.
func mapped(maps []Map, name Value[string], n int) int {
	if to, ok := FindMap(maps, name.V).Lookup(n); ok {
		return to
	}
	return n
}

// class returns the traffic class of a sender's data on a port, and where that
// is said.
func (l *Linter) class(p *Port, dscp, priority int) (int, Origin) {
	if !p.DSCPToTC.IsSet() && p.PCPToTC.IsSet() {
		return mapped(l.Switch.PCPToTC, p.PCPToTC, priority), p.PCPToTC.From
	}
	m := FindMap(l.Switch.DSCPToTC, p.DSCPToTC.V)
	if m == nil {
		return 0, p.DSCPToTC.From // SAI: without a map everything is in class 0
	}
	for _, e := range m.Entries {
		if e.Key == dscp {
			return e.To, e.From
		}
	}
	return 0, m.From
}

// hasMaps reports whether a port classifies by a map.
func hasMaps(p *Port) bool { return p.DSCPToTC.IsSet() || p.PCPToTC.IsSet() }

// isLossless reports whether traffic class tc of a port is under PFC.
func (l *Linter) isLossless(p *Port, tc int) bool {
	group := mapped(l.Switch.TCToPG, p.TCToPG, tc)
	return slices.ContainsFunc(p.PFCEnable.V, func(n int) bool { return mapped(l.Switch.PFCToPG, p.PFCToPG, n) == group })
}

// queueOf returns the queue of a traffic class.
func (l *Linter) queueOf(p *Port, tc int) int { return mapped(l.Switch.TCToQueue, p.TCToQueue, tc) }

// hasLossless reports whether any port is under PFC.
func (l *Linter) hasLossless() bool {
	return slices.ContainsFunc(l.Switch.Ports, func(p Port) bool { return len(p.PFCEnable.V) > 0 })
}

// curve is the marking of a queue.
type curve struct {
	port  *Port
	queue *Queue
	wred  *WRED
	green *WREDCurve
}

// eachCurve calls f for every queue with a WRED profile.
func (l *Linter) eachCurve(f func(c *curve)) {
	for _, p := range l.ports {
		for k := range p.Queues {
			q := &p.Queues[k]
			if w := l.Switch.WREDProfile(q.WRED.V); q.WRED.IsSet() && w != nil {
				f(&curve{port: p, queue: q, wred: w, green: &w.Colours[Green]})
			}
		}
	}
}

// marks reports whether a curve marks green packets.
func (c *curve) marks() bool {
	return c.green.Enable.V && c.wred.ECN.V.Marks(Green) && c.green.Max.IsSet()
}

// losslessQueue returns the lossless priority whose queue this is.
func (l *Linter) losslessQueue(p *Port, queue int) *lossless {
	for _, n := range p.PFCEnable.V {
		if mapped(l.Switch.PFCToQueue, p.PFCToQueue, n) == queue {
			return l.losslessOf(p, n)
		}
	}
	return nil
}

// onset returns how much an egress queue holds when PFC begins, fed evenly by n
// priority groups with the threshold alpha times what is free of a pool of B
// bytes: n alpha B / (1 + n alpha) (Choudhury and Hahne, IEEE/ACM ToN 1998).
// It reports false where the pool or the threshold is not known.
func (c *lossless) onset(n int) (sim.Bytes, bool) {
	switch {
	case c.profile == nil:
		return 0, false
	case c.profile.StaticTh.IsSet():
		return sim.Bytes(n) * c.profile.StaticTh.V, true
	case c.pool == nil || !c.pool.Size.IsSet() || c.profile.Alpha() == 0:
		return 0, false
	}
	a := float64(c.profile.Alpha()) * float64(n)
	return sim.Bytes(a / (1 + a) * float64(c.pool.Size.V)), true
}

// longestQueue returns a bound of a queue: what its own limit allows, and, of
// a lossless one, what its ingress side lets in from all other ports. It
// reports false where neither is known.
func (l *Linter) longestQueue(p *Port, q *Queue) (bound sim.Bytes, known bool) {
	if f := l.Switch.Profile(q.Profile.V); f != nil {
		if n, ok := l.limit(f); ok {
			bound, known = n+f.Size.V, true
		}
	}
	c := l.losslessQueue(p, q.Index)
	if c == nil {
		return bound, known
	}
	others := max(len(l.Switch.Ports)-1, 1)
	n, ok := c.onset(others)
	if !ok {
		return bound, known
	}
	set := l.Switch.SetAside(c.profile)
	if set.Shared && c.pool != nil {
		n += c.pool.Xoff.V
	} else {
		n += sim.Bytes(others) * set.Headroom
	}
	n += sim.Bytes(others) * set.Reserved
	if !known || n < bound {
		bound = n
	}
	return bound, true
}

// limit returns the most that one user of a pool can have by a profile.
func (l *Linter) limit(f *Profile) (sim.Bytes, bool) {
	pool := l.Switch.Pool(f.Pool.V)
	switch {
	case f.StaticTh.IsSet():
		if pool != nil && pool.Size.IsSet() {
			return min(f.StaticTh.V, pool.Size.V), true
		}
		return f.StaticTh.V, true
	case pool == nil || !pool.Size.IsSet() || f.Alpha() == 0:
		return 0, false
	}
	a := float64(f.Alpha())
	return sim.Bytes(a / (1 + a) * float64(pool.Size.V)), true
}

// size prints bytes.
func size(n sim.Bytes) string { return n.String() }
