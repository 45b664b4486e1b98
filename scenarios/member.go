package scenarios

import (
	"fmt"
	"strconv"

	"rdmasim/congestion"
	"rdmasim/fabric/topology"
	"rdmasim/scenarios/fault"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"
)

// catalogue is a sim.Catalogue of any type of members.
type catalogue struct {
	kind  string // singular noun
	title string // of the section in the reference
	names func() []string
	entry func(name string) (*entry, error)
}

// entry is a sim.Entry of any type.
type entry struct {
	doc      string
	defaults any
	presets  map[string]any
	names    []string // of presets
	build    func(params any) error
}

func catalogueOf[T any](title string, c *sim.Catalogue[T]) catalogue {
	return catalogue{kind: c.Kind(), title: title, names: c.Names, entry: func(name string) (*entry, error) {
		e, err := c.Lookup(name)
		if err != nil {
			return nil, err
		}
		return &entry{doc: e.Doc, defaults: e.Defaults, presets: e.Presets, names: e.PresetNames(), build: func(p any) error {
			_, err := e.Build(p)
			return err
		}}, nil
	}}
}

// catalogues by the name that the tag `catalogue` uses.
var catalogues = map[string]catalogue{
	"topology":   catalogueOf("Topologies", topology.Topologies),
	"congestion": catalogueOf("Congestion control", congestion.Algorithms),
	"workload":   catalogueOf("Workloads", workload.Workloads),
	"fault":      catalogueOf("Faults", fault.Faults),
}

// paramsAt returns the parameters of the member that path ends at, such as
// nic.congestion.dcqcn; nil if it ends anywhere else.
func (s *Spec) paramsAt(path string) any {
	seg := split(path)
	is := func(m Member, name string) any {
		if m.Name == name {
			return m.Params
		}
		return nil
	}
	switch {
	case len(seg) == 2 && seg[0] == "topology":
		return is(s.Topology, seg[1])
	case len(seg) == 3 && seg[0] == "nic" && seg[1] == "congestion":
		return is(s.NIC.Congestion, seg[2])
	case len(seg) == 3 && seg[0] == "traffic":
		if i, err := strconv.Atoi(seg[1]); err == nil && i >= 0 && i < len(s.Traffic) {
			return is(s.Traffic[i].Member, seg[2])
		}
	case len(seg) == 3 && seg[0] == "faults":
		if i, err := strconv.Atoi(seg[1]); err == nil && i >= 0 && i < len(s.Faults) {
			return is(s.Faults[i].Member, seg[2])
		}
	case len(seg) == 4 && seg[0] == "nics" && seg[2] == "congestion":
		if i, err := strconv.Atoi(seg[1]); err == nil && i >= 0 && i < len(s.NICs) {
			return is(s.NICs[i].NIC.Congestion, seg[3])
		}
	}
	return nil
}

// NewMember returns the member of a catalogue ("topology", "congestion",
// "workload" or "fault") with the parameters of a preset, or of none.
func NewMember(kind, name, preset string) (Member, error) {
	c, ok := catalogues[kind]
	if !ok {
		return Member{}, fmt.Errorf("no catalogue is called %q", kind)
	}
	e, err := c.entry(name)
	if err != nil {
		return Member{}, err
	}
	if preset == "" {
		return Member{Name: name, Params: e.defaults}, nil
	}
	p, ok := e.presets[preset]
	if !ok {
		return Member{}, fmt.Errorf("unknown preset %q of %s: want one of %v", preset, name, e.names)
	}
	return Member{Name: name, Params: p}, nil
}
