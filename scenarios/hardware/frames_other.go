//go:build !linux

package hardware

import (
	"fmt"
	"net"

	"rdmasim/verbs"
)

func frameSender(*net.Interface, []byte) (func() error, func(), error) {
	return nil, nil, fmt.Errorf("%w: raw frames need Linux", verbs.ErrNotSupported)
}
