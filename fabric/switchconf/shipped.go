package switchconf

import "fmt"

// shippedLookup returns the rows of pg_profile_lookup.ini that ship with an
// ASIC, nil when none are known.
func shippedLookup(asic string) []LookupRow {
	m, err := lookupHeadroom(asic)
	if err != nil {
		return nil
	}
	var rows []LookupRow
	for _, speed := range m.speeds {
		for _, r := range rowsOf(asic, speed) {
			rows = append(rows, LookupRow{
				Speed: r.Speed, Cable: r.Cable, Size: r.Size, Xon: r.Xon, Xoff: r.Xoff, XonOffset: r.XonOffset, HasOffset: r.XonOffset > 0,
				Threshold: int64(r.DynamicTh), From: Origin{Kind: Computed, Why: r.Source},
			})
		}
	}
	return rows
}

// computedPG gives an automatic priority group of the dynamic model the profile
// that the switch would compute for it. Without speed, cable or formula it
// stays without one.
func (r *sonicReader) computedPG(p *Port, g *PG) error {
	s := r.sw
	if !p.Speed.IsSet() || !p.Cable.IsSet() || !s.ASIC.IsSet() {
		return nil
	}
	pool := s.Pool(losslessPool)
	share := s.Lossless.SmallPackets.V
	h, err := ComputeHeadroom(HeadroomQuery{
		ASIC: s.ASIC.V, Speed: p.Speed.V, Cable: p.Cable.V, Rule: DynamicHeadroom, MTU: p.MTU.V, LosslessMTU: s.Lossless.MTU.V, SmallPackets: &share,
		Lanes: lanesOf(p), SharedPool: s.Lossless.OverSubscribe.V > 0 || pool != nil && pool.Xoff.V > 0,
	})
	if err != nil {
		return nil // a chip without a formula, or a port that it does not have
	}
	name := fmt.Sprintf("pg_lossless_%d_%s_mtu%d_lanes%d_profile", p.Speed.V/1_000_000, p.Cable.V, p.MTU.V, lanesOf(p))
	why := fmt.Sprintf("headroom of %s for %v and %v by SONiC's formula", h.Name, p.Speed.V, p.Cable.V)
	if s.Profile(name) == nil {
		if len(s.Profiles) >= 2*maxThings {
			return &Error{From: p.From, Problem: fmt.Sprintf("more than %d profiles", 2*maxThings)}
		}
		q := Profile{Name: name, Pool: Compute(losslessPool, "pool of automatic profiles"), Size: Compute(h.Size, why), Xon: Compute(h.Xon, why), Xoff: Compute(h.Xoff, why),
			DynamicTh: Value[int]{s.Lossless.DefaultDynamicTh.V, s.Lossless.DefaultDynamicTh.From}, From: Origin{Kind: Computed, Why: why}}
		s.Profiles = append(s.Profiles, q)
	}
	from := g.Profile.From
	from.Why = why
	g.Profile = Value[string]{name, from}
	r.mark(from, why)
	return nil
}

// lanesOf returns the number of lanes if a headroom formula knows it, or 0.
func lanesOf(p *Port) int {
	switch n := len(p.Lanes.V); n {
	case 1, 2, 4, 8:
		return n
	}
	return 0
}
