package netem

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"
)

// Ioctls of ethtool. Source: linux/sockios.h and linux/ethtool.h.
const (
	siocEthtool       = 0x8946
	ethtoolGetStrings = 0x1b
	ethtoolGetStats   = 0x1d
	ethtoolSetInfo    = 0x37
	ethtoolStatsSet   = 1 // ETH_SS_STATS
	ethtoolNameBytes  = 32
)

// ifreq is struct ifreq with a pointer.
type ifreq struct {
	name [syscall.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte
}

// EthtoolStats reads the counters of an interface that "ethtool -S" prints, as
// that program does.
func EthtoolStats(dev string) (Counters, error) {
	if err := checkInterface(dev); err != nil {
		return nil, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	call := func(buf []byte) error {
		r := ifreq{data: unsafe.Pointer(&buf[0])}
		copy(r.name[:], dev)
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), siocEthtool, uintptr(unsafe.Pointer(&r))); errno != 0 {
			return fmt.Errorf("%w: counters of %s: %w", ErrNotSupported, dev, errno)
		}
		return nil
	}
	o := binary.NativeEndian
	info := make([]byte, 16+4) // struct ethtool_sset_info with one length
	o.PutUint32(info, ethtoolSetInfo)
	o.PutUint64(info[8:], 1<<ethtoolStatsSet)
	if err := call(info); err != nil {
		return nil, err
	}
	n := int(o.Uint32(info[16:]))
	if o.Uint64(info[8:])&(1<<ethtoolStatsSet) == 0 || n == 0 {
		return Counters{}, nil
	}
	if n > maxCounters {
		return nil, fmt.Errorf("%s says that it has %d counters", dev, n)
	}
	names := make([]byte, 12+n*ethtoolNameBytes)
	o.PutUint32(names, ethtoolGetStrings)
	o.PutUint32(names[4:], ethtoolStatsSet)
	o.PutUint32(names[8:], uint32(n))
	if err := call(names); err != nil {
		return nil, err
	}
	values := make([]byte, 8+8*n)
	o.PutUint32(values, ethtoolGetStats)
	o.PutUint32(values[4:], uint32(n))
	if err := call(values); err != nil {
		return nil, err
	}
	c := Counters{}
	for i := range min(n, int(o.Uint32(values[4:]))) {
		name, _, _ := bytes.Cut(names[12+i*ethtoolNameBytes:][:ethtoolNameBytes], []byte{0})
		if v := o.Uint64(values[8+8*i:]); v < 1<<63 && len(name) > 0 {
			c[string(bytes.TrimSpace(name))] = int64(v)
		}
	}
	return c, nil
}
