package fluid

import "rdmasim/sim"

var _ = describe(Oracle{
	ID:       "loop_deadlock",
	Title:    "rate into a routing loop above which a lossless class deadlocks",
	Equation: "r > n B/TTL; counting link crossings strictly (a packet is dropped when its TTL reaches 0): r > n B/(TTL-1)",
	Source:   "Hu et al., Deadlocks in Datacenter Networks, HotNets'16, section 3; strict count by RFC 1812, section 5.3.1",
	Limits:   "n equal links in the loop; none below the first bound, certain well above the strict one",
})

// LoopDeadlockRate returns the published bound for a loop of n links.
// Source: the oracle loop_deadlock.
func LoopDeadlockRate(n int, link sim.Rate, ttl int) float64 {
	return float64(n) * float64(link) / float64(ttl)
}

// LoopDeadlockRateStrict returns the bound for TTL-1 crossings of the loop's
// links per packet. Source: the oracle loop_deadlock.
func LoopDeadlockRateStrict(n int, link sim.Rate, ttl int) float64 {
	return float64(n) * float64(link) / float64(ttl-1)
}
