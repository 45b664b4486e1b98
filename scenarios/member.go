package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"rdmasim/congestion"
	"rdmasim/fabric"
	"rdmasim/fabric/topology"
	"rdmasim/scenarios/fault"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/verbs/simnic"
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
	"threshold":  catalogueOf("Thresholds", fabric.Thresholds),
	"watchdog":   catalogueOf("PFC watchdogs", fabric.Watchdogs),
	"bus":        catalogueOf("Buses", simnic.Buses),
	"nic_cache":  catalogueOf("Caches of a NIC", simnic.Caches),
}

// paramsAt returns the parameters of the member that path ends at, such as
// nic.congestion.dcqcn; nil if it ends anywhere else.
func (s *Spec) paramsAt(path string) any {
	v := reflect.ValueOf(s).Elem()
	seg := split(path)
	for i, name := range seg {
		t := v.Type()
		switch {
		case t == memberType || t == trafficType || t == faultType:
			m, ok := v.Interface().(Member)
			if !ok {
				m = v.FieldByName("Member").Interface().(Member)
			}
			if i < len(seg)-1 || m.Name != name {
				return nil
			}
			return m.Params
		case isText(t):
			return nil
		case t.Kind() == reflect.Struct:
			fields := fieldsOf(t)
			k := slices.IndexFunc(fields, func(f field) bool { return f.key == name })
			if k < 0 {
				return nil
			}
			v = v.FieldByIndex(fields[k].index)
		case t.Kind() == reflect.Slice:
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= v.Len() {
				return nil
			}
			v = v.Index(n)
		default:
			return nil
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
