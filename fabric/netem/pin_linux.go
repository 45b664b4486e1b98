package netem

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// PinThread lets the calling thread, to which the goroutine must be locked, run on
// these processors only, and returns what gives it back those that it had.
func PinThread(cpus []int) (restore func(), err error) {
	if len(cpus) == 0 {
		return nil, errors.New("no processor to run on")
	}
	before := make([]uint64, maxCPU/64)
	size, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, uintptr(len(before)*8), uintptr(unsafe.Pointer(&before[0])))
	if errno != 0 {
		return nil, fmt.Errorf("sched_getaffinity: %w", errno)
	}
	set := func(mask []uint64) error {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, uintptr(len(mask)*8), uintptr(unsafe.Pointer(&mask[0]))); errno != 0 {
			return errno
		}
		return nil
	}
	mask := make([]uint64, maxCPU/64)
	for _, c := range cpus {
		if c < 0 || c >= maxCPU {
			return nil, fmt.Errorf("processor %d: want 0 to %d", c, maxCPU-1)
		}
		mask[c/64] |= 1 << (c % 64)
	}
	if err := set(mask); err != nil {
		return nil, fmt.Errorf("this thread may not be pinned to CPU %s: %w", ListCPUs(cpus), err)
	}
	return func() { _ = set(before[:max(1, int(size)/8)]) }, nil
}
