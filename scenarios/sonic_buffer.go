package scenarios

import (
	"fmt"
	"slices"

	"rdmasim/fabric"
	"rdmasim/fabric/switchconf"
	"rdmasim/sim"
)

// pools maps BUFFER_POOL.
func (m *sonicMapper) pools() {
	for i := range m.sw.Pools {
		p := &m.sw.Pools[i]
		size, headroom := p.Size.V, p.Xoff.V
		m.cannot(p.Percentage.From, "the memory is not known: give size")
		if !p.Size.IsSet() {
			if size = m.computedSize(p); size == 0 {
				size = m.w.Buffer.Size
				m.assume("switch.buffer.pools."+p.Name+".size", size.String(), "the switch computes the size of %s itself, and no other pool tells it: a default of this program", p.Name)
			} else {
				m.assume("switch.buffer.pools."+p.Name+".size", size.String(), "the switch computes the size of %s itself: the largest pool, less headroom and reserves", p.Name)
			}
		}
		if size == 0 {
			why := "a pool of no bytes: nothing can be in it"
			for _, o := range []switchconf.Origin{p.Type.From, p.Mode.From, p.Size.From, p.Xoff.From} {
				m.cannot(o, "%s", why)
			}
			continue
		}
		spec := defaultPool()
		spec.Name, spec.Side, spec.Mode, spec.Size = p.Name, string(p.Type.V), string(p.Mode.V), size
		if p.Type.V == switchconf.Egress && headroom > 0 {
			m.cannot(p.Xoff.From, "an egress pool has no headroom")
		} else {
			spec.Headroom = headroom
		}
		m.w.Buffer.Pools = append(m.w.Buffer.Pools, spec)
		m.use(p.Type.From, "switch.buffer.pools.side")
		m.use(p.Mode.From, "switch.buffer.pools.mode")
		m.use(p.Size.From, "switch.buffer.pools.size")
		if spec.Headroom == p.Xoff.V {
			m.use(p.Xoff.From, "switch.buffer.pools.headroom")
		}
	}
	m.bothSides()
}

// bothSides leaves pools out where one side of the switch has none: a scenario
// has pools for both, or none.
func (m *sonicMapper) bothSides() {
	b := &m.w.Buffer
	if len(b.Pools) == 0 {
		m.assume("switch.buffer.size", b.Size.String(), "there is no BUFFER_POOL in the files: one buffer for everything, of a size that is a default of this program")
		return
	}
	for _, side := range []string{"ingress", "egress"} {
		if b.pool("", side) < 0 {
			size := sim.Bytes(0)
			for _, p := range b.Pools {
				size = max(size, p.Size)
			}
			b.Pools = append(b.Pools, PoolSpec{Name: "all_" + side, Side: side, Mode: "static", Size: size})
			m.assume("switch.buffer.pools", "all_"+side, "there is no pool for the %s side in the files: one that does not bound", side)
		}
	}
}

// computedSize estimates the size of a pool that the switch computes: the
// largest pool that is given, which on NVIDIA is the whole memory, less
// reserves and headroom on the ingress side.
func (m *sonicMapper) computedSize(p *switchconf.Pool) sim.Bytes {
	var largest sim.Bytes
	for _, o := range m.sw.Pools {
		largest = max(largest, o.Size.V)
	}
	if p.Type.V != switchconf.Ingress {
		return largest
	}
	reserved, private, _ := m.reserves()
	if reserved += private; reserved < largest/2 {
		return largest - reserved
	}
	return largest
}

// reserves sums what the ports set aside: reserves, headroom of their own, and
// headroom that is taken from pools.
func (m *sonicMapper) reserves() (reserved, private, shared sim.Bytes) {
	for _, p := range m.ports {
		for _, g := range p.PGs {
			if q := m.sw.Profile(g.Profile.V); q != nil {
				h := m.sw.SetAside(q)
				reserved += h.Reserved
				if h.Shared {
					shared += h.Headroom
				} else {
					private += h.Headroom
				}
			}
		}
	}
	return reserved, private, shared
}

// groups maps BUFFER_PG.
func (m *sonicMapper) groups() {
	if !m.hasTable("BUFFER_PG") && !slices.ContainsFunc(m.ports, func(p *switchconf.Port) bool { return len(p.PGs) > 0 }) {
		return
	}
	if m.hasTable("BUFFER_PG") || m.hasTable("BUFFER_PROFILE") {
		m.w.Buffer.Reserve = 0
		if m.hasTable("BUFFER_PG") && m.sw.BufferModel.V == switchconf.Dynamic {
			m.w.Buffer.Headroom = Given[sim.Bytes](0)
			m.assume("switch.buffer.headroom", "0B", "priority groups that BUFFER_PG does not bind have no headroom")
		}
		m.assume("switch.buffer.reserve", "0B", "priority groups that BUFFER_PG does not bind have no buffer of their own")
	}
	for _, r := range rulesByPort(m, func(p *switchconf.Port, add func(int, GroupRule)) {
		for i := range p.PGs {
			add(p.PGs[i].Index, m.groupRule(&p.PGs[i]))
		}
	}) {
		r.rule.PortMatch, r.rule.Groups = m.on(r.ports), r.indexes
		m.w.Buffer.Groups = append(m.w.Buffer.Groups, r.rule)
	}
}

// poolName returns the name of a pool that is there, or "".
func (m *sonicMapper) poolName(name, side string) string {
	if m.w.Buffer.pool(name, side) < 0 {
		return ""
	}
	return name
}

// groupRule maps a priority group by its profile.
func (m *sonicMapper) groupRule(g *switchconf.PG) GroupRule {
	r := m.w.groupRule()
	r.Xon, r.XonOffset, r.Reserve = 0, 0, 0
	r.Pool = m.poolName("ingress_lossless_pool", "ingress")
	p := m.sw.Profile(g.Profile.V)
	if p == nil {
		r.Headroom = AutoValue[sim.Bytes]()
		r.XonOffset = DefaultSwitch().Buffer.XonOffset
		m.use(g.Profile.From, "switch.buffer.groups.headroom")
		m.assume("switch.buffer.groups.headroom", "auto", "priority groups whose profile is not known: headroom from the links of the scenario, and the threshold of switch.buffer.alpha, %v", m.w.Buffer.Alpha)
		if th := m.sw.Lossless.DefaultDynamicTh; th.IsSet() {
			r.Threshold = dynamicThreshold(th.V)
			m.use(th.From, "switch.buffer.groups.threshold")
		}
		return r
	}
	h := m.sw.SetAside(p)
	r.Reserve, r.Headroom = h.Reserved, Given(h.Headroom)
	r.Threshold = m.threshold(p)
	r.Xon, r.XonOffset = p.Xon.V, p.XonOffset.V
	r.Pool = m.poolName(p.Pool.V, "ingress")
	if pool := m.sw.Pool(p.Pool.V); pool != nil && pool.Size.IsSet() && pool.Size.V == 0 {
		r.Threshold = staticThreshold(0)
		m.use(pool.Size.From, "switch.buffer.groups.threshold")
	}
	m.use(g.Profile.From, "switch.buffer.groups")
	m.use(p.Pool.From, "switch.buffer.groups.pool")
	m.use(p.Size.From, "switch.buffer.groups.reserve")
	m.use(p.Xoff.From, "switch.buffer.groups.headroom")
	m.use(p.Xon.From, "switch.buffer.groups.xon")
	m.use(p.XonOffset.From, "switch.buffer.groups.xon_offset")
	m.profileRest(p, "switch.buffer.groups")
	if h.InSize && p.Xoff.V > 0 {
		m.use(p.Size.From, "switch.buffer.groups.headroom")
	}
	if !p.HeadroomType.IsSet() || p.HeadroomType.V == "static" {
		m.use(p.HeadroomType.From, "switch.buffer.groups.headroom")
	} else {
		r.Headroom = AutoValue[sim.Bytes]()
		m.use(p.HeadroomType.From, "switch.buffer.groups.headroom")
	}
	return r
}

// profileRest accounts for the fields of a profile that both sides have.
func (m *sonicMapper) profileRest(p *switchconf.Profile, key string) {
	m.use(p.DynamicTh.From, key+".threshold")
	m.use(p.StaticTh.From, key+".threshold")
	if p.Discard.V == "trim" {
		m.cannot(p.Discard.From, "packet trimming is not modelled: packets are dropped")
	} else {
		m.use(p.Discard.From, key+".threshold")
	}
}

func dynamicThreshold(n int) Member {
	p := switchconf.Profile{DynamicTh: switchconf.Of(n)}
	return Member{"dynamic", fabric.DynamicParams{Alpha: p.Alpha()}}
}

func staticThreshold(n sim.Bytes) Member { return Member{"static", fabric.StaticParams{Bytes: n}} }

// threshold maps dynamic_th and static_th.
func (m *sonicMapper) threshold(p *switchconf.Profile) Member {
	switch {
	case p.DynamicTh.IsSet():
		return dynamicThreshold(p.DynamicTh.V)
	case p.StaticTh.IsSet():
		return staticThreshold(p.StaticTh.V)
	}
	return autoThreshold()
}

// queues maps BUFFER_QUEUE.
func (m *sonicMapper) queues() {
	for _, r := range rulesByPort(m, func(p *switchconf.Port, add func(int, QueueRule)) {
		for i := range p.Queues {
			q := &p.Queues[i]
			switch f := m.sw.Profile(q.Profile.V); {
			case !q.Profile.IsSet():
			case f == nil:
				m.cannot(q.Profile.From, "there is no such profile in the files")
			case q.Index > 7:
				m.cannot(q.Profile.From, "a switch of a scenario has queues 0 to 7")
			default:
				add(q.Index, m.queueRule(q, f))
			}
		}
	}) {
		r.rule.PortMatch, r.rule.Queues = m.on(r.ports), r.indexes
		m.w.Buffer.Queues = append(m.w.Buffer.Queues, r.rule)
	}
}

func (m *sonicMapper) queueRule(q *switchconf.Queue, p *switchconf.Profile) QueueRule {
	r := m.w.queueRule()
	r.Pool, r.Reserve, r.Threshold = m.poolName(p.Pool.V, "egress"), p.Size.V, m.threshold(p)
	m.use(q.Profile.From, "switch.buffer.queues")
	m.use(p.Pool.From, "switch.buffer.queues.pool")
	m.use(p.Size.From, "switch.buffer.queues.reserve")
	m.profileRest(p, "switch.buffer.queues")
	for _, o := range []switchconf.Origin{p.Xoff.From, p.Xon.From, p.XonOffset.From, p.HeadroomType.From} {
		m.cannot(o, "an egress queue has no headroom")
	}
	return r
}

// memory sets the whole buffer to what its parts need.
func (m *sonicMapper) memory() {
	b := &m.w.Buffer
	if len(b.Pools) == 0 {
		return
	}
	var ingress, egress sim.Bytes
	for _, p := range b.Pools {
		switch n := p.Size + p.Headroom; p.Side {
		case "ingress":
			ingress += n
		case "egress":
			egress = max(egress, n)
		default:
			ingress += n
			egress = max(egress, n)
		}
	}
	reserved, private, _ := m.reserves()
	b.Size = min(max(ingress+reserved+private, egress), sim.TiB)
	m.assume("switch.buffer.size", b.Size.String(), "the whole memory is not in the files: pools, reserves and headroom of %s together", count(len(m.ports), "port"))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
