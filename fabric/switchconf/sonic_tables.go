package switchconf

import (
	"slices"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// sonicTables are the tables of CONFIG_DB that shape the fabric. Fields,
// ranges and defaults are those of SONiC's YANG models
// (sonic-buildimage, src/sonic-yang-models/yang-models).
var sonicTables map[string]sonicTable

func init() {
	sonicTables = map[string]sonicTable{
		"DEVICE_METADATA":                   {readMetadata},
		"PORT":                              {func(e *entry) error { return eachPort(e, portColumns) }},
		"BREAKOUT_CFG":                      {func(e *entry) error { return eachPort(e, breakoutColumns) }},
		"CABLE_LENGTH":                      {readCables},
		"BUFFER_POOL":                       {named(func(s *Switch) *[]Pool { return &s.Pools }, func(p *Pool) *string { return &p.Name }, func(p *Pool) *Origin { return &p.From }, poolColumns)},
		"BUFFER_PROFILE":                    {named(func(s *Switch) *[]Profile { return &s.Profiles }, func(p *Profile) *string { return &p.Name }, func(p *Profile) *Origin { return &p.From }, profileColumns)},
		"WRED_PROFILE":                      {named(func(s *Switch) *[]WRED { return &s.WRED }, func(w *WRED) *string { return &w.Name }, func(w *WRED) *Origin { return &w.From }, wredColumns())},
		"SCHEDULER":                         {named(func(s *Switch) *[]Scheduler { return &s.Schedulers }, func(x *Scheduler) *string { return &x.Name }, func(x *Scheduler) *Origin { return &x.From }, schedulerColumns)},
		"BUFFER_PG":                         {readPGs},
		"BUFFER_QUEUE":                      {func(e *entry) error { return eachQueue(e, bufferQueueColumns) }},
		"QUEUE":                             {func(e *entry) error { return eachQueue(e, queueColumns) }},
		"PORT_QOS_MAP":                      {readPortQoS},
		"PFC_WD":                            {readWatchdog},
		"BUFFER_PORT_INGRESS_PROFILE_LIST":  {func(e *entry) error { return eachPort(e, ingressListColumns) }},
		"BUFFER_PORT_EGRESS_PROFILE_LIST":   {func(e *entry) error { return eachPort(e, egressListColumns) }},
		"DEFAULT_LOSSLESS_BUFFER_PARAMETER": {func(e *entry) error { return rows(e, losslessColumns, []*Lossless{&e.r.sw.Lossless}) }},
		"LOSSLESS_TRAFFIC_PATTERN":          {func(e *entry) error { return rows(e, patternColumns, []*Lossless{&e.r.sw.Lossless}) }},
	}
	for _, m := range sonicMaps {
		sonicTables[m.table] = sonicTable{func(e *entry) error { return readMap(e, m) }}
	}
	for old, table := range sonicAliases {
		sonicTables[old] = sonicTables[table]
	}
}

// unmodelledTables are known tables that shape queues in ways that the model
// of a switch here does not have.
var unmodelledTables = map[string]string{
	"TC_TO_DOT1P_MAP":           "rewriting of VLAN priorities is not modelled",
	"DSCP_TO_FC_MAP":            "forwarding classes are not modelled",
	"EXP_TO_FC_MAP":             "MPLS is not modelled",
	"MPLS_TC_TO_TC_MAP":         "MPLS is not modelled",
	"SWITCH_TRIMMING":           "packet trimming is not modelled",
	"SWITCH_HASH":               "the fields of the ECMP hash are the 5-tuple; choose a hash with switch.balance",
	"POLICER":                   "policers are not modelled",
	"PORT_STORM_CONTROL":        "storm control is not modelled",
	"BUFFER_PORT_CONFIGURATION": "not modelled",
}

// sonicMap is a table of maps from small numbers to small numbers.
type sonicMap struct {
	table     string
	doc       string // of a line: %s are key and value
	keys, tos int    // the largest
	at        func(*Switch) *[]Map
}

// Traffic classes are 0..15, queues 0..19: SONiC's maps of platforms with
// multicast queues name those above 7.
var sonicMaps = []sonicMap{
	{"DSCP_TO_TC_MAP", "DSCP to traffic class", 63, 15, func(s *Switch) *[]Map { return &s.DSCPToTC }},
	{"DOT1P_TO_TC_MAP", "VLAN priority to traffic class", 7, 15, func(s *Switch) *[]Map { return &s.PCPToTC }},
	{"TC_TO_QUEUE_MAP", "traffic class to egress queue", 15, 19, func(s *Switch) *[]Map { return &s.TCToQueue }},
	{"TC_TO_PRIORITY_GROUP_MAP", "traffic class to ingress priority group", 15, 7, func(s *Switch) *[]Map { return &s.TCToPG }},
	{"MAP_PFC_PRIORITY_TO_QUEUE", "priority of a PFC frame to the queue that it stops", 7, 19, func(s *Switch) *[]Map { return &s.PFCToQueue }},
	{"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "priority of a PFC frame to the priority group that sends it", 7, 7, func(s *Switch) *[]Map { return &s.PFCToPG }},
	{"TC_TO_DSCP_MAP", "DSCP that a tunnel writes for a traffic class", 15, 63, func(s *Switch) *[]Map { return &s.TCToDSCP }},
}

// sonicAliases are names that tables had in old images.
var sonicAliases = map[string]string{
	"PFC_PRIORITY_TO_QUEUE_MAP":          "MAP_PFC_PRIORITY_TO_QUEUE",
	"MAP_PFC_PRIORITY_TO_PRIORITY_GROUP": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
	"TC_TO_PRIORITY_GROUP":               "TC_TO_PRIORITY_GROUP_MAP",
}

// mapsOf returns where the maps of a table are kept, nil for other tables.
func mapsOf(table string) func(*Switch) *[]Map {
	for _, m := range sonicMaps {
		if m.table == table {
			return m.at
		}
	}
	return nil
}

// readMap reads one map: its fields are the lines.
func readMap(e *entry, m sonicMap) error {
	maps := m.at(e.r.sw)
	to := FindMap(*maps, e.key)
	if to == nil {
		if len(*maps) == maxThings {
			return e.fail("more than %d entries", maxThings)
		}
		*maps = append(*maps, Map{Name: e.key, From: e.from})
		to = &(*maps)[len(*maps)-1]
	}
	for _, k := range e.node.keys {
		l := &leaf{table: e.table, key: e.key, name: k.name, node: k.value, from: e.r.origin(k.value.line, k.value.column, e.table, e.key, k.name)}
		if k.name == "NULL" {
			e.r.note(Field{Table: e.table, Key: e.key, Name: k.name, Value: shown(k.value), From: l.from, Status: Unrelated, Doc: "stands for an entry without fields"})
			continue
		}
		number, err := strconv.Atoi(k.name)
		if err != nil || number < 0 || number > m.keys {
			return &Error{From: e.r.origin(k.line, k.column, e.table, e.key, k.name), Value: k.name, Problem: "want a whole number from 0 to " + strconv.Itoa(m.keys)}
		}
		if l.node.shape == shapeObject || l.node.shape == shapeList {
			return l.fail("is %s: want a string", l.node.shape)
		}
		n, err := whole(l, 0, int64(m.tos))
		if err != nil {
			return err
		}
		e.r.note(Field{Table: e.table, Key: e.key, Name: k.name, Value: shown(k.value), From: l.from, Status: Understood, Doc: m.doc})
		if err := to.add(e.r, number, int(n), l); err != nil {
			return err
		}
	}
	return nil
}

// add puts a line into a map, which stays in order of its keys.
func (m *Map) add(r *sonicReader, k, to int, l *leaf) error {
	i, found := slices.BinarySearchFunc(m.Entries, k, func(e Entry, k int) int { return e.Key - k })
	if !found {
		m.Entries = slices.Insert(m.Entries, i, Entry{Key: k, To: to, From: l.from})
		return nil
	}
	v := Value[int]{V: m.Entries[i].To, From: m.Entries[i].From}
	if err := put(r, &v, to, l); err != nil {
		return err
	}
	m.Entries[i] = Entry{Key: k, To: v.V, From: v.From}
	return nil
}

// named reads a table of things with names.
func named[T any](list func(*Switch) *[]T, name func(*T) *string, from func(*T) *Origin, columns []column[T]) func(*entry) error {
	return func(e *entry) error {
		all := list(e.r.sw)
		t := find(*all, func(t *T) bool { return *name(t) == e.key })
		if t == nil {
			if len(*all) == maxThings {
				return e.fail("more than %d entries", maxThings)
			}
			if len(e.key) > maxName {
				return e.fail("want a name of up to %d letters", maxName)
			}
			*all = append(*all, *new(T))
			t = &(*all)[len(*all)-1]
			*name(t), *from(t) = e.key, e.from
		}
		return rows(e, columns, []*T{t})
	}
}

// eachPort reads an entry whose key names ports.
func eachPort(e *entry, columns []column[Port]) error {
	names, err := portNames(e, e.key)
	if err != nil {
		return err
	}
	return rows(e, columns, e.r.portsNamed(names, e.from))
}

// portsNamed returns ports, all made before the first pointer is taken.
func (r *sonicReader) portsNamed(names []string, from Origin) []*Port {
	for _, n := range names {
		r.port(n, from)
	}
	ports := make([]*Port, len(names))
	for i, n := range names {
		ports[i] = r.port(n, from)
	}
	return ports
}

// eachQueue reads an entry whose key names queues of ports.
func eachQueue(e *entry, columns []column[Queue]) error {
	names, low, high, err := portRange(e, 19)
	if err != nil {
		return err
	}
	var queues []*Queue
	for _, p := range e.r.portsNamed(names, e.from) {
		for q := low; q <= high; q++ {
			if p.Queue(q) == nil {
				p.Queues = append(p.Queues, Queue{Index: q, From: e.from})
			}
		}
		for q := low; q <= high; q++ {
			queues = append(queues, p.Queue(q))
		}
	}
	return rows(e, columns, queues)
}

// readPGs reads an entry of BUFFER_PG.
func readPGs(e *entry) error {
	names, low, high, err := portRange(e, 7)
	if err != nil {
		return err
	}
	var groups []*PG
	for _, p := range e.r.portsNamed(names, e.from) {
		for g := low; g <= high; g++ {
			if p.PG(g) == nil {
				p.PGs = append(p.PGs, PG{Index: g, From: e.from})
			}
		}
		for g := low; g <= high; g++ {
			groups = append(groups, p.PG(g))
		}
	}
	return rows(e, pgColumns, groups)
}

// readCables reads CABLE_LENGTH: an entry (AZURE) with a field for each port.
func readCables(e *entry) error {
	if len(e.node.keys) > maxThings {
		return e.fail("more than %d ports", maxThings)
	}
	columns := make([]column[Port], 0, len(e.node.keys))
	for _, k := range e.node.keys {
		columns = append(columns, column[Port]{k.name, "length of the cable, for headroom", func(r *sonicReader, _ *Port, l *leaf) error {
			metres, ok := strings.CutSuffix(strings.TrimSpace(l.node.text), "m")
			n, err := strconv.ParseFloat(metres, 64)
			if !ok || err != nil || n < 0 || n > 1e6 || n != n {
				return l.fail("want metres, such as 40m")
			}
			p := r.port(l.name, l.from)
			return put(r, &p.Cable, sim.Length(n*float64(sim.Metre)), l)
		}})
	}
	return rows(e, columns, []*Port{nil})
}

// readMetadata reads DEVICE_METADATA.
func readMetadata(e *entry) error {
	if e.key != "localhost" {
		e.r.note(Field{Table: e.table, Key: e.key, From: e.from, Status: Unrelated, Doc: "want localhost"})
		return nil
	}
	if len(e.node.keys) > maxThings {
		return e.fail("more than %d fields", maxThings)
	}
	columns := slices.Clone(metadataColumns)
	for _, k := range e.node.keys {
		if !slices.ContainsFunc(columns, func(c column[Switch]) bool { return c.name == k.name }) {
			columns = append(columns, column[Switch]{k.name, "not about the fabric", nil})
		}
	}
	return rows(e, columns, []*Switch{e.r.sw})
}

// readPortQoS reads PORT_QOS_MAP, whose key global holds the map of DSCPs of
// ports that name none.
func readPortQoS(e *entry) error {
	if e.key == "global" {
		return rows(e, globalQoSColumns, []*Switch{e.r.sw})
	}
	return eachPort(e, portQoSColumns)
}

// readWatchdog reads PFC_WD, whose key GLOBAL holds what ports share.
func readWatchdog(e *entry) error {
	if e.key == "GLOBAL" {
		return rows(e, watchdogColumns, []*Watchdog{&e.r.sw.Watchdog})
	}
	return eachPort(e, portWatchdogColumns)
}
