package fluid

import "math"

var (
	_ = describe(Oracle{
		ID:       "md1",
		Title:    "waiting packets behind a port with Poisson arrivals of equal packets",
		Equation: "L_q = rho^2/(2(1-rho)), W_q = rho/(2 mu (1-rho))",
		Source:   "Pollaczek and Khinchine; Kleinrock, Queueing Systems I, section 5.6",
		Limits:   "rho < 1, infinite buffer, no PFC, no ECN; packets in service not counted",
	})
	_ = describe(Oracle{
		ID:       "mm1",
		Title:    "packets at a port with Poisson arrivals of exponential packets",
		Equation: "L = rho/(1-rho), L_q = rho^2/(1-rho), P(N > k) = rho^(k+1)",
		Source:   "Kleinrock, Queueing Systems I, section 3.2",
		Limits:   "rho < 1, infinite buffer, no PFC, no ECN",
	})
)

// MD1Waiting returns the mean number of waiting packets. Source: the oracle md1.
func MD1Waiting(rho float64) float64 { return MG1Waiting(rho, 0) }

// MM1Waiting returns the mean number of waiting packets. Source: the oracle mm1.
func MM1Waiting(rho float64) float64 { return MG1Waiting(rho, 1) }

// MM1Present returns the mean number of packets waiting and in service.
// Source: the oracle mm1.
func MM1Present(rho float64) float64 { return MM1Waiting(rho) + rho }

// MM1Tail returns the probability of more than k packets. Source: the oracle mm1.
func MM1Tail(rho float64, k int) float64 { return math.Pow(rho, float64(k+1)) }

// MG1Waiting returns the mean number of waiting packets for service times of
// squared coefficient of variation cv2: 0 for equal packets, 1 for exponential
// ones. It is infinite from rho = 1. Source: Pollaczek and Khinchine.
func MG1Waiting(rho, cv2 float64) float64 {
	if rho >= 1 {
		return math.Inf(1)
	}
	return rho * rho * (1 + cv2) / (2 * (1 - rho))
}

// MD1Wait returns the mean waiting time in units of the service time.
// Source: the oracle md1.
func MD1Wait(rho float64) float64 {
	if rho >= 1 {
		return math.Inf(1)
	}
	return rho / (2 * (1 - rho))
}
