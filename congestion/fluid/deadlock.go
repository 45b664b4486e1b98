package fluid

import (
	"math"

	"rdmasim/sim"
)

var _ = describe(Oracle{
	ID:       "loop_deadlock",
	Title:    "rate into a routing loop above which a lossless class deadlocks",
	Equation: "r > n B/TTL; counting link crossings strictly (a packet is dropped when its TTL reaches 0): r > n B/(TTL-1)\nthe link by which packets enter is crossed most often, ceil((TTL-1)/n) times each: r > B/ceil((TTL-1)/n)",
	Source:   "Hu et al., Deadlocks in Datacenter Networks, HotNets'16, section 3; strict count by RFC 1812, section 5.3.1",
	Limits:   "n equal links in the loop. The first two bounds take the links to be loaded alike, which packets that enter at every switch do; the second is then exact, for TTL > 3. With one entry the third is exact, and lies below 0.9 of the first where n is large and TTL-1 a little above a multiple of it; for TTL-1 > 2n: with less a packet comes back once at most, so that the pauses of the port by which they enter, which PFC holds at B/2, are enough",
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

// LoopDeadlockRateExact returns the rate at which the link by which packets
// enter the loop is full. Source: the oracle loop_deadlock.
func LoopDeadlockRateExact(n int, link sim.Rate, ttl int) float64 {
	return float64(link) / math.Ceil(float64(ttl-1)/float64(n))
}
