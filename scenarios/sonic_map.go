package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rdmasim/fabric/switchconf"
)

// sonicMapper turns the configuration of a SONiC switch into that of a switch
// of a scenario, and keeps account of what became of each value.
type sonicMapper struct {
	im    *switchconf.Import
	sw    *switchconf.Switch
	w     SwitchSpec
	ports []*switchconf.Port // port i of the scenario's switch
	used  map[fieldID][]string
	why   map[fieldID]string
	extra []SonicField // what was decided without a field
}

// fieldID tells a field of a file.
type fieldID struct{ file, path string }

func idOf(o switchconf.Origin) fieldID { return fieldID{o.File, o.Path} }

// use notes that a value went into a key of the switch.
func (m *sonicMapper) use(o switchconf.Origin, key string) {
	id := idOf(o)
	if o.Path != "" && !slices.Contains(m.used[id], key) {
		m.used[id] = append(m.used[id], key)
	}
}

// cannot notes why a value went nowhere.
func (m *sonicMapper) cannot(o switchconf.Origin, format string, args ...any) {
	if o.Path != "" && m.why[idOf(o)] == "" {
		m.why[idOf(o)] = fmt.Sprintf(format, args...)
	}
}

// assume notes a value that no file gives.
func (m *sonicMapper) assume(key, value, format string, args ...any) {
	f := SonicField{Status: sonicDefaulted, Keys: []string{key}, Value: value, Text: fmt.Sprintf(format, args...)}
	if !slices.ContainsFunc(m.extra, func(o SonicField) bool { return o.Text == f.Text && o.Keys[0] == key }) {
		m.extra = append(m.extra, f)
	}
}

// mapSonic puts what was read onto a switch that holds the defaults. ports are
// those of the switch, by number.
func mapSonic(im *switchconf.Import, defaults SwitchSpec, ports []*switchconf.Port) *sonicMapper {
	m := &sonicMapper{im: im, sw: im.Switch, w: defaults, used: map[fieldID][]string{}, why: map[fieldID]string{}, ports: ports}
	if !slices.ContainsFunc(im.Fields, func(f switchconf.Field) bool {
		return f.Table != switchconf.LookupTable && f.Status != switchconf.StandsIn
	}) {
		return m // a table of profiles alone says nothing about a switch
	}
	m.identity()
	m.pfc()
	m.maps()
	m.pools()
	m.groups()
	m.queues()
	m.wred()
	m.schedulers()
	m.watchdogs()
	m.memory()
	return m
}

// identity accounts for what tells the switch and its ports.
func (m *sonicMapper) identity() {
	s := m.sw
	m.cannot(s.Hostname.From, "names of switches are those of the topology")
	why := "no ASIC is known for it: give --platform"
	if s.ASIC.IsSet() {
		why = "the ASIC is known without it: " + s.ASIC.From.Why
	}
	for _, v := range []switchconf.Value[string]{s.HWSKU, s.Platform} {
		if s.ASIC.IsSet() && strings.HasPrefix(s.ASIC.From.Why, v.From.Path) {
			m.use(v.From, "switch.buffer.cell")
		} else {
			m.cannot(v.From, "%s", why)
		}
	}
	if s.Cell.IsSet() {
		m.w.Buffer.Cell = s.Cell.V
		m.assume("switch.buffer.cell", s.Cell.V.String(), "%s (%s)", s.Cell.From.Why, s.ASIC.From.Why)
	} else {
		m.assume("switch.buffer.cell", m.w.Buffer.Cell.String(), "the ASIC is not known: bytes are counted, and xoff is taken as headroom on top of size; give --platform%s", m.cellHint())
	}
	for i := range s.Ports {
		p := &s.Ports[i]
		m.cannot(p.Lanes.From, "lanes are not modelled")
		m.cannot(p.Breakout.From, "links and their rates are those of the topology")
		m.cannot(p.Speed.From, "links and their rates are those of the topology")
		m.cannot(p.MTU.From, "frames are those of nic.path_mtu")
		m.cannot(p.Cable.From, "cables are those of the topology")
		m.cannot(p.IngressProfiles.From, "a bound for the whole port is not modelled; those of its priority groups are")
		m.cannot(p.EgressProfiles.From, "a bound for the whole port is not modelled; those of its queues are")
		m.cannot(p.TCToDSCP.From, "what tunnels write is not modelled")
		m.cannot(p.Watchdog.History.From, "pauses are in the run directory anyway")
		if p.PFCAsymmetric.V {
			m.cannot(p.PFCAsymmetric.From, "asymmetric PFC is not modelled: pauses are obeyed on the lossless priorities alone")
		} else {
			m.use(p.PFCAsymmetric.From, "switch.pfc.priorities")
		}
	}
	m.use(s.Watchdog.BigRedSwitch.From, "switch.watchdog.big_red_switch")
	for i := range s.TCToDSCP {
		for _, e := range s.TCToDSCP[i].Entries {
			m.cannot(e.From, "what tunnels write is not modelled")
		}
	}
}

// portList writes port numbers as a PortMatch has them.
func (m *sonicMapper) portList(ports []int) string {
	if len(ports) == len(m.ports) {
		return "*"
	}
	var parts []string
	for i := 0; i < len(ports); {
		k := i
		for k+1 < len(ports) && ports[k+1] == ports[k]+1 {
			k++
		}
		part := strconv.Itoa(ports[i])
		if k > i {
			part += "-" + strconv.Itoa(ports[k])
		}
		parts = append(parts, part)
		i = k + 1
	}
	return strings.Join(parts, ",")
}

func (m *sonicMapper) on(ports []int) PortMatch {
	return PortMatch{Ports: m.portList(ports), Peer: "*"}
}

// cluster is a value with the ports that have it.
type cluster[T any] struct {
	value T
	ports []int
}

// clusters groups ports by a text that stands for their value, the largest
// group first, others in order of their first port.
func clusters[T any](m *sonicMapper, of func(*switchconf.Port) T, text func(T) string) []cluster[T] {
	var list []cluster[T]
	at := map[string]int{}
	for i, p := range m.ports {
		v := of(p)
		k := text(v)
		n, ok := at[k]
		if !ok {
			n = len(list)
			at[k] = n
			list = append(list, cluster[T]{value: v})
		}
		list[n].ports = append(list[n].ports, i)
	}
	best := 0
	for i := range list {
		if len(list[i].ports) > len(list[best].ports) {
			best = i
		}
	}
	if best > 0 {
		c := list[best]
		list = slices.Insert(slices.Delete(list, best, best+1), 0, c)
	}
	return list
}

// portRule is a rule with the ports and the groups or queues that it holds for.
type portRule[T any] struct {
	rule    T
	indexes []int
	ports   []int
}

// rulesByPort puts together, first, the groups or queues of a port that have
// the same rule, and then the ports with the same rule for the same ones.
func rulesByPort[T any](m *sonicMapper, of func(p *switchconf.Port, add func(int, T))) []*portRule[T] {
	var list []*portRule[T]
	at := map[string]*portRule[T]{}
	for i, p := range m.ports {
		var own []*portRule[T]
		of(p, func(index int, rule T) {
			text := plainText(rule)
			k := slices.IndexFunc(own, func(r *portRule[T]) bool { return plainText(r.rule) == text })
			if k < 0 {
				k = len(own)
				own = append(own, &portRule[T]{rule: rule})
			}
			own[k].indexes = append(own[k].indexes, index)
		})
		for _, r := range own {
			id := plainText(r.rule) + plainText(r.indexes)
			if at[id] == nil {
				at[id] = r
				list = append(list, r)
			}
			at[id].ports = append(at[id].ports, i)
		}
	}
	return list
}

func plainText[T any](v T) string { return fmt.Sprint(v) }

// pfc maps pfc_enable.
func (m *sonicMapper) pfc() {
	of := func(p *switchconf.Port) []int { return p.PFCEnable.V }
	any := slices.ContainsFunc(m.ports, func(p *switchconf.Port) bool { return p.PFCEnable.IsSet() })
	if !any && !m.hasTable("PORT_QOS_MAP") {
		of = m.losslessOfGroups
		m.assume("switch.pfc.priorities", "", "PORT_QOS_MAP is in none of the files: lossless are the priority groups whose profile has headroom")
	}
	for i, c := range clusters(m, of, plainText) {
		list := append([]int{}, c.value...)
		if i == 0 {
			m.w.PFC.Priorities = list
		} else {
			m.w.PFC.Ports = append(m.w.PFC.Ports, PFCRule{m.on(c.ports), list})
		}
	}
	for _, p := range m.ports {
		m.use(p.PFCEnable.From, "switch.pfc.priorities")
	}
	if len(m.ports) == 0 {
		m.w.PFC.Priorities = []int{}
	}
	if len(m.w.PFC.Priorities) == 0 && len(m.w.PFC.Ports) == 0 && !any {
		m.assume("switch.pfc.priorities", "[]", "no port has pfc_enable: nothing is lossless")
	}
}

// losslessOfGroups returns the priority groups of a port that are lossless by
// their profile.
func (m *sonicMapper) losslessOfGroups(p *switchconf.Port) []int {
	var list []int
	for _, g := range p.PGs {
		if q := m.sw.Profile(g.Profile.V); g.Auto && !g.Profile.IsSet() || g.Auto && g.Profile.V == "" || q != nil && q.IsLossless() {
			list = append(list, g.Index)
		}
	}
	return list
}

// hasTable reports whether a file has entries of that table.
func (m *sonicMapper) hasTable(name string) bool {
	return slices.ContainsFunc(m.im.Fields, func(f switchconf.Field) bool { return f.Table == name && f.Status != switchconf.StandsIn })
}
