package hardware

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// frameSender returns a function that sends a frame by an interface.
func frameSender(dev *net.Interface, frame []byte) (send func() error, done func(), err error) {
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("a raw socket: %w", err)
	}
	to := &syscall.SockaddrLinklayer{Ifindex: dev.Index, Halen: 6}
	send = func() error {
		err := syscall.Sendto(fd, frame, 0, to)
		if errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.EAGAIN) {
			return nil
		}
		return err
	}
	return send, func() { _ = syscall.Close(fd) }, nil
}
