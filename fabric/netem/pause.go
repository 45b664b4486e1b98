package netem

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rdmasim/sim"
)

// RefusePause says why pause frames must not be sent by an interface: all that
// Refuse says, that it is no Ethernet interface that is up, or is a bridge or bond
// itself, whose frames leave by other links.
func RefusePause(root, dev string) string {
	if err := checkInterface(dev); err != nil {
		return err.Error()
	}
	base := filepath.Join(root, "sys/class/net", dev)
	if _, err := os.Stat(base); err != nil {
		return "there is no such interface"
	}
	if why := Refuse(root, dev); why != "" {
		return why
	}
	for _, m := range []string{"bridge", "bonding", "team"} {
		if _, err := os.Stat(filepath.Join(base, m)); err == nil {
			return "it is a bridge or a bond: name one link"
		}
	}
	const ethernet = "1" // ARPHRD_ETHER
	switch {
	case value(base, "type") != ethernet || strings.HasPrefix(value(base, "flags"), "0x") && loopback(value(base, "flags")):
		return "it is no Ethernet interface"
	case !up(root, dev):
		return "it is down"
	}
	return ""
}

// loopback reports whether flags have IFF_LOOPBACK, 0x8.
func loopback(flags string) bool {
	n, err := strconv.ParseUint(strings.TrimPrefix(flags, "0x"), 16, 32)
	return err == nil && n&8 != 0
}

// LinkSpeed returns the speed of an interface, 0 where the kernel does not tell.
func LinkSpeed(root, dev string) sim.Rate {
	n, err := strconv.ParseInt(value(filepath.Join(root, "sys/class/net", dev), "speed"), 10, 64)
	if err != nil || n <= 0 || n > 100_000_000 {
		return 0
	}
	return sim.Rate(n) * sim.Mbps
}

// PauseTime returns how long a pause of so many quanta lasts at a rate: a quantum is
// 512 bit times (IEEE 802.3 annex 31B.2).
func PauseTime(quanta uint16, rate sim.Rate) time.Duration {
	if rate <= 0 {
		return 0
	}
	return time.Duration(float64(quanta) * 512 / float64(rate) * float64(time.Second))
}

// TxPackets returns how many packets an interface has sent.
func TxPackets(root, dev string) (int64, error) {
	n, err := strconv.ParseInt(value(filepath.Join(root, "sys/class/net", dev, "statistics"), "tx_packets"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %s does not count what it sends", ErrNotSupported, dev)
	}
	return n, nil
}
