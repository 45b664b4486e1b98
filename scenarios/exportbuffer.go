package scenarios

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"rdmasim/fabric"
	"rdmasim/fabric/switchconf"
)

// Names that SONiC's templates have.
const (
	azure           = "AZURE"
	azureLossless   = "AZURE_LOSSLESS"
	ingressPool     = "ingress_lossless_pool"
	egressPool      = "egress_lossless_pool"
	egressLossyPool = "egress_lossy_pool"
)

// groups exports the priority groups of the lossless classes of a port.
func (x *exporter) groups(p *exportPort, out *switchconf.Port) error {
	done := map[int]bool{}
	for _, k := range p.lossless {
		g := k
		if to, ok := p.maps.TCToGroup[k]; ok {
			g = to
		}
		if done[g] {
			continue
		}
		done[g] = true
		rule, path := x.sp.groupRule(), x.at+".buffer"
		for i := range x.sp.Buffer.Groups {
			if r := &x.sp.Buffer.Groups[i]; slices.Contains(r.Groups, g) && r.matches(p.index, p.rate, p.peer) {
				rule, path = *r, fmt.Sprintf("%s.buffer.groups.%d", x.at, i)
			}
		}
		f, err := x.profile(p, &rule, path)
		if err != nil {
			return err
		}
		x.rooms += rule.Reserve
		if x.sp.Buffer.HeadroomPool == 0 {
			x.rooms += f.Xoff.V
		}
		base := switchconf.AutoProfileName(p.rate, p.cable)
		if old := p.base.PG(g); old != nil && old.Profile.V != "" {
			base = old.Profile.V
		}
		name := addNamed(x, &x.sw.Profiles, base, f, func(f *switchconf.Profile) *string { return &f.Name })
		out.PGs = append(out.PGs, switchconf.PG{Index: g, Profile: switchconf.Of(name)})
	}
	slices.SortFunc(out.PGs, func(a, b switchconf.PG) int { return a.Index - b.Index })
	return nil
}

// profile is the buffer profile that a rule makes.
func (x *exporter) profile(p *exportPort, r *GroupRule, path string) (f switchconf.Profile, err error) {
	f.Pool = switchconf.Of(ingressPool)
	if r.Pool != "" {
		f.Pool = switchconf.Of(r.Pool)
	} else if i := x.sp.Buffer.pool("", "ingress"); len(x.sp.Buffer.Pools) > 0 && i >= 0 {
		f.Pool = switchconf.Of(x.sp.Buffer.Pools[i].Name)
	}
	headroom := r.Headroom.Value
	if r.Headroom.Auto {
		headroom = x.w.headroom(x.node, p.index, x.sp, p.config)
	}
	size := r.Reserve
	if x.asic != nil && x.asic.HeadroomInSize {
		size += r.Xon
		if x.sp.Buffer.HeadroomPool == 0 {
			size += headroom
		}
	}
	f.Size, f.Xoff = switchconf.Of(size), switchconf.Of(headroom)
	f.Xon, f.XonOffset = switchconf.Of(r.Xon), switchconf.Of(r.XonOffset)
	switch t := r.Threshold.Params.(type) {
	case fabric.DynamicParams:
		n, err := x.exponent(path+".threshold.dynamic.alpha", t.Alpha)
		f.DynamicTh = switchconf.Of(n)
		return f, err
	case fabric.StaticParams:
		f.StaticTh = switchconf.Of(t.Bytes)
	default:
		if i := slices.IndexFunc(x.sp.Buffer.Pools, func(o PoolSpec) bool { return o.Name == f.Pool.V }); i >= 0 && x.sp.Buffer.Pools[i].Mode == "static" {
			f.StaticTh = switchconf.Of(x.sp.Buffer.Pools[i].Size)
			return f, nil
		}
		n, err := x.exponent(x.at+".buffer.alpha", x.sp.Buffer.Alpha)
		f.DynamicTh = switchconf.Of(n)
		return f, err
	}
	return f, nil
}

// addNamed adds a thing to a list under a name of its own, unless the list has
// one that differs only in its name; it returns the name. Where the switch has
// names already, the one that is asked for goes before any that is alike.
func addNamed[T any](x *exporter, list *[]T, base string, t T, name func(*T) *string) string {
	same := func(o T) bool {
		*name(&o) = *name(&t)
		return reflect.DeepEqual(o, t)
	}
	called := func(n string) int { return slices.IndexFunc(*list, func(o T) bool { return *name(&o) == n }) }
	if i := called(base); i >= 0 && same((*list)[i]) {
		return base
	}
	if i := slices.IndexFunc(*list, same); i >= 0 && (x.base == nil || called(base) >= 0) {
		return *name(&(*list)[i])
	}
	free := base
	for n := 2; called(free) >= 0; n++ {
		free = fmt.Sprintf("%s_%d", base, n)
	}
	*name(&t) = free
	*list = append(*list, t)
	return free
}

// pools exports the pools; what headroom and reserves take is not shared.
func (x *exporter) pools() {
	b := &x.sp.Buffer
	if len(b.Pools) == 0 {
		pool := switchconf.Pool{Name: ingressPool, Type: switchconf.Of(switchconf.Ingress), Mode: switchconf.Of(switchconf.DynamicPool), Size: switchconf.Of(max(b.Size-x.rooms-b.HeadroomPool, 0))}
		if b.HeadroomPool > 0 {
			pool.Xoff = switchconf.Of(b.HeadroomPool)
		}
		x.sw.Pools = append(x.sw.Pools, pool,
			switchconf.Pool{Name: egressPool, Type: switchconf.Of(switchconf.Egress), Mode: switchconf.Of(switchconf.StaticPool), Size: switchconf.Of(b.Size)},
			switchconf.Pool{Name: egressLossyPool, Type: switchconf.Of(switchconf.Egress), Mode: switchconf.Of(switchconf.DynamicPool), Size: switchconf.Of(b.Size)})
		return
	}
	for _, p := range b.Pools {
		pool := switchconf.Pool{Name: p.Name, Type: switchconf.Of(switchconf.Direction(p.Side)), Mode: switchconf.Of(switchconf.PoolMode(p.Mode)), Size: switchconf.Of(p.Size)}
		if p.Headroom > 0 {
			pool.Xoff = switchconf.Of(p.Headroom)
		}
		x.sw.Pools = append(x.sw.Pools, pool)
	}
}

// queues exports curves, schedulers and buffers of the queues of a port.
func (x *exporter) queues(p *exportPort, out *switchconf.Port) error {
	curves := x.sp.ECN
	for _, r := range x.sp.ECNByRate {
		if r.Rate == p.rate {
			curves = r.ECN
		}
	}
	lossless := map[int]bool{}
	for _, k := range p.lossless {
		q := k
		if to, ok := p.maps.TCToQueue[k]; ok {
			q = to
		}
		lossless[q] = true
	}
	for k := range 8 {
		q, old := switchconf.Queue{Index: k}, &switchconf.Queue{}
		if o := p.base.Queue(k); o != nil {
			old = o
		}
		if err := x.queueBuffer(p, k, lossless[k], &q, old); err != nil {
			return err
		}
		if w, ok := x.curve(p, k, curves); ok {
			q.WRED = switchconf.Of(addNamed(x, &x.sw.WRED, cmp.Or(old.WRED.V, azureLossless), w, func(w *switchconf.WRED) *string { return &w.Name }))
		}
		x.schedule(p, k, &q, old)
		out.Queues = append(out.Queues, q)
	}
	return nil
}

// curve is the WRED profile of a queue.
func (x *exporter) curve(p *exportPort, k int, curves map[int]ECNSpec) (w switchconf.WRED, ok bool) {
	for i := range x.sp.WRED {
		if r := &x.sp.WRED[i]; slices.Contains(r.Queues, k) && r.matches(p.index, p.rate, p.peer) {
			w, ok = wredOf(r), true
			if r.MarkAt != "dequeue" || r.Above != "all" || r.NonECT != "drop" {
				x.lack(k, switchconf.FieldECN, r.MarkAt+", "+r.Above+", "+r.NonECT, "mark_at, above_max and non_ect are what the ASIC does")
			}
		}
	}
	if e, found := curves[k]; found && !ok {
		w.ECN = switchconf.Of(switchconf.ECNAll)
		w.Colours[switchconf.Green] = switchconf.WREDCurve{Enable: switchconf.Of(true), Min: switchconf.Of(e.Kmin), Max: switchconf.Of(e.Kmax), Probability: switchconf.Of(e.Pmax)}
		if e.Above != "mark_all" {
			x.lack(k, switchconf.FieldECN, "above_kmax: "+e.Above, "what happens above kmax is what the ASIC does")
		}
		return w, true
	}
	return w, ok
}

func wredOf(r *WREDRule) (w switchconf.WRED) {
	w.ECN = switchconf.Of(switchconf.ECNMode("ecn_" + r.ECN))
	for c, s := range []CurveSpec{r.Green, r.Yellow, r.Red} {
		if s.Set {
			w.Colours[c] = switchconf.WREDCurve{Enable: switchconf.Of(true), Min: switchconf.Of(s.Min), Max: switchconf.Of(s.Max), Probability: switchconf.Of(s.Probability)}
		}
	}
	return w
}

// queueBuffer exports how much a queue may hold.
func (x *exporter) queueBuffer(p *exportPort, k int, lossless bool, q, old *switchconf.Queue) error {
	rule, path := x.sp.queueRule(), x.at+".buffer"
	for i := range x.sp.Buffer.Queues {
		if r := &x.sp.Buffer.Queues[i]; slices.Contains(r.Queues, k) && r.matches(p.index, p.rate, p.peer) {
			rule, path = *r, fmt.Sprintf("%s.buffer.queues.%d", x.at, i)
		}
	}
	if x.base != nil && old.Profile.V == "" {
		return nil // the switch bounds this queue by nothing of its own
	}
	pools := len(x.sp.Buffer.Pools) > 0
	f := switchconf.Profile{Size: switchconf.Of(rule.Reserve)}
	name := "egress_lossy_profile"
	switch {
	case rule.Pool != "":
		f.Pool = switchconf.Of(rule.Pool)
	case pools:
		i := x.sp.Buffer.pool("", "egress")
		if i < 0 {
			return nil // no pool bounds queues
		}
		f.Pool = switchconf.Of(x.sp.Buffer.Pools[i].Name)
	case lossless:
		f.Pool = switchconf.Of(egressPool)
	default:
		f.Pool = switchconf.Of(egressLossyPool)
	}
	if lossless {
		name = "egress_lossless_profile"
	}
	switch t := rule.Threshold.Params.(type) {
	case fabric.DynamicParams:
		n, err := x.exponent(path+".threshold.dynamic.alpha", t.Alpha)
		if err != nil {
			return err
		}
		f.DynamicTh = switchconf.Of(n)
	case fabric.StaticParams:
		f.StaticTh = switchconf.Of(t.Bytes)
	default:
		if lossless { // never dropped on egress
			f.StaticTh = switchconf.Of(x.sp.Buffer.Size)
			break
		}
		n, err := x.exponent(x.at+".buffer.egress_alpha", x.sp.Buffer.EgressAlpha)
		if err != nil {
			return err
		}
		f.DynamicTh = switchconf.Of(n)
	}
	q.Profile = switchconf.Of(addNamed(x, &x.sw.Profiles, cmp.Or(old.Profile.V, name), f, func(f *switchconf.Profile) *string { return &f.Name }))
	return nil
}

// schedule exports how a queue is served.
func (x *exporter) schedule(p *exportPort, k int, q, old *switchconf.Queue) {
	s := switchconf.Scheduler{}
	switch {
	case slices.Contains(p.schedule.Strict, k):
		s.Type = switchconf.Of(switchconf.Strict)
	default:
		s.Type, s.Weight = switchconf.Of(switchconf.DWRR), switchconf.Of(max(p.schedule.Weights[k], 1))
		if p.schedule.Quantum == 0 && len(p.schedule.Groups) == 0 {
			s.Type = switchconf.Of(switchconf.WRR)
		}
	}
	if floor, ok := p.schedule.Floor[k]; ok {
		s.Min = switchconf.Of(floor.Rate)
		if floor.Burst > 0 {
			s.MinBurst = switchconf.Of(floor.Burst)
		}
	}
	if shape, ok := p.schedule.Shape[k]; ok {
		s.Max = switchconf.Of(shape.Rate)
		if shape.Burst > 0 {
			s.MaxBurst = switchconf.Of(shape.Burst)
		}
	}
	if len(p.schedule.Groups) > 0 {
		x.lack(k, "ets groups", fmt.Sprint(len(p.schedule.Groups)), "groups of queues are not exported")
	}
	if x.base != nil && old.Scheduler.V == "" && s.Type.V != switchconf.Strict && s.Weight.V == 1 && !s.Max.IsSet() && !s.Min.IsSet() {
		return // as a queue without a scheduler is served
	}
	q.Scheduler = switchconf.Of(addNamed(x, &x.sw.Schedulers, cmp.Or(old.Scheduler.V, fmt.Sprintf("scheduler.%d", len(x.sw.Schedulers))), s, func(s *switchconf.Scheduler) *string { return &s.Name }))
}

// maps exports the maps of a port.
func (x *exporter) maps(p *exportPort, out *switchconf.Port) {
	name := func(m *switchconf.Map) *string { return &m.Name }
	add := func(list *[]switchconf.Map, old string, m map[int]int, keys int, identity bool) switchconf.Value[string] {
		t := switchconf.Map{}
		if x.base != nil && old == "" && len(m) == 0 {
			return switchconf.Value[string]{} // the switch has no map, and needs none
		}
		for k := range keys {
			to, ok := m[k]
			if !ok && identity {
				to, ok = k, true
			}
			if ok {
				t.Entries = append(t.Entries, switchconf.Entry{Key: k, To: to})
			}
		}
		return switchconf.Of(addNamed(x, list, cmp.Or(old, azure), t, name))
	}
	if p.maps.Trust == "pcp" {
		out.PCPToTC = add(&x.sw.PCPToTC, p.base.PCPToTC.V, p.maps.PCPMap, 8, true)
	} else if len(p.maps.DSCPMap) > 0 {
		out.DSCPToTC = add(&x.sw.DSCPToTC, p.base.DSCPToTC.V, p.maps.DSCPMap, 64, false)
	}
	out.TCToQueue = add(&x.sw.TCToQueue, p.base.TCToQueue.V, p.maps.TCToQueue, 8, true)
	out.TCToPG = add(&x.sw.TCToPG, p.base.TCToPG.V, p.maps.TCToGroup, 8, true)
	out.PFCToQueue = add(&x.sw.PFCToQueue, p.base.PFCToQueue.V, p.maps.PFCToQueue, 8, true)
	if len(p.maps.PFCToGroup) > 0 {
		out.PFCToPG = add(&x.sw.PFCToPG, p.base.PFCToPG.V, p.maps.PFCToGroup, 8, true)
	}
	for _, c := range slices.Sorted(maps.Keys(x.sp.ColorMap)) {
		x.lack(-1, "color_map", fmt.Sprintf("DSCP %d: %s", c, x.sp.ColorMap[c]), "colours are not exported")
	}
}
