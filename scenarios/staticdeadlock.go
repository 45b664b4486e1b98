package scenarios

import (
	"fmt"
	"slices"

	"rdmasim/fabric/topology"
)

// DeadlockCheck is what topology, routes and priorities say about deadlocks of
// PFC before anything is run: whether one is possible, not whether one happens.
type DeadlockCheck struct {
	Priorities []DeadlockPriority // lossless ones, in order
}

// DeadlockPriority is the answer for one lossless priority.
type DeadlockPriority struct {
	Priority int
	Cycle    []string // links of a cycle of buffer dependencies, empty = there is none
	Switches int      // under PFC in this priority
}

// Possible reports whether any priority has a cycle.
func (d *DeadlockCheck) Possible() bool {
	return slices.ContainsFunc(d.Priorities, func(p DeadlockPriority) bool { return len(p.Cycle) > 0 })
}

// String says it in one sentence.
func (d *DeadlockCheck) String() string {
	if len(d.Priorities) == 0 {
		return "not possible: no priority is lossless"
	}
	for _, p := range d.Priorities {
		if n := len(p.Cycle); n > 0 {
			return fmt.Sprintf("possible in priority %d: a cycle of %d buffer dependencies", p.Priority, n)
		}
	}
	return "not possible: no cycle of buffer dependencies"
}

// CheckDeadlock looks for cyclic buffer dependencies in the routes of a
// scenario. It does not build the fabric: ten thousand switches take seconds.
func CheckDeadlock(s *Spec) (*DeadlockCheck, error) {
	g, err := s.graph()
	if err != nil {
		return nil, err
	}
	routes, err := s.routesOn(g)
	if err != nil {
		return nil, err
	}
	masks := make([]uint8, len(g.Nodes))
	all := uint8(0)
	for n := range g.Nodes {
		if g.Nodes[n].Kind != topology.Switch {
			continue
		}
		sw := &s.Switch
		for k := range s.Switches {
			if matches(s.Switches[k].Match, g.Nodes[n].Name) {
				sw = &s.Switches[k].Switch
			}
		}
		for _, p := range sw.PFC.Priorities {
			masks[n] |= 1 << p
		}
		all |= masks[n]
	}
	d := &DeadlockCheck{}
	for p := range 8 {
		if all&(1<<p) == 0 {
			continue
		}
		if k := d.alike(masks, p); k >= 0 {
			again := d.Priorities[k]
			again.Priority = p
			d.Priorities = append(d.Priorities, again)
			continue
		}
		one := DeadlockPriority{Priority: p}
		for _, m := range masks {
			one.Switches += int(m >> p & 1)
		}
		for _, c := range routes.BufferCycle(func(n int) bool { return masks[n]&(1<<p) != 0 }) {
			one.Cycle = append(one.Cycle, fmt.Sprintf("%s:%d > %s, then on to %s", g.Nodes[c.Hop.Node].Name, c.Hop.Port, g.Nodes[c.Peer].Name, g.Nodes[routes.Endpoints()[c.Endpoint].Node].Name))
		}
		d.Priorities = append(d.Priorities, one)
	}
	return d, nil
}

// alike returns the place of a priority before p that is lossless at the same
// switches, -1 if there is none.
func (d *DeadlockCheck) alike(masks []uint8, p int) int {
	return slices.IndexFunc(d.Priorities, func(o DeadlockPriority) bool {
		return !slices.ContainsFunc(masks, func(m uint8) bool { return m>>p&1 != m>>o.Priority&1 })
	})
}
