package fault

import (
	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// Way is one direction of a link, by the nodes at its ends.
type Way struct{ From, To int }

// Ways returns the directions that a place names, for runners that inject
// faults into something else than the simulated fabric.
func (w Where) Ways(g *topology.Graph, p *topology.Ports) ([]Way, error) {
	c := &Context{World: &World{Graph: g, Ports: p}}
	list, err := w.directions(c)
	if err != nil {
		return nil, err
	}
	ways := make([]Way, len(list))
	for i, d := range list {
		ways[i] = Way{d.node, c.peer(d).node}
	}
	return ways, nil
}

// Next returns the first begin or end after t, sim.Never if there is none.
func (w When) Next(t sim.Time) sim.Time { return w.next(t) }
