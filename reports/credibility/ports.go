package credibility

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"rdmasim/reports/tuning"
	"rdmasim/sim/trace"
)

// PortPair says that a port of the counters is a port of the run.
type PortPair struct {
	Real, Simulated string // Ethernet0, leaf1:1
}

// ParsePortPairs reads pairs such as Ethernet0=leaf1:1, separated by commas or
// blanks or on lines of their own; what follows a # is a remark. where names the
// text in errors.
func ParsePortPairs(where, text string) (list []PortPair, err error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%s: larger than %d MiB", where, maxText>>20)
	}
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(", \t\r", r) }) {
			name, sim, ok := strings.Cut(word, "=")
			if !ok || name == "" || sim == "" {
				return nil, fmt.Errorf("%s:%d: %q: want a port of the counters and one of the run, such as Ethernet0=leaf1:1", where, n+1, word)
			}
			list = append(list, PortPair{name, sim})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no ports: want some such as Ethernet0=leaf1:1", where)
	}
	return list, nil
}

// portMap is which ports are compared with which. Nil sides compare the ports on
// which something counts with all of the run.
type portMap struct {
	sides [2]map[string]string // of switches and of NICs: real name -> object of the run
	named bool                 // by the user
}

func sideOf(nic bool) int {
	if nic {
		return 1
	}
	return 0
}

func isNIC(k Kind) bool { return strings.HasPrefix(string(k), "nic_") }

// newPortMap checks the pairs that were given, or finds pairs by the names that
// the run knows of its ports.
func newPortMap(t *Today, topo trace.TopologyFile, o Options) (*portMap, error) {
	var real [2]map[string]bool
	for k := range t.Value {
		side := sideOf(isNIC(k.Kind))
		if real[side] == nil {
			real[side] = map[string]bool{}
		}
		real[side][k.Port] = true
	}
	objects, names := simulatedPorts(topo, o.Node)
	m := &portMap{named: o.Ports != nil}
	if o.Ports == nil {
		m.find(real[0], names)
		return m, nil
	}
	taken := map[string]string{}
	for _, p := range o.Ports {
		kind, ok := objects[p.Simulated]
		if !ok {
			return nil, fmt.Errorf("ports: %s=%s: the run has no port %s: want one of %s", p.Real, p.Simulated, p.Simulated, some(slices.Sorted(maps.Keys(objects))))
		}
		side := sideOf(kind == "host")
		switch {
		case !real[side][p.Real] && real[1-side][p.Real]:
			return nil, fmt.Errorf("ports: %s=%s: one is a port of a switch, the other one of a NIC", p.Real, p.Simulated)
		case !real[side][p.Real]:
			return nil, fmt.Errorf("ports: %s=%s: the counters have no port %s: they have %s", p.Real, p.Simulated, p.Real, some(slices.Sorted(maps.Keys(real[side]))))
		case taken[p.Simulated] != "" && taken[p.Simulated] != p.Real:
			return nil, fmt.Errorf("ports: %s and %s are both %s", taken[p.Simulated], p.Real, p.Simulated)
		case m.sides[side][p.Real] != "" && m.sides[side][p.Real] != p.Simulated:
			return nil, fmt.Errorf("ports: %s is both %s and %s", p.Real, m.sides[side][p.Real], p.Simulated)
		}
		if m.sides[side] == nil {
			m.sides[side] = map[string]string{}
		}
		m.sides[side][p.Real], taken[p.Simulated] = p.Simulated, p.Real
	}
	return m, nil
}

// CheckPorts says what is wrong with the ports of a comparison before there is a
// run to compare with.
func CheckPorts(t *Today, topo trace.TopologyFile, o Options) error {
	_, err := newPortMap(t, topo, o)
	return err
}

// simulatedPorts are the ports of switches whose node matches, as leaf1:1, and
// the hosts; names are those that the run knows of ports of switches.
func simulatedPorts(topo trace.TopologyFile, node string) (objects map[string]string, names map[string][]string) {
	objects, names = map[string]string{}, map[string][]string{}
	add := func(index, port int, name string) {
		if index < 0 || index >= len(topo.Nodes) {
			return
		}
		n := topo.Nodes[index]
		if n.Kind == "host" {
			objects[n.Name] = n.Kind
			return
		}
		if ok, err := path.Match(node, n.Name); node != "" && (err != nil || !ok) {
			return
		}
		object := n.Name + ":" + strconv.Itoa(port)
		objects[object] = n.Kind
		if name != "" {
			names[name] = append(names[name], object)
		}
	}
	for _, l := range topo.Links {
		add(l.A, l.APort, l.AName)
		add(l.B, l.BPort, l.BName)
	}
	return objects, names
}

// find pairs the ports of switches by name: where each name of the run is that of
// one port, and at least one port of the counters has such a name. Ports of the
// counters that the run does not have are then left out.
func (m *portMap) find(real map[string]bool, names map[string][]string) {
	found := map[string]string{}
	for name := range real {
		if objects := names[name]; len(objects) == 1 {
			found[name] = objects[0]
		} else if len(objects) > 1 {
			return // several switches have it: which one is not known
		}
	}
	if len(found) > 0 {
		m.sides[0] = found
	}
}

// keep leaves of the counters what is of mapped ports.
func (m *portMap) keep(t *Today) *Today {
	if m.sides[0] == nil && m.sides[1] == nil {
		return t
	}
	out := *t
	out.Value, out.Notes = map[Key]float64{}, slices.Clone(t.Notes)
	left := map[string]bool{}
	for k, v := range t.Value {
		side := m.sides[sideOf(isNIC(k.Kind))]
		if side == nil || side[k.Port] != "" {
			out.Value[k] = v
		} else if v > 0 {
			left[k.Port] = true
		}
	}
	for i, side := range m.sides {
		if side == nil {
			continue
		}
		out.all[i] = map[string]bool{}
		for name := range side {
			out.all[i][name] = true
		}
	}
	if len(left) > 0 {
		why := "the run has no ports of these names"
		if m.named {
			why = "the map of ports does not name them"
		}
		out.Notes = append(out.Notes, fmt.Sprintf("Counters of %s are left out: %s.", some(slices.Sorted(maps.Keys(left))), why))
	}
	return &out
}

// has reports whether an object of the run, such as leaf1:1/q3, is compared.
func (m *portMap) has(object string, nic bool) bool {
	side := m.sides[sideOf(nic)]
	if side == nil {
		return true
	}
	object, _, _ = strings.Cut(object, "/")
	if nic {
		object, _, _ = strings.Cut(object, ":")
	}
	for _, o := range side {
		if o == object {
			return true
		}
	}
	return false
}

func (m *portMap) count(nic bool) int { return len(m.sides[sideOf(nic)]) }

// words are the pairs, for the report.
func (m *portMap) words() (list []tuning.PortPair) {
	for _, side := range m.sides {
		for _, name := range slices.Sorted(maps.Keys(side)) {
			list = append(list, tuning.PortPair{Real: name, Simulated: side[name]})
		}
	}
	return list
}

// some names the first of a list.
func some(list []string) string {
	const most = 8
	if len(list) == 0 {
		return "none"
	}
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}
