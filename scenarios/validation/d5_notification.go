package validation

import (
	"fmt"

	"rdmasim/congestion"
	"rdmasim/sim"
)

var _ = register("D5", Row{
	Title: "DCQCN notification point",
	Hard:  true,
	Explain: `A CE packet is answered by a CNP at once if none was sent for its queue pair in the last N, else not at all.
CE at 0, 10, 49.9, 50, 120 us with N = 50 us: CNPs at 0, 50, 120 us. Queue pairs are independent.
Source: Zhu et al., SIGCOMM'15, section 3.1 (NP). The ns-3 model of the same author polls instead, which delays CNPs by up to N.`,
	Measure: measureNotification,
})

// cnps returns which of the CE packets, given in ns, are answered.
func cnps(n sim.Duration, marked ...int64) (sent []int64) {
	p := congestion.NotificationPoint{Interval: n}
	for _, t := range marked {
		if p.OnMarked(sim.Time(t) * sim.Time(sim.Nanosecond)) {
			sent = append(sent, t)
		}
	}
	return sent
}

func measureNotification(b *Bench) error {
	const source = "SIGCOMM'15 3.1"
	b.Exact("CE at 0 10 49.9 50 120 us, N 50 us: CNPs (ns)", []int64{0, 50_000, 120_000}, cnps(50*sim.Microsecond, 0, 10_000, 49_900, 50_000, 120_000), source)
	b.Exact("CE at 7 57 106.9 107 us, N 50 us: CNPs (ns)", []int64{7000, 57_000, 107_000}, cnps(50*sim.Microsecond, 7000, 57_000, 106_900, 107_000), source)
	b.Exact("CE each us for 17 us, N 4 us: CNPs (ns)", []int64{0, 4000, 8000, 12_000, 16_000}, cnps(4*sim.Microsecond, every(1000, 18)...), source)
	b.Exact("CE each 100 ns, N 0: every one", 10, len(cnps(0, every(100, 10)...)), source)
	// Two queue pairs, each with a point of its own.
	first, second := congestion.NotificationPoint{Interval: 50 * sim.Microsecond}, congestion.NotificationPoint{Interval: 50 * sim.Microsecond}
	at := sim.Time(10 * sim.Microsecond)
	b.Exact("a second queue pair", "true true false", fmt.Sprint(first.OnMarked(at), second.OnMarked(at), first.OnMarked(at)), source)
	return nil
}

// every returns n times, gap apart, from 0.
func every(gap int64, n int) []int64 {
	t := make([]int64, n)
	for i := range t {
		t[i] = int64(i) * gap
	}
	return t
}
