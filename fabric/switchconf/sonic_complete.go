package switchconf

import (
	"fmt"
	"strings"

	"rdmasim/sim"
)

// identify finds the ASIC, on which cells and the meaning of fields depend.
func (r *sonicReader) identify(o Options) error {
	s := r.sw
	if o.Platform != "" {
		a := IdentifyASIC(o.Platform)
		if a == nil {
			names := namesOf(ASICs, func(a *ASIC) string { return a.Name })
			return &Error{From: Origin{Kind: Given, Path: "platform"}, Value: o.Platform, Problem: "no ASIC is known for it: want a platform or hwsku such as Arista-7060CX-32S, or one of " + strings.Join(names, ", ")}
		}
		r.asic(a, fmt.Sprintf("platform %s was given", o.Platform))
		return nil
	}
	for _, v := range []Value[string]{s.HWSKU, s.Platform} {
		if a := IdentifyASIC(v.V); v.IsSet() && a != nil {
			r.asic(a, v.From.Path+" is "+v.V)
			return nil
		}
	}
	return nil
}

// asic sets what follows from the chip.
func (r *sonicReader) asic(a *ASIC, why string) {
	r.sw.ASIC = Compute(a.Name, why)
	r.sw.Cell = Compute(a.Cell, "cell of "+a.Doc)
	if r.lookup == nil {
		if rows := shippedLookup(a.Name); rows != nil {
			r.lookup, r.lookupFrom = rows, "the table that SONiC ships for "+a.Doc
		}
	}
}

// autoProfile makes the profile that a name of the form
// pg_lossless_100000_40m_profile promises. It reports whether the name is
// dealt with.
func (r *sonicReader) autoProfile(ref reference) (bool, error) {
	speed, cable, ok := parseAutoName(ref.name)
	switch {
	case !ok:
		return false, nil
	case r.lookup == nil:
		r.mark(ref.leaf.from, "an automatic profile: its values are in pg_profile_lookup.ini, which is not among the files")
		return true, nil
	}
	row := exactLookup(r.lookup, speed, cable)
	if row == nil {
		r.mark(ref.leaf.from, fmt.Sprintf("an automatic profile: %s has no row for %v and %v", r.lookupFrom, speed, cable))
		return true, nil
	}
	return true, r.addAutoProfile(ref.name, row)
}

// losslessPool is the pool of automatic profiles (buffermgr.cpp of sonic-swss).
const losslessPool = "ingress_lossless_pool"

// addAutoProfile adds a profile with the values of a row.
func (r *sonicReader) addAutoProfile(name string, row *LookupRow) error {
	if len(r.sw.Profiles) >= 2*maxThings {
		return &Error{From: row.From, Problem: fmt.Sprintf("more than %d profiles", 2*maxThings)}
	}
	why := "row " + fmt.Sprintf("%d %dm", row.Speed/1_000_000, row.Cable/sim.Metre) + " of " + r.lookupFrom
	from := row.From
	from.Kind, from.Why = Computed, why
	at := func(column string) Origin {
		o := row.at(column)
		o.Kind, o.Why = Computed, why
		return o
	}
	size := func(column string, n sim.Bytes) Value[sim.Bytes] { return Value[sim.Bytes]{n, at(column)} }
	p := Profile{Name: name, Pool: Compute(losslessPool, "pool of automatic profiles"), Size: size("size", row.Size), Xon: size("xon", row.Xon), Xoff: size("xoff", row.Xoff), From: from}
	if row.HasOffset {
		p.XonOffset = size("xon_offset", row.XonOffset)
	}
	if pool := r.sw.Pool(losslessPool); pool != nil && pool.Mode.V == StaticPool || row.Threshold > 8 {
		p.StaticTh = size("threshold", sim.Bytes(row.Threshold))
	} else {
		p.DynamicTh = Value[int]{int(row.Threshold), at("threshold")}
	}
	r.sw.Profiles = append(r.sw.Profiles, p)
	return nil
}

// complete checks entries as a whole and fills in what SONiC would.
func (r *sonicReader) complete() error {
	if err := r.check(); err != nil {
		return err
	}
	r.bufferModel()
	r.defaultsOfProfiles()
	for i := range r.sw.Ports {
		if err := r.completePort(&r.sw.Ports[i]); err != nil {
			return err
		}
	}
	return nil
}

// check looks at entries as a whole.
func (r *sonicReader) check() error {
	for _, p := range r.sw.Pools {
		if !p.Type.IsSet() || !p.Mode.IsSet() {
			return &Error{From: p.From, Problem: "a pool needs type (ingress, egress or both) and mode (static or dynamic)"}
		}
	}
	for _, p := range r.sw.Profiles {
		if !p.Pool.IsSet() {
			return &Error{From: p.From, Problem: "a profile needs a pool"}
		}
	}
	for _, w := range r.sw.WRED {
		for c, k := range w.Colours {
			if k.Min.IsSet() && k.Max.IsSet() && k.Min.V > k.Max.V {
				return &Error{From: k.Min.From, Value: fmt.Sprint(int64(k.Min.V)), Problem: fmt.Sprintf("is above %s_max_threshold, %d: want at most that", Colour(c), int64(k.Max.V))}
			}
		}
	}
	return nil
}

// standIn puts a default where there is nothing, and says so.
func standIn[V any](r *sonicReader, at *Value[V], v V, from Origin, table, entry, name, why string) {
	if at.IsSet() {
		return
	}
	*at = Default(v, why)
	at.From.Path = pointer(table, entry, name)
	r.fields = append(r.fields, Field{Table: table, Key: entry, Name: name, Value: fmt.Sprint(v), From: Origin{Kind: Defaulted, File: from.File, Line: from.Line, Column: from.Column, Path: at.From.Path, Why: why}, Status: StandsIn, Doc: why})
}

// bufferModel finds who computes headroom where DEVICE_METADATA does not say.
func (r *sonicReader) bufferModel() {
	s := r.sw
	dynamic := r.tables["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]
	for _, p := range s.Ports {
		for _, g := range p.PGs {
			dynamic = dynamic || g.Auto
		}
	}
	if !s.BufferModel.IsSet() && dynamic {
		s.BufferModel = Compute(Dynamic, "DEFAULT_LOSSLESS_BUFFER_PARAMETER, or a BUFFER_PG whose profile is NULL")
		s.BufferModel.From.Path = pointer("DEVICE_METADATA", "localhost", "buffer_model")
	}
	standIn(r, &s.BufferModel, Traditional, Origin{}, "DEVICE_METADATA", "localhost", "buffer_model", "SONiC's default")
	if s.BufferModel.V != Dynamic {
		return
	}
	from := Origin{}
	standIn(r, &s.Lossless.MTU, 1024, from, "LOSSLESS_TRAFFIC_PATTERN", "AZURE", "mtu", "SONiC's default")
	standIn(r, &s.Lossless.SmallPackets, 0.5, from, "LOSSLESS_TRAFFIC_PATTERN", "AZURE", "small_packet_percentage", "SONiC's default, 50 %")
	standIn(r, &s.Lossless.DefaultDynamicTh, 0, from, "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", "default_dynamic_th", "SONiC's default")
	standIn(r, &s.Lossless.OverSubscribe, 0, from, "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", "over_subscribe_ratio", "headroom is not shared")
}

// defaultsOfProfiles fills in what profiles leave out.
func (r *sonicReader) defaultsOfProfiles() {
	s := r.sw
	for i := range s.WRED {
		w := &s.WRED[i]
		standIn(r, &w.ECN, ECNNone, w.From, "WRED_PROFILE", w.Name, "ecn", "SONiC's default: nothing is marked")
		for c := Green; c <= Red; c++ {
			k := &w.Colours[c]
			if k.Min.IsSet() || k.Max.IsSet() {
				standIn(r, &k.Enable, false, w.From, "WRED_PROFILE", w.Name, "wred_"+c.String()+"_enable", "SONiC's default: the curve does not hold")
			}
			if k.Enable.V {
				standIn(r, &k.Probability, 1, w.From, "WRED_PROFILE", w.Name, c.String()+"_drop_probability", "SONiC's default, 100 %")
			}
		}
	}
	for i := range s.Schedulers {
		x := &s.Schedulers[i]
		if x.Type.V == DWRR || x.Type.V == WRR {
			standIn(r, &x.Weight, 1, x.From, "SCHEDULER", x.Name, "weight", "SAI's default")
		}
	}
	watched := find(s.Ports, func(p *Port) bool { return p.Watchdog.Detection.IsSet() }) != nil
	if watched {
		standIn(r, &s.Watchdog.Poll, 200*sim.Millisecond, Origin{}, "PFC_WD", "GLOBAL", "POLL_INTERVAL", "default of pfcwd")
	}
}

// completePort fills in what a port leaves out.
func (r *sonicReader) completePort(p *Port) error {
	s := r.sw
	if p.Speed.IsSet() {
		standIn(r, &p.MTU, 9100, p.From, "PORT", p.Name, "mtu", "SONiC's default")
	}
	if w := &p.Watchdog; w.Detection.IsSet() {
		standIn(r, &w.Action, ActionDrop, p.From, "PFC_WD", p.Name, "action", "default of pfcwd")
		standIn(r, &w.Restoration, 2*w.Detection.V, p.From, "PFC_WD", p.Name, "restoration_time", "default of pfcwd: twice detection_time")
	}
	if !p.DSCPToTC.IsSet() && s.GlobalDSCPToTC.IsSet() {
		p.DSCPToTC = Value[string]{s.GlobalDSCPToTC.V, s.GlobalDSCPToTC.From}
		p.DSCPToTC.From.Kind, p.DSCPToTC.From.Why = Computed, "PORT_QOS_MAP global"
	}
	return r.automaticPGs(p)
}

// automaticPGs binds lossless priority groups where no file does: in the
// traditional model SONiC (buffermgrd) does so for each port with pfc_enable, a
// speed and a cable.
func (r *sonicReader) automaticPGs(p *Port) error {
	if r.sw.BufferModel.V == Dynamic {
		for i := range p.PGs {
			if g := &p.PGs[i]; g.Auto {
				if err := r.computedPG(p, g); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if !p.PFCEnable.IsSet() {
		return nil
	}
	for _, n := range p.PFCEnable.V {
		if p.PG(n) != nil {
			continue
		}
		g := PG{Index: n, Auto: true, From: Origin{Kind: Computed, Path: pointer("BUFFER_PG", fmt.Sprintf("%s|%d", p.Name, n)), Why: "SONiC binds lossless priority groups of pfc_enable by itself"}}
		if p.Speed.IsSet() && p.Cable.IsSet() {
			name := AutoProfileName(p.Speed.V, p.Cable.V)
			if row := exactLookup(r.lookup, p.Speed.V, p.Cable.V); r.sw.Profile(name) == nil && row != nil {
				if err := r.addAutoProfile(name, row); err != nil {
					return err
				}
			}
			if r.sw.Profile(name) != nil {
				g.Profile = Compute(name, "by speed and cable length")
			}
		}
		value := g.Profile.V
		if value == "" {
			value = "unknown: speed, cable length or pg_profile_lookup.ini is missing"
		}
		p.PGs = append(p.PGs, g)
		r.fields = append(r.fields, Field{Table: "BUFFER_PG", Key: fmt.Sprintf("%s|%d", p.Name, n), Name: "profile", Value: value, From: g.From, Status: StandsIn, Doc: g.From.Why})
	}
	sortPGs(p)
	return nil
}
