//go:build !linux

package netem

import "fmt"

// PinThread is for Linux.
func PinThread([]int) (restore func(), err error) {
	return nil, fmt.Errorf("%w: threads are pinned on Linux only", ErrNotSupported)
}
