package calibrate

import (
	"math"

	"rdmasim/congestion"
	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// CNPs is the kind of the figure "CNPs that all hosts sent, per second".
const CNPs = "CNPs"

const (
	// leastCNPs is how many CNPs say something of the time between them.
	leastCNPs = 100
	// leastMarked is the share of marked packets from which on a CNP follows as
	// soon as one may. With fewer, the number of CNPs says more of the queue than
	// of the notification point: it neither rises nor falls with the interval.
	leastMarked = 0.9
)

// cnps returns the CNPs of a run per second; ok is false where none were sent
// or nobody counted.
func cnps(run *trace.Run) (perSecond, count float64, ok bool, err error) {
	list, err := run.Counters()
	if err != nil {
		return 0, 0, false, err
	}
	for _, c := range list {
		if c.Name == trace.CountCNPSent {
			count += c.Value
		}
	}
	length := sim.Time(run.Manifest.Simulated).Sub(sim.Time(run.Manifest.Warmup)).Seconds()
	if count <= 0 || length <= 0 {
		return 0, 0, false, nil
	}
	return count / length, count, true, nil
}

// observeCNPs makes the figure of the CNPs; ok is false where there are too few,
// or where not nearly every packet was marked, or nobody counted that.
func observeCNPs(run *trace.Run) (o Observation, ok bool, err error) {
	v, n, ok, err := cnps(run)
	if err != nil || !ok || n < leastCNPs {
		return o, false, err
	}
	list, err := run.Counters()
	if err != nil {
		return o, false, err
	}
	var marked, all float64
	for _, c := range list {
		switch c.Name {
		case trace.CountCEReceived:
			marked += c.Value
		case trace.CountDataDelivered:
			all += c.Value
		}
	}
	if all <= 0 || marked < leastMarked*all {
		return o, false, nil
	}
	return Observation{Group: Group{Workload: "all hosts"}, Kind: CNPs, Messages: int(n), Value: v, Error: v / math.Sqrt(n)}, true, nil
}

// dcqcn returns the parameters of DCQCN of a scenario, if it runs that.
func dcqcn(s *scenarios.Spec) (congestion.DCQCNParams, bool) {
	p, ok := s.NIC.Congestion.Params.(congestion.DCQCNParams)
	return p, ok
}
