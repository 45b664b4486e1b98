//go:build linux && (amd64 || arm64)

package ibv

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"rdmasim/verbs"
)

// pollFD is struct pollfd of poll(2).
type pollFD struct {
	fd      int32
	events  int16
	revents int16
}

// Wait sleeps until one of the channels has an event, at most so long.
func Wait(channels []verbs.CompletionChannel, d time.Duration) error {
	fds := make([]pollFD, len(channels))
	for i, c := range channels {
		h, ok := c.(*Channel)
		if !ok {
			return fmt.Errorf("%w: a channel of another provider", verbs.ErrInvalid)
		}
		fds[i] = pollFD{fd: at[objChannel](h.ch).FD, events: 1 /* POLLIN */}
	}
	if len(fds) == 0 {
		time.Sleep(max(d, 0))
		return nil
	}
	ts := syscall.NsecToTimespec(int64(max(d, 0)))
	_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)), uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	if errno != 0 && !errors.Is(errno, syscall.EINTR) {
		return errno
	}
	return nil
}
