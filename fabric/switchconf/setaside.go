package switchconf

import "rdmasim/sim"

// SetAside is what a profile sets aside for a priority group.
type SetAside struct {
	Reserved sim.Bytes // guaranteed, before the shared pool is touched
	Headroom sim.Bytes // what may arrive after XOFF
	Shared   bool      // Headroom is taken from the headroom pool, and is its most
	InSize   bool      // Size holds Headroom (NVIDIA)
}

// SetAside reads size and xoff of a profile as the switch does. On NVIDIA size
// is xon and xoff together, or xon alone with a shared headroom pool; elsewhere
// it is a guaranteed minimum, and xoff comes on top. Without a known ASIC, a
// size of exactly xon + xoff tells NVIDIA.
func (s *Switch) SetAside(p *Profile) SetAside {
	h := SetAside{Reserved: p.Size.V, Headroom: p.Xoff.V, Shared: s.SharesHeadroom(p)}
	if a := LookupASIC(s.ASIC.V); a != nil {
		h.InSize = a.HeadroomInSize
	} else {
		h.InSize = p.Xoff.V > 0 && p.Size.V == p.Xon.V+p.Xoff.V
	}
	if h.InSize && p.Size.V >= p.Xoff.V && p.Size.V > p.Xon.V {
		h.Reserved = p.Size.V - p.Xoff.V
	}
	return h
}

// SharesHeadroom reports whether a profile takes its headroom from a pool that
// ports share: the pool has xoff, or the dynamic model over-subscribes.
func (s *Switch) SharesHeadroom(p *Profile) bool {
	if pool := s.Pool(p.Pool.V); pool != nil && pool.Xoff.V > 0 {
		return true
	}
	return s.Lossless.OverSubscribe.V > 0
}
