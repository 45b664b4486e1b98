package scenarios

import (
	"fmt"
	"strconv"

	"rdmasim/fabric"
	"rdmasim/fabric/topology"
	"rdmasim/scenarios/fault"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// FaultSpec is one fault of a scenario.
type FaultSpec struct{ Member }

// mostFaults bounds the list of faults.
const mostFaults = 1000

// faultNames names the faults of a scenario: by their kind, and from the second
// of a kind on by its number too, as in loss, loss2.
func (s *Spec) faultNames() []string {
	names, seen := make([]string, len(s.Faults)), map[string]int{}
	for i, f := range s.Faults {
		names[i] = f.Name
		if seen[f.Name]++; seen[f.Name] > 1 {
			names[i] += strconv.Itoa(seen[f.Name])
		}
	}
	return names
}

// checkFaults checks what the faults say against the run.
func (s *Spec) checkFaults() error {
	if len(s.Faults) > mostFaults {
		return s.errorAt("faults", "", "%d faults: want at most %d", len(s.Faults), mostFaults)
	}
	if s.hpcc() && len(s.Faults) > 0 {
		return s.errorAt("faults.0", "", "the HPCC ns-3 model has no faults: leave compat: hpcc out")
	}
	for i := range s.Faults {
		f, err := s.fault(i)
		if err != nil {
			return err
		}
		if from := f.Span().From; !s.UntilDone && from >= s.Duration {
			return s.errorAt(fmt.Sprintf("faults.%d.%s.from", i, s.Faults[i].Name), from.String(), "the run is over by then: it lasts %v", s.Duration)
		}
	}
	return nil
}

// fault builds one fault.
func (s *Spec) fault(i int) (fault.Fault, error) {
	m, at := s.Faults[i].Member, "faults."+strconv.Itoa(i)
	e, err := fault.Faults.Lookup(m.Name)
	if err != nil {
		return nil, s.Locate(at, err)
	}
	f, err := e.Build(m.Params)
	return f, s.Locate(join(at, m.Name), err)
}

// inject puts the faults of the scenario into the fabric.
func (w *world) inject() error {
	s := w.spec
	if len(s.Faults) == 0 {
		return nil
	}
	world := &fault.World{Graph: w.graph, Ports: w.ports, Switches: w.switches, NICs: w.nics, Sinks: w.sinks, Names: w.names,
		End: sim.Time(s.Duration), Rand: w.rand, Global: w.engine.AtGlobal, Headroom: w.headroomFor,
		Rerouted: func() { w.epoch++ }}
	if s.UntilDone {
		world.End = sim.Time(s.MaxDuration)
	}
	for _, e := range w.routes.Endpoints() {
		world.NodeOf = append(world.NodeOf, e.Node)
	}
	world.Reroute = func(down func(link int) bool) error {
		r, err := topology.ShortestPathsWithout(w.graph, down)
		if err == nil {
			r, err = s.overridden(w.graph, r)
		}
		if err == nil {
			world.Rebase(r)
		}
		return err
	}
	for i, name := range s.faultNames() {
		f, err := s.fault(i)
		if err != nil {
			return err
		}
		c := &fault.Context{World: world, Name: name}
		if err := f.Inject(c); err != nil {
			return s.Locate(fmt.Sprintf("faults.%d.%s", i, s.Faults[i].Name), err)
		}
		w.faults = append(w.faults, c)
	}
	return nil
}

// headroomFor is the headroom that a port would need if its cable were another.
func (w *world) headroomFor(node, p int, cable sim.Length) int64 {
	sp, pc := w.swSpec[node], w.port(node, p)
	q := w.ports.Of(node)[p]
	latency := func(to int) sim.Duration {
		if sw := w.swSpec[to]; sw != nil {
			return sw.Latency
		}
		return 0
	}
	response := sp.PFC.response(pc.RxRate)
	if peer := w.swSpec[q.Peer]; peer != nil {
		response = peer.PFC.response(pc.RxRate)
	}
	frame := w.maxFrame
	if sp.VTEP {
		frame += fabric.VXLANHeader
	}
	both := 2*cable.Delay() + latency(node) + latency(q.Peer)
	return int64(fabric.Headroom(pc.RxRate, pc.Rate, both, response, frame, pc.Overhead, pc.PFCSize))
}

// faultCounters says how many frames every fault has touched, those that it
// never met included.
func (w *world) faultCounters(add func(trace.Counter)) {
	for _, c := range w.faults {
		add(trace.Counter{Object: "fault/" + c.Name, Prio: -1, Name: trace.CountFaultPackets, Value: float64(c.Touched())})
	}
}
