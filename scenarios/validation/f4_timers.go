package validation

import (
	"fmt"

	"rdmasim/scenarios"
	"rdmasim/sim"
)

var _ = register("F4", Row{
	Title: "timer codes of RNR NAKs and local ACK timeouts",
	Hard:  true,
	Explain: `RNR NAK timer: 32 codes from 0.01 to 655.36 ms; local ACK timeout 4.096 us * 2^n, 0 = infinite.
Source: InfiniBand Architecture volume 1, table 45 and 9.7.6.1.3; the enumeration IBV_RNR_TIMER of Linux's rdma_rxe, whose
61.41 ms for code 25 is a slip: the name of that code says 61.44.`,
	Measure: func(b *Bench) error {
		want := [32]int64{655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720,
			40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520} // us
		var got [32]int64
		for code := range got {
			got[code] = int64(scenarios.RNRDelay(code) / sim.Microsecond)
		}
		b.Exact("RNR NAK timer, codes 0..31 (us)", fmt.Sprint(want), fmt.Sprint(got), "IBA table 45")
		for _, n := range []int{1, 8, 14, 18, 20, 31} {
			b.Exact(fmt.Sprintf("local ACK timeout %d (ns)", n), int64(4096)<<n, int64(scenarios.AckTimeout(n)/sim.Nanosecond), "IBA 9.7.6.1.3")
		}
		b.Exact("local ACK timeout 0", "never", map[bool]string{true: "never", false: "some time"}[scenarios.AckTimeout(0) == 0], "IBA 9.7.6.1.3")
		return nil
	},
})
