//go:build !linux || !(amd64 || arm64)

package ibv

import (
	"fmt"
	"runtime"
	"time"

	"rdmasim/verbs"
)

// Devices returns verbs.ErrNotSupported: libibverbs exists on Linux.
func Devices() ([]verbs.Device, error) {
	return nil, fmt.Errorf("%w: real RDMA devices need Linux on amd64 or arm64, this is %s/%s", verbs.ErrNotSupported, runtime.GOOS, runtime.GOARCH)
}

// Lookup returns verbs.ErrNotSupported.
func Lookup(string) (verbs.Device, error) {
	_, err := Devices()
	return nil, err
}

// Wait returns verbs.ErrNotSupported.
func Wait([]verbs.CompletionChannel, time.Duration) error {
	_, err := Devices()
	return err
}
