package fluid

import "math"

var _ = describe(Oracle{
	ID:       "ecmp_collisions",
	Title:    "how many of M equal paths N hashed flows use, and what that leaves per flow",
	Equation: "E[used] = M (1-(1-1/M)^N); mean throughput of line-rate flows = E[used]/N; P(no collision) = M!/(M^N (M-N)!)",
	Source:   "derivation: balls into bins; 1-1/e = 63.2 % for N = M large, against the 60 % that Guo et al., SIGCOMM'16, section 5.4 report",
	Limits:   "independent uniform hashes; equal seeds at two tiers polarise (M of M^2 paths)",
})

// ECMPUsed returns the expected number of paths that carry a flow. Source:
// the oracle ecmp_collisions.
func ECMPUsed(paths, flows int) float64 {
	if flows == 0 {
		return 0
	}
	m := float64(paths)
	return -m * math.Expm1(float64(flows)*math.Log1p(-1/m))
}

// ECMPUsedDeviation returns the standard deviation of the number of paths that
// carry a flow: of indicators that are not independent, with
// P(two given paths are empty) = (1-2/M)^N. Source: the oracle ecmp_collisions.
func ECMPUsedDeviation(paths, flows int) float64 {
	m, n := float64(paths), float64(flows)
	one, two := math.Pow(1-1/m, n), math.Pow(math.Max(0, 1-2/m), n)
	return math.Sqrt(math.Max(0, m*one*(1-one)+m*(m-1)*(two-one*one)))
}

// ECMPThroughput returns the mean throughput of line-rate flows in units of
// the line rate. Source: the oracle ecmp_collisions.
func ECMPThroughput(paths, flows int) float64 { return ECMPUsed(paths, flows) / float64(flows) }

// ECMPNoCollision returns the probability that all flows have paths of their
// own. Source: the oracle ecmp_collisions.
func ECMPNoCollision(paths, flows int) float64 {
	p := 1.0
	for i := range flows {
		p *= math.Max(0, float64(paths-i)) / float64(paths)
	}
	return p
}
