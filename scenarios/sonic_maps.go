package scenarios

import (
	"fmt"
	"maps"

	"rdmasim/fabric/switchconf"
)

// maps maps the maps of DSCP, traffic class, queue, priority group and PFC
// priority, by port.
func (m *sonicMapper) maps() {
	if !m.hasTable("PORT_QOS_MAP") {
		m.assume("switch.dscp_map", plainText(m.w.DSCPMap), "PORT_QOS_MAP is in none of the files: the maps are those of this program")
		return
	}
	for i, c := range clusters(m, m.mapOf, plainText) {
		if i == 0 {
			m.w.MapSpec = c.value
		} else {
			m.w.Maps = append(m.w.Maps, MapRule{m.on(c.ports), c.value})
		}
	}
}

// mapOf returns the maps of a port.
func (m *sonicMapper) mapOf(p *switchconf.Port) MapSpec {
	s := m.sw
	out := MapSpec{Trust: "dscp", DSCPMap: map[int]int{}}
	if !p.DSCPToTC.IsSet() && p.PCPToTC.IsSet() {
		out.Trust = "pcp"
	}
	queue := switchconf.FindMap(s.TCToQueue, p.TCToQueue.V)
	group := switchconf.FindMap(s.TCToPG, p.TCToPG.V)
	class := func(tc int, o switchconf.Origin) (int, bool) { return m.class(tc, queue, group, o) }

	if out.Trust == "dscp" {
		m.lines(p.DSCPToTC, s.DSCPToTC, "switch.dscp_map", func(e switchconf.Entry) bool {
			tc, ok := class(e.To, e.From)
			if ok && tc != 0 { // DSCPs that are not named go to 0
				out.DSCPMap[e.Key] = tc
			}
			return ok
		})
		m.refusedMap(p.PCPToTC, s.PCPToTC, "the port looks at the DSCP (dscp_to_tc_map) first")
		if !p.DSCPToTC.IsSet() {
			m.assume("switch.dscp_map", "{}", "a port without dscp_to_tc_map: everything is in traffic class 0")
		}
	} else {
		out.PCPMap = m.own(p.PCPToTC, s.PCPToTC, "switch.pcp_map", class)
	}
	plain := func(to int, o switchconf.Origin) (int, bool) {
		if to > 7 {
			m.cannot(o, "a switch of a scenario has queues 0 to 7")
		}
		return to, to <= 7
	}
	out.TCToQueue = m.own(p.TCToQueue, s.TCToQueue, "switch.tc_to_queue", plain)
	out.TCToGroup = m.own(p.TCToPG, s.TCToPG, "switch.tc_to_group", plain)
	out.PFCToQueue = m.own(p.PFCToQueue, s.PFCToQueue, "switch.pfc_to_queue", plain)
	out.PFCToGroup = m.own(p.PFCToPG, s.PFCToPG, "switch.pfc_to_group", plain)
	if len(out.TCToQueue) == 0 && !p.TCToQueue.IsSet() {
		m.assume("switch.tc_to_queue", "{}", "a port without tc_to_queue_map: each traffic class has the queue of its number")
	}
	if len(out.TCToGroup) == 0 && !p.TCToPG.IsSet() {
		m.assume("switch.tc_to_group", "{}", "a port without tc_to_pg_map: each traffic class has the priority group of its number")
	}
	return out
}

// class returns the traffic class of a scenario, 0 to 7, that has the queue and
// the priority group of a class of SONiC, which may be higher.
func (m *sonicMapper) class(tc int, queue, group *switchconf.Map, o switchconf.Origin) (int, bool) {
	if tc <= 7 {
		return tc, true
	}
	q, ok1 := queue.Lookup(tc)
	g, ok2 := group.Lookup(tc)
	for same := range 8 {
		a, ok3 := queue.Lookup(same)
		b, ok4 := group.Lookup(same)
		if ok1 && ok2 && ok3 && ok4 && a == q && b == g {
			m.assume("switch.dscp_map", fmt.Sprint(same), "traffic class %d is class %d, which has the same queue and priority group: a scenario has classes 0 to 7", tc, same)
			return same, true
		}
	}
	m.cannot(o, "a switch of a scenario has traffic classes 0 to 7, and none has the queue and priority group of %d", tc)
	return 0, false
}

// lines calls f for each line of the map that a port names, and notes where
// the line went if f took it.
func (m *sonicMapper) lines(name switchconf.Value[string], list []switchconf.Map, key string, f func(switchconf.Entry) bool) {
	if !name.IsSet() {
		return
	}
	m.use(name.From, key)
	x := switchconf.FindMap(list, name.V)
	if x == nil {
		m.cannot(name.From, "there is no such map in the files")
		return
	}
	for _, e := range x.Entries {
		if f(e) {
			m.use(e.From, key)
		}
	}
}

// refusedMap notes why a map is not used.
func (m *sonicMapper) refusedMap(name switchconf.Value[string], list []switchconf.Map, why string) {
	m.cannot(name.From, "%s", why)
	if x := switchconf.FindMap(list, name.V); name.IsSet() && x != nil {
		for _, e := range x.Entries {
			m.cannot(e.From, "%s", why)
		}
	}
}

// own returns a map of a port without the lines that keep the number, as
// those that are not named do.
func (m *sonicMapper) own(name switchconf.Value[string], list []switchconf.Map, key string, to func(int, switchconf.Origin) (int, bool)) map[int]int {
	out := map[int]int{}
	m.lines(name, list, key, func(e switchconf.Entry) bool {
		v, ok := to(e.To, e.From)
		if e.Key > 7 {
			if ok {
				m.cannot(e.From, "a switch of a scenario has traffic classes 0 to 7")
			}
			return false
		}
		if ok && v != e.Key {
			out[e.Key] = v
		}
		return ok
	})
	if len(out) == 0 {
		return nil
	}
	return maps.Clone(out)
}
