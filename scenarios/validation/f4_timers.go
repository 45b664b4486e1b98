package validation

import (
	"math"

	"rdmasim/scenarios"
	"rdmasim/sim"
)

var _ = register("F4", Row{
	Title: "timer codes of RNR NAKs and local ACK timeouts",
	Hard:  true,
	Explain: `RNR NAK timer: 32 codes from 0.01 to 655.36 ms; local ACK timeout 4.096 us * 2^n, 0 = infinite.
Source: InfiniBand Architecture volume 1, table 45 and 9.7.6.1.3; the enumeration IBV_RNR_TIMER of Linux's rdma_rxe, whose
61.41 ms for code 25 is a slip: the name of that code says 61.44.`,
	Measure: measureTimers,
})

// rnrTimers are the 32 delays of RNR NAKs by code.
var rnrTimers = [32]sim.Duration{655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720,
	40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520} // us

func measureTimers(b *Bench) error {
	b.Alike("RNR NAK timer, codes 0 to 31", 32, func(code int) (want, got any) {
		return rnrTimers[code] * sim.Microsecond, scenarios.RNRDelay(code)
	}, "IBA table 45")
	b.Alike("local ACK timeout, 1 to 31", 31, func(i int) (want, got any) {
		return 4096 * sim.Nanosecond << (i + 1), scenarios.AckTimeout(i + 1)
	}, "IBA 9.7.6.1.3")
	b.Exact("local ACK timeout 0", "never", map[bool]string{true: "never", false: "some time"}[scenarios.AckTimeout(0) == 0], "IBA 9.7.6.1.3")
	want, found := Line{Name: "4.096 us x 2^n", Oracle: true}, Line{Name: "local ACK timeout"}
	rnrWant, rnrFound := Line{Name: "table 45", Oracle: true}, Line{Name: "RNR NAK timer"}
	for n := 1; n < 32; n++ {
		want.at(float64(n), math.Ldexp(4.096e-6, n))
		found.at(float64(n), scenarios.AckTimeout(n).Seconds())
		rnrWant.at(float64(n), (rnrTimers[n] * sim.Microsecond).Seconds())
		rnrFound.at(float64(n), scenarios.RNRDelay(n).Seconds())
	}
	b.Draw(Curve{Name: "timers", Title: "Timers of a reliable connection by their codes", X: Axis{Label: "code"}, Y: Axis{Label: "time (s)", Log: true}, Lines: []Line{want, found, rnrWant, rnrFound}})
	return nil
}
