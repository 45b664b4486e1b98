//go:build linux && (amd64 || arm64)

package ibv

import (
	"errors"
	"syscall"
	"time"
	"unsafe"
)

// waitReadable sleeps until a file descriptor can be read, at most so long.
func waitReadable(fd int, d time.Duration) error {
	type pollfd struct {
		fd      int32
		events  int16
		revents int16
	}
	p := pollfd{fd: int32(fd), events: 1 /* POLLIN */}
	ts := syscall.NsecToTimespec(int64(max(d, 0)))
	_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	if errno != 0 && !errors.Is(errno, syscall.EINTR) {
		return errno
	}
	return nil
}
