package scenarios

import (
	"fmt"
	"strings"

	"rdmasim/fabric"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// watchEvery is how often a run looks for deadlocks. It decides how soon one is
// noticed, not what is found: the moment is read from the state of the ports.
const watchEvery = 100 * sim.Microsecond

// deadlocks looks for deadlocks while a run goes on.
type deadlocks struct {
	watch *fabric.DeadlockWatch
	next  sim.Time
}

// watchDeadlocks prepares the search.
func (w *world) watchDeadlocks() {
	w.deadlocks.watch = fabric.NewDeadlockWatch(w.switches, func(node, port int) (int, int) {
		q := w.ports.Of(node)[port]
		return q.Peer, q.PeerPort
	})
	w.deadlocks.next = sim.Time(watchEvery)
}

// lookForDeadlocks runs between windows; everything before t has happened.
func (w *world) lookForDeadlocks(t sim.Time) {
	d := &w.deadlocks
	if t < d.next {
		return
	}
	at := t - t%sim.Time(watchEvery)
	d.next = at.Add(watchEvery)
	w.reportDeadlocks(at)
}

// reportDeadlocks writes what exists at t and was not there before.
func (w *world) reportDeadlocks(t sim.Time) {
	for _, d := range w.deadlocks.watch.Look(t) {
		first := d.Cycle[0]
		w.sinks[first.Node].Event(trace.Event{Time: t, Kind: trace.EventDeadlock, Prio: int8(first.Class), Value: d.Since.Seconds(),
			Object: w.names.Lookup(w.portName(first.Node, first.Port)), Peer: w.names.Lookup(w.portName(first.PeerNode, first.PeerPort)),
			Cause: w.cycleText(&d)})
	}
}

// cycleText prints the cycle as ports that wait for each other.
func (w *world) cycleText(d *fabric.Deadlock) string {
	const most = 32
	var b strings.Builder
	for i, c := range d.Cycle {
		if i == most {
			fmt.Fprintf(&b, "... (%d more) > ", len(d.Cycle)-most)
			break
		}
		b.WriteString(w.portName(c.Node, c.Port) + " > ")
	}
	b.WriteString(w.portName(d.Cycle[0].Node, d.Cycle[0].Port))
	return fmt.Sprintf("%s; %d ingress groups can never drain", b.String(), d.Stuck)
}

func (w *world) portName(node, port int) string {
	return fmt.Sprintf("%s:%d", w.graph.Nodes[node].Name, port)
}
