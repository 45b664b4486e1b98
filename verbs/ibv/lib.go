//go:build linux && (amd64 || arm64)

package ibv

import (
	"bytes"
	"fmt"
	"sync"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"

	"rdmasim/verbs"
)

// libraryName is the name that libibverbs has kept since its ABI version 1.
const libraryName = "libibverbs.so.1"

// library holds the exported functions. Posting and polling are none of them:
// they are reached through ibv_context.ops.
type library struct {
	getDeviceList, freeDeviceList, getDeviceName, openDevice, closeDevice uintptr
	queryDevice, queryPort, queryGID                                      uintptr
	allocPD, deallocPD, regMR, deregMR                                    uintptr
	createCompChannel, destroyCompChannel, createCQ, destroyCQ, resizeCQ  uintptr
	getCQEvent, ackCQEvents, getAsyncEvent, ackAsyncEvent                 uintptr
	createQP, modifyQP, queryQP, destroyQP, createAH, destroyAH           uintptr
	createSRQ, modifySRQ, destroySRQ                                      uintptr
}

var load = sync.OnceValues(func() (*library, error) {
	h, err := purego.Dlopen(libraryName, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("%w: %s cannot be loaded (%v); on Debian: apt-get install libibverbs1 ibverbs-providers", verbs.ErrNotSupported, libraryName, err)
	}
	l := &library{}
	for name, f := range map[string]*uintptr{
		"ibv_get_device_list": &l.getDeviceList, "ibv_free_device_list": &l.freeDeviceList, "ibv_get_device_name": &l.getDeviceName,
		"ibv_open_device": &l.openDevice, "ibv_close_device": &l.closeDevice, "ibv_query_device": &l.queryDevice, "ibv_query_port": &l.queryPort,
		"ibv_query_gid": &l.queryGID, "ibv_alloc_pd": &l.allocPD, "ibv_dealloc_pd": &l.deallocPD, "ibv_reg_mr": &l.regMR, "ibv_dereg_mr": &l.deregMR,
		"ibv_create_comp_channel": &l.createCompChannel, "ibv_destroy_comp_channel": &l.destroyCompChannel, "ibv_create_cq": &l.createCQ,
		"ibv_destroy_cq": &l.destroyCQ, "ibv_resize_cq": &l.resizeCQ, "ibv_get_cq_event": &l.getCQEvent, "ibv_ack_cq_events": &l.ackCQEvents,
		"ibv_get_async_event": &l.getAsyncEvent, "ibv_ack_async_event": &l.ackAsyncEvent, "ibv_create_qp": &l.createQP, "ibv_modify_qp": &l.modifyQP,
		"ibv_query_qp": &l.queryQP, "ibv_destroy_qp": &l.destroyQP, "ibv_create_ah": &l.createAH, "ibv_destroy_ah": &l.destroyAH,
		"ibv_create_srq": &l.createSRQ, "ibv_modify_srq": &l.modifySRQ, "ibv_destroy_srq": &l.destroySRQ,
	} {
		if *f, err = purego.Dlsym(h, name); err != nil {
			return nil, fmt.Errorf("%w: %s has no %s: %v", verbs.ErrNotSupported, libraryName, name, err)
		}
	}
	return l, nil
})

// call calls a function that returns a pointer, 0 with errno on failure.
func call(what string, fn uintptr, args ...uintptr) (uintptr, error) {
	r, _, errno := purego.SyscallN(fn, args...)
	if r == 0 {
		return 0, failed(what, int(errno))
	}
	return r, nil
}

// status calls a function that returns 0, an errno, or -1 with errno.
func status(what string, fn uintptr, args ...uintptr) error {
	r, _, errno := purego.SyscallN(fn, args...)
	switch code := int(int32(r)); {
	case code == 0:
		return nil
	case code > 0:
		return failed(what, code)
	default:
		return failed(what, int(errno))
	}
}

// failed turns an errno into the error that the contract gives it.
func failed(what string, errno int) error {
	switch e := syscall.Errno(errno); e {
	case syscall.ENOMEM:
		return fmt.Errorf("%s: %w", what, verbs.ErrNoMemory)
	case syscall.EINVAL:
		return fmt.Errorf("%s: %w", what, verbs.ErrInvalid)
	case syscall.EBUSY:
		return fmt.Errorf("%s: %w", what, verbs.ErrBusy)
	case syscall.EOPNOTSUPP, syscall.ENOSYS:
		return fmt.Errorf("%s: %w by this device (%v)", what, verbs.ErrNotSupported, e)
	default:
		return fmt.Errorf("%s: %w", what, e)
	}
}

// goString copies a C string of at most 256 bytes.
func goString(p uintptr) string {
	if p == 0 {
		return ""
	}
	b := unsafe.Slice((*byte)(pointer(p)), 256)
	n := 0
	for n < len(b) && b[n] != 0 {
		n++
	}
	return string(bytes.Clone(b[:n]))
}

// pointer makes a pointer of an address that C gave. What lies there is not
// memory of Go, so that the collector does not mind.
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// at reads memory of C as one of the structs of abi.go.
func at[T any](p uintptr) *T { return (*T)(pointer(p)) }

// address returns the address of a value that C reads or writes during a call.
// Callers keep the value alive; it must lie on the heap or in an arena.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
