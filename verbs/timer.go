package verbs

import "rdmasim/sim"

// rnrTimer holds the RNR NAK timer of each code in units of 10 us.
// Source: InfiniBand Architecture, volume 1, table 45.
var rnrTimer = [32]int64{65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152}

// RNRTimer returns how long a requester waits after an RNR NAK of a timer
// code; only its low five bits count.
func RNRTimer(code uint8) sim.Duration {
	return sim.Duration(rnrTimer[code&31]) * 10 * sim.Microsecond
}

// AckTimeout returns the local ACK timeout T of a code: 4.096 us times 2^n,
// never for 0. A timer expires between T and 4T.
// Source: InfiniBand Architecture, volume 1, section 9.7.6.1.3.
func AckTimeout(code uint8) sim.Duration {
	if code == 0 {
		return 0
	}
	return 4096 * sim.Nanosecond << min(code, 31)
}

// MTU is a path MTU as verbs number it, ibv_mtu.
type MTU uint8

// Path MTUs.
const (
	MTU256 MTU = iota + 1
	MTU512
	MTU1024
	MTU2048
	MTU4096
)

// Bytes returns the payload of a full packet, 0 for what is no path MTU.
func (m MTU) Bytes() sim.Bytes {
	if m < MTU256 || m > MTU4096 {
		return 0
	}
	return 128 << m
}

// MTUOf returns the path MTU of so many bytes, 0 if there is none.
func MTUOf(n sim.Bytes) MTU {
	for m := MTU256; m <= MTU4096; m++ {
		if m.Bytes() == n {
			return m
		}
	}
	return 0
}

// InfiniteRNR is the rnr_retry that never gives up.
// Source: InfiniBand Architecture, volume 1, section 9.7.5.2.8.
const InfiniteRNR = 7
