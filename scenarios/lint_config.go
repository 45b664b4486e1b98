package scenarios

import (
	"fmt"
	"slices"
	"strconv"

	"rdmasim/fabric"
	"rdmasim/fabric/switchconf"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// configBuilder turns a switch of a scenario into a configuration for lint,
// every value with the place of its key.
type configBuilder struct {
	w     *world
	node  int
	sp    *SwitchSpec
	at    string
	sw    *switchconf.Switch
	rooms sim.Bytes // reserves and headroom of all ports
	need  map[string]sim.Bytes
}

func newConfigBuilder(w *world, node int) *configBuilder {
	b := &configBuilder{w: w, node: node, sp: w.swSpec[node], at: "switch", sw: &switchconf.Switch{Hostname: switchconf.Of(w.graph.Nodes[node].Name)}, need: map[string]sim.Bytes{}}
	for k := range w.spec.Switches {
		if b.sp == &w.spec.Switches[k].Switch {
			b.at = "switches." + strconv.Itoa(k)
		}
	}
	return b
}

// needed returns the headroom that the simulator would compute for a port.
func (b *configBuilder) needed(p *switchconf.Port) (sim.Bytes, string) {
	n := b.need[p.Name]
	return n, "full frames, cable and response of the peer need " + n.String()
}

// value returns a value of a key below the switch.
func value[V any](b *configBuilder, key string, v V) switchconf.Value[V] {
	return switchconf.Value[V]{V: v, From: b.w.spec.origin(b.at + "." + key)}
}

// build returns the configuration.
func (b *configBuilder) build() *switchconf.Switch {
	for i, q := range b.w.ports.Of(b.node) {
		b.port(i, q)
	}
	b.pools()
	return b.sw
}

// portUnder is a port with the rules that hold there.
type portUnder struct {
	index int
	rate  sim.Rate
	peer  string
	out   *switchconf.Port
}

// lastRule returns the number of the last rule that matches a port, -1 when
// none does.
func lastRule[R any](rules []R, match func(*R) *PortMatch, p *portUnder) int {
	for i := len(rules) - 1; i >= 0; i-- {
		if match(&rules[i]).matches(p.index, p.rate, p.peer) {
			return i
		}
	}
	return -1
}

// port adds one port.
func (b *configBuilder) port(i int, q topology.Port) {
	sp, pc := b.sp, b.w.port(b.node, i)
	name := b.w.portName(b.node, i)
	b.sw.Ports = append(b.sw.Ports, switchconf.Port{Name: name, Speed: switchconf.Of(pc.Rate)})
	p := &portUnder{index: i, rate: pc.Rate, peer: b.w.graph.Nodes[q.Peer].Name, out: &b.sw.Ports[len(b.sw.Ports)-1]}
	l := &b.w.graph.Links[q.Link]
	cable := l.Cable
	if cable == 0 {
		cable = sim.Length(int64(q.In(b.w.graph).Delay) * int64(sim.Metre) / int64(sim.PropagationPerMetre))
	}
	p.out.Cable = switchconf.Of(cable)
	if !b.w.spec.hpcc() {
		b.need[name] = b.w.headroom(b.node, i, sp, pc)
	}
	lossless, at := sp.PFC.Priorities, "pfc.priorities"
	if k := lastRule(sp.PFC.Ports, func(r *PFCRule) *PortMatch { return &r.PortMatch }, p); k >= 0 {
		lossless, at = sp.PFC.Ports[k].Priorities, fmt.Sprintf("pfc.ports.%d.priorities", k)
	}
	if len(lossless) > 0 {
		list := slices.Clone(lossless)
		slices.Sort(list)
		p.out.PFCEnable = value(b, at, list)
	}
	b.mapsOf(p)
	b.groupsOf(p, pc)
	for k := range 8 {
		b.queueOf(p, k)
	}
	b.watchdogOf(p)
}

// mapsOf adds the maps of a port.
func (b *configBuilder) mapsOf(p *portUnder) {
	m, at := b.sp.MapSpec, ""
	if k := lastRule(b.sp.Maps, func(r *MapRule) *PortMatch { return &r.PortMatch }, p); k >= 0 {
		m, at = b.sp.Maps[k].MapSpec, fmt.Sprintf("maps.%d.", k)
	}
	add := func(list *[]switchconf.Map, key string, of map[int]int, keys int, identity bool) switchconf.Value[string] {
		name := value(b, at+key, at+key)
		if switchconf.FindMap(*list, name.V) != nil {
			return name
		}
		x := switchconf.Map{Name: name.V, From: name.From}
		for k := range keys {
			to, ok := of[k]
			from := name.From
			if ok {
				from = b.w.spec.origin(b.at + "." + at + key + "." + strconv.Itoa(k))
			} else if identity {
				to = k
			} else {
				continue
			}
			x.Entries = append(x.Entries, switchconf.Entry{Key: k, To: to, From: from})
		}
		*list = append(*list, x)
		return name
	}
	if m.Trust == "pcp" {
		p.out.PCPToTC = add(&b.sw.PCPToTC, "pcp_map", m.PCPMap, 8, true)
	} else {
		p.out.DSCPToTC = add(&b.sw.DSCPToTC, "dscp_map", m.DSCPMap, 64, false)
	}
	p.out.TCToQueue = add(&b.sw.TCToQueue, "tc_to_queue", m.TCToQueue, 8, true)
	p.out.TCToPG = add(&b.sw.TCToPG, "tc_to_group", m.TCToGroup, 8, true)
	p.out.PFCToQueue = add(&b.sw.PFCToQueue, "pfc_to_queue", m.PFCToQueue, 8, true)
	p.out.PFCToPG = add(&b.sw.PFCToPG, "pfc_to_group", m.PFCToGroup, 8, true)
}

// groupsOf adds the priority groups of a port: the lossless ones, which rules
// look at, and what others set aside.
func (b *configBuilder) groupsOf(p *portUnder, pc fabric.PortConfig) {
	for g := range 8 {
		rule, at := b.sp.groupRule(), "buffer."
		for i := range b.sp.Buffer.Groups {
			if r := &b.sp.Buffer.Groups[i]; slices.Contains(r.Groups, g) && r.matches(p.index, p.rate, p.peer) {
				rule, at = *r, fmt.Sprintf("buffer.groups.%d.", i)
			}
		}
		if !slices.ContainsFunc(p.out.PFCEnable.V, func(n int) bool { return b.groupOfPFC(p, n) == g }) {
			if at != "buffer." {
				b.rooms += rule.Reserve
			}
			continue
		}
		headroom := rule.Headroom.Value
		if rule.Headroom.Auto {
			headroom = b.w.headroom(b.node, p.index, b.sp, pc)
		}
		if b.w.spec.hpcc() {
			_, h := b.w.hpccPort(b.node, p.index)
			headroom = sim.Bytes(h)
		}
		b.rooms += rule.Reserve
		if b.sp.Buffer.HeadroomPool == 0 && len(b.sp.Buffer.Pools) == 0 {
			b.rooms += headroom
		}
		name := fmt.Sprintf("%s%d,%v", at, headroom, p.rate)
		if b.sw.Profile(name) == nil {
			f := switchconf.Profile{Name: name, Pool: value(b, at+"pool", b.poolOf(rule.Pool, "ingress")), Size: value(b, at+"reserve", rule.Reserve),
				Xoff: value(b, at+"headroom", headroom), Xon: value(b, at+"xon", rule.Xon), XonOffset: value(b, at+"xon_offset", rule.XonOffset)}
			f.From = f.Xoff.From
			b.threshold(&f, rule.Threshold, at, "buffer.alpha", b.sp.Buffer.Alpha)
			b.sw.Profiles = append(b.sw.Profiles, f)
		}
		p.out.PGs = append(p.out.PGs, switchconf.PG{Index: g, Profile: value(b, at+"headroom", name)})
	}
}

func (b *configBuilder) groupOfPFC(p *portUnder, n int) int {
	if to, ok := switchconf.FindMap(b.sw.PFCToPG, p.out.PFCToPG.V).Lookup(n); ok {
		return to
	}
	return n
}

// The pools of a buffer that has none.
const (
	wholeIngress = "buffer"
	wholeEgress  = "buffer, egress"
)

// poolOf returns the pool of a rule.
func (b *configBuilder) poolOf(name, side string) string {
	if name != "" {
		return name
	}
	if i := b.sp.Buffer.pool("", side); i >= 0 {
		return b.sp.Buffer.Pools[i].Name
	}
	if side == "ingress" {
		return wholeIngress
	}
	return wholeEgress
}

// threshold sets how much of its pool a profile may use.
func (b *configBuilder) threshold(f *switchconf.Profile, m Member, at, generalKey string, general sim.Ratio) {
	switch t := m.Params.(type) {
	case fabric.DynamicParams:
		f.Factor = value(b, at+"threshold.dynamic.alpha", t.Alpha)
	case fabric.StaticParams:
		f.StaticTh = value(b, at+"threshold.static.bytes", t.Bytes)
	default:
		if i := slices.IndexFunc(b.sp.Buffer.Pools, func(p PoolSpec) bool { return p.Name == f.Pool.V }); i >= 0 && b.sp.Buffer.Pools[i].Mode == "static" {
			f.StaticTh = value(b, fmt.Sprintf("buffer.pools.%d.size", i), b.sp.Buffer.Pools[i].Size)
			return
		}
		f.Factor = value(b, generalKey, general)
	}
}

// pools adds the pools; what reserves and headroom take is not shared.
func (b *configBuilder) pools() {
	spec := &b.sp.Buffer
	if len(spec.Pools) == 0 {
		b.sw.Pools = append(b.sw.Pools,
			switchconf.Pool{Name: wholeIngress, Type: switchconf.Of(switchconf.Ingress), Mode: switchconf.Of(switchconf.DynamicPool), Size: value(b, "buffer.size", max(spec.Size-b.rooms-spec.HeadroomPool, 0)), Xoff: value(b, "buffer.headroom_pool", spec.HeadroomPool)},
			switchconf.Pool{Name: wholeEgress, Type: switchconf.Of(switchconf.Egress), Mode: switchconf.Of(switchconf.DynamicPool), Size: value(b, "buffer.size", spec.Size)})
		return
	}
	for i, p := range spec.Pools {
		at := fmt.Sprintf("buffer.pools.%d.", i)
		b.sw.Pools = append(b.sw.Pools, switchconf.Pool{Name: p.Name, Type: value(b, at+"side", switchconf.Direction(p.Side)), Mode: value(b, at+"mode", switchconf.PoolMode(p.Mode)),
			Size: value(b, at+"size", p.Size), Xoff: value(b, at+"headroom", p.Headroom)})
	}
}

// queueOf adds one queue of a port.
func (b *configBuilder) queueOf(p *portUnder, k int) {
	q := switchconf.Queue{Index: k, From: b.w.spec.origin(b.at + ".ecn")}
	for i := range b.sp.Buffer.Queues {
		r := &b.sp.Buffer.Queues[i]
		if !slices.Contains(r.Queues, k) || !r.matches(p.index, p.rate, p.peer) {
			continue
		}
		at := fmt.Sprintf("buffer.queues.%d.", i)
		if b.sw.Profile(at) == nil {
			f := switchconf.Profile{Name: at, Pool: value(b, at+"pool", b.poolOf(r.Pool, "egress")), Size: value(b, at+"reserve", r.Reserve)}
			if r.Threshold.Name != fabric.ThresholdAuto {
				b.threshold(&f, r.Threshold, at, "buffer.egress_alpha", b.sp.Buffer.EgressAlpha)
			}
			b.sw.Profiles = append(b.sw.Profiles, f)
		}
		q.Profile = value(b, at+"queues", at)
	}
	b.curveOf(p, k, &q)
	b.scheduleOf(p, k, &q)
	p.out.Queues = append(p.out.Queues, q)
}

// curveOf adds the marking of a queue.
func (b *configBuilder) curveOf(p *portUnder, k int, q *switchconf.Queue) {
	for i := len(b.sp.WRED) - 1; i >= 0; i-- {
		r := &b.sp.WRED[i]
		if !slices.Contains(r.Queues, k) || !r.matches(p.index, p.rate, p.peer) {
			continue
		}
		at := fmt.Sprintf("wred.%d.", i)
		w := switchconf.WRED{Name: at, ECN: value(b, at+"ecn", switchconf.ECNMode("ecn_"+r.ECN)), PassNonECT: value(b, at+"non_ect", r.NonECT == "pass"), From: b.w.spec.origin(b.at + "." + at[:len(at)-1])}
		for c, s := range []CurveSpec{r.Green, r.Yellow, r.Red} {
			if colour := at + switchconf.Colour(c).String(); s.Set {
				w.Colours[c] = switchconf.WREDCurve{Enable: value(b, colour, true), Min: value(b, colour+".min", s.Min), Max: value(b, colour+".max", s.Max), Probability: value(b, colour+".probability", s.Probability)}
			}
		}
		b.addWRED(w)
		q.WRED = value(b, at+"queues", at)
		return
	}
	curves, at := b.sp.ECN, "ecn."
	for i, r := range b.sp.ECNByRate {
		if r.Rate == p.rate {
			curves, at = r.ECN, fmt.Sprintf("ecn_by_rate.%d.ecn.", i)
		}
	}
	e, ok := curves[k]
	if !ok {
		return
	}
	at += strconv.Itoa(k)
	w := switchconf.WRED{Name: at, ECN: value(b, at, switchconf.ECNAll), PassNonECT: value(b, at, true), From: b.w.spec.origin(b.at + "." + at)}
	w.Colours[switchconf.Green] = switchconf.WREDCurve{Enable: value(b, at, true), Min: value(b, at+".kmin", e.Kmin), Max: value(b, at+".kmax", e.Kmax), Probability: value(b, at+".pmax", e.Pmax)}
	b.addWRED(w)
	q.WRED = value(b, at, at)
}

func (b *configBuilder) addWRED(w switchconf.WRED) {
	if b.sw.WREDProfile(w.Name) == nil {
		b.sw.WRED = append(b.sw.WRED, w)
	}
}

// scheduleOf adds how a queue is served.
func (b *configBuilder) scheduleOf(p *portUnder, k int, q *switchconf.Queue) {
	c, at := b.sp.Scheduler, "scheduler."
	if n := lastRule(b.sp.Schedulers, func(r *SchedulerRule) *PortMatch { return &r.PortMatch }, p); n >= 0 {
		c, at = b.sp.Schedulers[n].SchedulerSpec, fmt.Sprintf("schedulers.%d.", n)
	}
	s := switchconf.Scheduler{Name: at + strconv.Itoa(k)}
	if slices.Contains(c.Strict, k) {
		s.Type = value(b, at+"strict", switchconf.Strict)
	} else {
		s.Type, s.Weight = value(b, at+"weights", switchconf.DWRR), value(b, at+"weights", max(c.Weights[k], 1))
	}
	if b.sw.Scheduler(s.Name) == nil {
		b.sw.Schedulers = append(b.sw.Schedulers, s)
	}
	q.Scheduler = value(b, at+"strict", s.Name)
}

// watchdogOf adds the watchdog of a port.
func (b *configBuilder) watchdogOf(p *portUnder) {
	m, at := b.sp.Watchdog, "watchdog"
	if k := lastRule(b.sp.Watchdogs, func(r *WatchdogRule) *PortMatch { return &r.PortMatch }, p); k >= 0 {
		m, at = b.sp.Watchdogs[k].Watchdog, fmt.Sprintf("watchdogs.%d.watchdog", k)
	}
	e, err := fabric.Watchdogs.Lookup(m.Name)
	if err != nil {
		return
	}
	c, err := e.Build(m.Params)
	if err != nil || c.Watchdog == nil {
		return
	}
	at += "." + m.Name + "."
	b.sw.Watchdog.Poll = value(b, at+"poll", c.Poll)
	p.out.Watchdog.Detection, p.out.Watchdog.Restoration = value(b, at+"detect", c.Detect), value(b, at+"restore", c.Restore)
}
