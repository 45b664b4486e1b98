package simnic

import (
	"fmt"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// Limits of a simulated device: those of current NICs, rounded.
const (
	maxQPWR    = 1 << 15
	maxSGE     = 30
	maxCQE     = 1 << 22
	maxInline  = 1 << 10
	maxRegions = 1 << 20
	maxMRSize  = 1 << 32 // a choice: memory of the simulator's own machine
	pageSize   = 4096
)

// errGone is what using something returns that has been destroyed.
func errGone(what string) error {
	return fmt.Errorf("%w: the %s has been destroyed", verbs.ErrInvalid, what)
}

// device is a NIC as a verbs.Device: queue pairs with memory.
type device struct{ n *NIC }

// Device returns the NIC as a device. It is an ErrNotSupported where the NIC is
// built without memory.
func (n *NIC) Device() (verbs.Device, error) {
	if n.cfg.Memory == nil {
		return nil, fmt.Errorf("%w: %s simulates sizes only", verbs.ErrNotSupported, n.cfg.Name)
	}
	return device{n}, nil
}

func (d device) Name() string { return d.n.cfg.Name }

func (d device) Open() (verbs.Context, error) { return &nicContext{dev: d}, nil }

// nicContext is an open device.
type nicContext struct {
	dev    device
	uses   int
	closed bool
	events []verbs.AsyncEvent
}

func (c *nicContext) Query() verbs.DeviceAttr {
	return verbs.DeviceAttr{MaxQP: 1<<16 - 2, MaxQPWR: maxQPWR, MaxSGE: maxSGE, MaxCQ: 1 << 20, MaxCQE: maxCQE, MaxMR: maxRegions, MaxMRSize: maxMRSize,
		MaxPD: 1 << 20, MaxSRQ: 1 << 20, MaxSRQWR: maxQPWR, MaxInline: maxInline, MaxRDAtomic: maxResources, MaxDestRDAtomic: maxResources, MaxAH: 1 << 20,
		Ports: 1, AtomicsAreGlobal: true}
}

func (c *nicContext) checkPort(port uint8) error {
	if port != 1 {
		return fmt.Errorf("%w: port %d: there is only port 1", verbs.ErrInvalid, port)
	}
	return nil
}

func (c *nicContext) mtu() verbs.MTU {
	n := c.dev.n
	for m := verbs.MTU4096; m > verbs.MTU256; m-- {
		if m.Bytes() <= sim.Bytes(n.cfg.Sizes.Payload) {
			return m
		}
	}
	return verbs.MTU256
}

func (c *nicContext) QueryPort(port uint8) (verbs.PortAttr, error) {
	if err := c.checkPort(port); err != nil {
		return verbs.PortAttr{}, err
	}
	return verbs.PortAttr{Active: true, ActiveMTU: c.mtu(), MaxMTU: verbs.MTU4096, Rate: c.dev.n.LineRate(0), GIDs: 1, MaxMessage: verbs.MaxMessage,
		QKeyFails: c.dev.n.qkeyFails}, nil
}

func (c *nicContext) QueryGID(port uint8, index int) (verbs.GID, error) {
	if err := c.checkPort(port); err != nil {
		return verbs.GID{}, err
	}
	if index != 0 {
		return verbs.GID{}, fmt.Errorf("%w: GID index %d: want 0", verbs.ErrInvalid, index)
	}
	return GIDOf(c.dev.n.cfg.Endpoints[0]), nil
}

// GIDOf returns the address of an endpoint: the IPv4 address 10.0.0.1 + endpoint.
func GIDOf(endpoint int32) verbs.GID {
	e := uint32(endpoint) + 1
	return verbs.GID{10: 0xff, 11: 0xff, 12: 10, 13: byte(e >> 16), 14: byte(e >> 8), 15: byte(e)}
}

// endpointOf returns the endpoint of an address, -1 if there is none.
func (n *NIC) endpointOf(g verbs.GID) int32 {
	e := int32(g[13])<<16 | int32(g[14])<<8 | int32(g[15]) - 1
	if e < 0 || int(e) >= len(n.cfg.Memory.rings) || GIDOf(e) != g {
		return -1
	}
	return e
}

func (c *nicContext) AllocPD() (verbs.ProtectionDomain, error) {
	if c.closed {
		return nil, errGone("context")
	}
	c.uses++
	return &protectionDomain{ctx: c}, nil
}

func (c *nicContext) AsyncEvent() (verbs.AsyncEvent, bool) {
	if len(c.events) == 0 {
		return verbs.AsyncEvent{}, false
	}
	e := c.events[0]
	c.events = c.events[1:]
	return e, true
}

// maxEvents bounds the events that nobody takes.
const maxEvents = 1 << 12

func (c *nicContext) tell(e verbs.AsyncEvent) {
	if len(c.events) < maxEvents {
		c.events = append(c.events, e)
	}
}

func (c *nicContext) Close() error {
	if c.closed {
		return errGone("context")
	}
	if c.uses > 0 {
		return fmt.Errorf("%w: %d objects of the context still exist", verbs.ErrBusy, c.uses)
	}
	c.closed = true
	return nil
}

// protectionDomain ties memory to queue pairs.
type protectionDomain struct {
	ctx  *nicContext
	uses int
	dead bool
}

func (p *protectionDomain) RegisterMemory(a verbs.MRParams) (verbs.MemoryRegion, error) {
	n := p.ctx.dev.n
	switch {
	case p.dead:
		return nil, errGone("protection domain")
	case a.Length == 0 || a.Length > maxMRSize:
		return nil, fmt.Errorf("%w: memory region of %d bytes: want 1..%d", verbs.ErrInvalid, a.Length, uint64(maxMRSize))
	case !a.Access.Valid():
		return nil, fmt.Errorf("%w: access %#x: remote write and atomic need local write", verbs.ErrInvalid, uint32(a.Access))
	case a.Offset >= pageSize:
		return nil, fmt.Errorf("%w: offset %d: want less than %d", verbs.ErrInvalid, a.Offset, pageSize)
	}
	slot := -1
	for i := len(n.regions) - 1; i >= 0 && i >= len(n.regions)-64; i-- {
		if n.regions[i] == nil {
			slot = i
		}
	}
	if slot < 0 {
		if len(n.regions) >= maxRegions {
			return nil, fmt.Errorf("%w: %d memory regions", verbs.ErrNoMemory, maxRegions)
		}
		slot = len(n.regions)
		n.regions = append(n.regions, nil)
	}
	n.keys++
	r := &mr{pd: p, addr: n.nextAddr + a.Offset, mem: make([]byte, a.Length), key: uint32(slot+1)<<8 | uint32(n.keys&0xff), access: a.Access}
	n.nextAddr += (a.Offset+a.Length+2*pageSize-1)/pageSize*pageSize + pageSize
	n.regions[slot] = r
	p.uses++
	return r, nil
}

func (p *protectionDomain) CreateAH(a verbs.AHAttr) (verbs.AddressHandle, error) {
	if p.dead {
		return nil, errGone("protection domain")
	}
	h := &addressHandle{pd: p, attr: a, endpoint: p.ctx.dev.n.endpointOf(a.DGID)}
	if err := p.ctx.checkPort(a.Port); err != nil {
		return nil, err
	}
	if h.endpoint < 0 {
		return nil, fmt.Errorf("%w: nobody has the address %x", verbs.ErrInvalid, a.DGID)
	}
	p.uses++
	return h, nil
}

func (p *protectionDomain) Dealloc() error {
	if p.dead {
		return errGone("protection domain")
	}
	if p.uses > 0 {
		return fmt.Errorf("%w: %d objects of the protection domain still exist", verbs.ErrBusy, p.uses)
	}
	p.dead = true
	p.ctx.uses--
	return nil
}

// addressHandle is a way to an endpoint.
type addressHandle struct {
	pd       *protectionDomain
	attr     verbs.AHAttr
	endpoint int32
	dead     bool
}

func (h *addressHandle) Attr() verbs.AHAttr { return h.attr }

func (h *addressHandle) Destroy() error {
	if h.dead {
		return errGone("address handle")
	}
	h.dead = true
	h.pd.uses--
	return nil
}
