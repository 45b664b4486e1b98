package fluid

import (
	"math"

	"rdmasim/sim"
)

var _ = describe(Oracle{
	ID:       "pfc_parking_lot",
	Title:    "shares of one congested port under PFC alone: fair per ingress port, not per flow",
	Equation: "max-min over the active ingress ports, each at most its own rate; flows behind one port share it equally",
	Source:   "derivation: equal dynamic thresholds pause the ingress ports alike; unfairness and victims as in SIGCOMM'15, section 2.2",
	Limits:   "greedy flows; a flow through a paused port to an idle destination gets no more than the paused share",
})

// ParkingLot returns the rate in bit/s of each flow behind every ingress port:
// flows[i] of them behind port i, all into one egress. Source: the oracle pfc_parking_lot.
func ParkingLot(egress, ingress sim.Rate, flows ...int) []float64 {
	active := 0
	for _, n := range flows {
		if n > 0 {
			active++
		}
	}
	share := math.Min(float64(ingress), float64(egress)/float64(max(active, 1)))
	rates := make([]float64, len(flows))
	for i, n := range flows {
		if n > 0 {
			rates[i] = share / float64(n)
		}
	}
	return rates
}

// FairShare returns the rate in bit/s that congestion control should give each
// of so many flows.
func FairShare(egress sim.Rate, flows int) float64 { return float64(egress) / float64(flows) }
