//go:build !linux

package netem

import "fmt"

// EthtoolStats returns ErrNotSupported: ethtool exists on Linux.
func EthtoolStats(dev string) (Counters, error) {
	return nil, fmt.Errorf("%w: counters of %s: ethtool needs Linux", ErrNotSupported, dev)
}
