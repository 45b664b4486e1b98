package hardware

import (
	"errors"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// region is registered memory; it is replaced by a larger one when a message
// needs that, and kept as long as requests may use it.
type region struct {
	mr  verbs.MemoryRegion
	old []verbs.MemoryRegion

	far farMemory // of another agent: what it has said
	ask func(n sim.Bytes) (farMemory, error)
}

// farMemory is registered memory of another agent.
type farMemory struct {
	addr uint64
	rkey uint32
	size sim.Bytes
}

// remote returns address and key for requests of the peer.
func (r *region) remote() (addr uint64, rkey uint32) {
	if r.ask != nil {
		return r.far.addr, r.far.rkey
	}
	return r.mr.Addr(), r.mr.RKey()
}

// minRegion is what a region has at first.
const minRegion = 1 << 20

func (r *region) grow(e *endpoint, n sim.Bytes) (err error) {
	if r.ask != nil {
		if n > r.far.size {
			r.far, err = r.ask(n)
		}
		return err
	}
	if r.mr != nil && sim.Bytes(len(r.mr.Bytes())) >= n {
		return nil
	}
	size := uint64(minRegion)
	for size < uint64(n) {
		size *= 2
	}
	access := verbs.LocalWrite | verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic
	if e.huge {
		access |= verbs.HugePages
	}
	mr, err := e.pd.RegisterMemory(verbs.MRParams{Length: size, Access: access})
	if err != nil {
		return err
	}
	if r.mr != nil {
		r.old = append(r.old, r.mr)
	}
	r.mr = mr
	return nil
}

func (r *region) free() error {
	var errs []error
	for _, m := range append(r.old, r.mr) {
		if m != nil {
			errs = append(errs, m.Deregister())
		}
	}
	return errors.Join(errs...)
}

// slots number outstanding requests.
type slots struct {
	list []slot
	free []uint32
}

type slot struct {
	wr     verbs.WorkRequest
	length sim.Bytes
	posted sim.Time
	id     uint64
	used   bool
}

func (s *slots) take(v slot) uint64 {
	v.used = true
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		s.list[i] = v
		return uint64(i)
	}
	s.list = append(s.list, v)
	return uint64(len(s.list) - 1)
}

func (s *slots) give(i uint64) (slot, bool) {
	if i >= uint64(len(s.list)) || !s.list[i].used {
		return slot{}, false
	}
	v := s.list[i]
	s.list[i] = slot{}
	s.free = append(s.free, uint32(i))
	return v, true
}
