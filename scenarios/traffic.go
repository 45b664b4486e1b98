package scenarios

import (
	"fmt"

	"rdmasim/fabric/topology"
	"rdmasim/scenarios/fault"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Traffic is what the workloads of a scenario do, for a runner that is no
// simulated fabric.
type Traffic struct {
	Hosts    []string // in the scenario's order
	Rates    []sim.Rate
	Kinds    []string                    // of the workloads
	Plans    []map[int]workload.Instance // by workload and number of host
	Topology trace.TopologyFile
	Graph    *topology.Graph
	Ports    *topology.Ports

	Faults     []fault.Fault
	FaultNames []string

	seed uint64
}

// PlanTraffic checks a scenario as a run would, and returns its traffic.
func PlanTraffic(s *Spec) (*Traffic, error) {
	w, err := build(s)
	if err != nil {
		return nil, &InputError{err}
	}
	plans, err := w.plan(s.readBeside)
	if err != nil {
		return nil, &InputError{err}
	}
	t := &Traffic{Plans: plans, Topology: w.topologyFile(), Graph: w.graph, Ports: w.ports, FaultNames: s.faultNames(), seed: s.Seed}
	for i := range s.Faults {
		f, err := s.fault(i)
		if err != nil {
			return nil, &InputError{err}
		}
		t.Faults = append(t.Faults, f)
	}
	for _, node := range w.hosts {
		t.Hosts = append(t.Hosts, w.graph.Nodes[node].Name)
		t.Rates = append(t.Rates, w.nics[node].LineRate(0))
	}
	for k := range s.Traffic {
		t.Kinds = append(t.Kinds, s.Traffic[k].Name)
	}
	return t, nil
}

// Rand returns the random stream that a workload's instance has on a host; it
// draws what it would in a simulation.
func (t *Traffic) Rand(host, load int, name string) *sim.Rand {
	return sim.NewRand(t.seed, fmt.Sprintf("%s/%s%d/%s", t.Hosts[host], t.Kinds[load], load, name))
}
