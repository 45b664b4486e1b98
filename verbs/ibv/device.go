//go:build linux && (amd64 || arm64)

package ibv

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// Devices returns the RDMA devices of this host; none is no error. Without
// libibverbs it returns verbs.ErrNotSupported with what to install.
func Devices() ([]verbs.Device, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	var all []verbs.Device
	err = l.each(func(_ uintptr, name string) (bool, error) {
		all = append(all, device{l, name})
		return false, nil
	})
	return all, err
}

// Lookup returns the device of a name.
func Lookup(name string) (verbs.Device, error) {
	all, err := Devices()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, d := range all {
		if d.Name() == name {
			return d, nil
		}
		names = append(names, d.Name())
	}
	if names == nil {
		names = []string{"none"}
	}
	return nil, fmt.Errorf("%w: there is no RDMA device %q; this host has %s", verbs.ErrInvalid, name, strings.Join(names, ", "))
}

// each calls f for the devices until it says that it is done.
func (l *library) each(f func(dev uintptr, name string) (done bool, err error)) error {
	return withC(int32(0), func(n *int32, addr uintptr) error {
		list, err := call("ibv_get_device_list", l.getDeviceList, addr)
		if err != nil {
			if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EPERM) || errors.Is(err, verbs.ErrNotSupported) {
				return fmt.Errorf("%w: the kernel has no RDMA subsystem (module ib_uverbs): %v", verbs.ErrNotSupported, err)
			}
			return err
		}
		defer call("ibv_free_device_list", l.freeDeviceList, list)
		for _, dev := range unsafe.Slice((*uintptr)(pointer(list)), int(*n)) {
			name, err := call("ibv_get_device_name", l.getDeviceName, dev)
			if err != nil {
				return err
			}
			if done, err := f(dev, goString(name)); done || err != nil {
				return err
			}
		}
		return nil
	})
}

type device struct {
	lib  *library
	name string
}

func (d device) Name() string { return d.name }

func (d device) Open() (verbs.Context, error) {
	c := &deviceContext{lib: d.lib, name: d.name, cqs: map[uintptr]*completionQueue{}, qps: map[uintptr]*queuePair{}, srqs: map[uintptr]*sharedQueue{}}
	err := d.lib.each(func(dev uintptr, name string) (bool, error) {
		if name != d.name {
			return false, nil
		}
		ctx, err := call("ibv_open_device "+name, d.lib.openDevice, dev)
		c.ctx = ctx
		return true, err
	})
	if err != nil {
		return nil, err
	}
	if c.ctx == 0 {
		return nil, fmt.Errorf("%w: the device %q is gone", verbs.ErrInvalid, d.name)
	}
	c.ops = &at[objContext](c.ctx).Ops
	if err := syscall.SetNonblock(int(at[objContext](c.ctx).AsyncFD), true); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// deviceContext is an open device. Everything but posting and polling goes
// through its mutex; a queue pair and a completion queue belong to one
// goroutine at a time, as the contract has it.
type deviceContext struct {
	lib  *library
	name string
	ctx  uintptr
	ops  *[32]uintptr

	mu       sync.Mutex
	children int // protection domains, completion queues and channels
	cqs      map[uintptr]*completionQueue
	qps      map[uintptr]*queuePair
	srqs     map[uintptr]*sharedQueue

	datagrams sync.Map // numbers of the UD queue pairs
}

func (c *deviceContext) count(n int) {
	c.mu.Lock()
	c.children += n
	c.mu.Unlock()
}

func (c *deviceContext) Query() (a verbs.DeviceAttr) {
	_ = withC(deviceAttr{}, func(d *deviceAttr, addr uintptr) error {
		if err := status("ibv_query_device", c.lib.queryDevice, c.ctx, addr); err != nil {
			return err
		}
		a = verbs.DeviceAttr{MaxQP: int(d.MaxQP), MaxQPWR: int(d.MaxQPWR), MaxSGE: int(d.MaxSGE), MaxCQ: int(d.MaxCQ), MaxCQE: int(d.MaxCQE),
			MaxMR: int(d.MaxMR), MaxMRSize: d.MaxMRSize, MaxPD: int(d.MaxPD), MaxSRQ: int(d.MaxSRQ), MaxSRQWR: int(d.MaxSRQWR),
			MaxRDAtomic: int(d.MaxQPInitRD), MaxDestRDAtomic: int(d.MaxQPRDAtomic), MaxAH: int(d.MaxAH), Ports: int(d.PhysicalPorts),
			AtomicsAreGlobal: d.AtomicCap == 2}
		return nil
	})
	return a
}

// Rates of a link: width code to lanes, speed code to Gb/s per lane after
// coding. Source: ibv_query_port(3).
var (
	laneCounts = map[uint8]int64{1: 1, 2: 4, 4: 8, 8: 12, 16: 2}
	laneSpeeds = map[uint8]float64{1: 2.5, 2: 5, 4: 10, 8: 10, 16: 14, 32: 25, 64: 50, 128: 100}
)

func (c *deviceContext) QueryPort(port uint8) (a verbs.PortAttr, err error) {
	err = withC(portAttr{}, func(p *portAttr, addr uintptr) error {
		if err := status("ibv_query_port", c.lib.queryPort, c.ctx, uintptr(port), addr); err != nil {
			return err
		}
		rate := float64(laneCounts[p.ActiveWidth]) * laneSpeeds[p.ActiveSpeed] * 1e9
		a = verbs.PortAttr{Active: p.State == 4, ActiveMTU: verbs.MTU(p.ActiveMTU), MaxMTU: verbs.MTU(p.MaxMTU), Rate: sim.Rate(rate),
			GIDs: int(p.GIDs), MaxMessage: sim.Bytes(p.MaxMsg), BadPKeys: p.BadPKey, QKeyFails: p.BadQKey}
		return nil
	})
	return a, err
}

func (c *deviceContext) QueryGID(port uint8, index int) (g verbs.GID, err error) {
	err = withC(verbs.GID{}, func(p *verbs.GID, addr uintptr) error {
		if err := status("ibv_query_gid", c.lib.queryGID, c.ctx, uintptr(port), uintptr(index), addr); err != nil {
			return err
		}
		g = *p
		return nil
	})
	return g, err
}

func (c *deviceContext) AllocPD() (verbs.ProtectionDomain, error) {
	pd, err := call("ibv_alloc_pd", c.lib.allocPD, c.ctx)
	if err != nil {
		return nil, err
	}
	c.count(1)
	return &protectionDomain{c: c, pd: pd}, nil
}

// Close closes the device.
func (c *deviceContext) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.children > 0 {
		return fmt.Errorf("%w: %d objects of %s are in use", verbs.ErrBusy, c.children, c.name)
	}
	if c.ctx == 0 {
		return fmt.Errorf("%w: the device is closed", verbs.ErrInvalid)
	}
	ctx := c.ctx
	c.ctx = 0
	return status("ibv_close_device", c.lib.closeDevice, ctx)
}

// asyncKinds translates ibv_event_type; what a RoCE device never tells is not in it.
var asyncKinds = map[uint32]verbs.AsyncKind{0: verbs.AsyncCQError, 1: verbs.AsyncQPFatal, 2: verbs.AsyncQPRequest, 3: verbs.AsyncQPAccess,
	4: verbs.AsyncCommEst, 5: verbs.AsyncSQDrained, 8: verbs.AsyncDeviceFatal, 9: verbs.AsyncPortActive, 10: verbs.AsyncPortError,
	14: verbs.AsyncSRQError, 15: verbs.AsyncSRQLimit, 16: verbs.AsyncQPLastWQE}

func (c *deviceContext) AsyncEvent() (e verbs.AsyncEvent, ok bool) {
	for !ok {
		err := withC(asyncEvent{}, func(p *asyncEvent, addr uintptr) error {
			if err := status("ibv_get_async_event", c.lib.getAsyncEvent, c.ctx, addr); err != nil {
				return err
			}
			e, ok = c.asyncEvent(p)
			_, _ = call("ibv_ack_async_event", c.lib.ackAsyncEvent, addr)
			return nil
		})
		if err != nil {
			return verbs.AsyncEvent{}, false
		}
	}
	return e, true
}

// asyncEvent translates an event; ok is false for kinds that the contract lacks.
func (c *deviceContext) asyncEvent(p *asyncEvent) (verbs.AsyncEvent, bool) {
	kind, ok := asyncKinds[p.Type]
	if !ok {
		return verbs.AsyncEvent{}, false
	}
	e := verbs.AsyncEvent{Kind: kind}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch kind {
	case verbs.AsyncCQError:
		if q := c.cqs[p.Element]; q != nil {
			e.CQ = q
		}
	case verbs.AsyncSRQError, verbs.AsyncSRQLimit:
		if q := c.srqs[p.Element]; q != nil {
			e.SRQ = q
		}
	case verbs.AsyncPortActive, verbs.AsyncPortError:
		e.Port = uint8(p.Element)
	case verbs.AsyncDeviceFatal:
	default:
		if q := c.qps[p.Element]; q != nil {
			e.QPN = q.QPN()
		}
	}
	return e, true
}
