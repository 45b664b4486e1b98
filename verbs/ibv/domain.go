//go:build linux && (amd64 || arm64)

package ibv

import (
	"errors"
	"fmt"
	"syscall"

	"rdmasim/verbs"
)

type protectionDomain struct {
	c  *deviceContext
	pd uintptr
}

// pinLimit explains a registration that failed for want of memory that may be
// pinned; vm.max_map_count has nothing to do with it.
func pinLimit(err error, n uint64) error {
	if !errors.Is(err, verbs.ErrNoMemory) {
		return err
	}
	var r syscall.Rlimit
	if syscall.Getrlimit(8 /* RLIMIT_MEMLOCK */, &r) != nil || r.Cur > n {
		return fmt.Errorf("registering %d bytes: ENOMEM", n)
	}
	return fmt.Errorf("registering %d bytes: ENOMEM: this process may pin %d bytes; raise RLIMIT_MEMLOCK (ulimit -l unlimited, or LimitMEMLOCK=infinity)", n, r.Cur)
}

func (p *protectionDomain) RegisterMemory(r verbs.MRParams) (verbs.MemoryRegion, error) {
	switch {
	case !r.Access.Valid():
		return nil, fmt.Errorf("%w: access flags %#x: remote write and remote atomic need local write", verbs.ErrInvalid, uint32(r.Access))
	case r.Length == 0 || r.Length > 1<<40:
		return nil, fmt.Errorf("%w: a region of %d bytes", verbs.ErrInvalid, r.Length)
	case r.Offset >= 4096:
		return nil, fmt.Errorf("%w: offset %d: less than 4096", verbs.ErrInvalid, r.Offset)
	}
	m, err := NewMemory(int(r.Offset+r.Length), r.Access&verbs.HugePages != 0)
	if err != nil {
		return nil, err
	}
	// HugePages is about where the memory comes from: what the library would
	// make of the flag is on-demand paging's business.
	access := r.Access &^ verbs.HugePages
	addr := m.Addr() + uintptr(r.Offset)
	mr, err := call("ibv_reg_mr", p.c.lib.regMR, p.pd, addr, uintptr(r.Length), uintptr(access))
	if err != nil {
		return nil, errors.Join(pinLimit(err, r.Length), m.Free())
	}
	return &memoryRegion{p: p, mr: mr, mem: m, bytes: m.Bytes[r.Offset:], access: r.Access}, nil
}

type memoryRegion struct {
	p      *protectionDomain
	mr     uintptr
	mem    *Memory
	bytes  []byte
	access verbs.Access
}

func (m *memoryRegion) Addr() uint64 {
	if m.mr == 0 {
		return 0
	}
	return uint64(at[objMR](m.mr).Addr)
}
func (m *memoryRegion) Bytes() []byte        { return m.bytes }
func (m *memoryRegion) LKey() uint32         { return at[objMR](m.mr).LKey }
func (m *memoryRegion) RKey() uint32         { return at[objMR](m.mr).RKey }
func (m *memoryRegion) Access() verbs.Access { return m.access }

func (m *memoryRegion) Deregister() error {
	if m.mr == 0 {
		return fmt.Errorf("%w: the region is gone", verbs.ErrInvalid)
	}
	if err := status("ibv_dereg_mr", m.p.c.lib.deregMR, m.mr); err != nil {
		return err
	}
	m.mr, m.bytes = 0, nil
	return m.mem.Free()
}

func (p *protectionDomain) CreateAH(a verbs.AHAttr) (verbs.AddressHandle, error) {
	h := &addressHandle{c: p.c, attr: a}
	err := withC(ahOf(&a), func(_ *ahAttr, addr uintptr) (err error) {
		h.ah, err = call("ibv_create_ah", p.c.lib.createAH, p.pd, addr)
		return err
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// AllocMW is not supported: no program of the product binds windows on hardware.
func (p *protectionDomain) AllocMW() (verbs.MemoryWindow, error) {
	return nil, fmt.Errorf("%w: memory windows of libibverbs devices", verbs.ErrNotSupported)
}

type addressHandle struct {
	c    *deviceContext
	ah   uintptr
	attr verbs.AHAttr
}

func (h *addressHandle) Attr() verbs.AHAttr { return h.attr }

func (h *addressHandle) Destroy() error {
	if h.ah == 0 {
		return fmt.Errorf("%w: the address handle is gone", verbs.ErrInvalid)
	}
	if err := status("ibv_destroy_ah", h.c.lib.destroyAH, h.ah); err != nil {
		return err
	}
	h.ah = 0
	return nil
}

func (p *protectionDomain) Dealloc() error {
	if err := status("ibv_dealloc_pd", p.c.lib.deallocPD, p.pd); err != nil {
		return err
	}
	p.c.count(-1)
	return nil
}

// ahOf translates an address; on RoCE there is always a global route.
func ahOf(a *verbs.AHAttr) ahAttr {
	hops := a.HopLimit
	if hops == 0 {
		hops = 64
	}
	return ahAttr{IsGlobal: 1, PortNum: a.Port, GRH: globalRoute{DGID: gidWords(a.DGID), FlowLabel: a.FlowLabel, SGIDIndex: uint8(a.SGIDIndex), HopLimit: hops, TrafficClass: a.TrafficClass}}
}

func ahFrom(a *ahAttr) verbs.AHAttr {
	return verbs.AHAttr{DGID: gidBytes(a.GRH.DGID), SGIDIndex: int(a.GRH.SGIDIndex), Port: a.PortNum, TrafficClass: a.GRH.TrafficClass, FlowLabel: a.GRH.FlowLabel, HopLimit: a.GRH.HopLimit}
}
