package scenarios

import (
	"fmt"
	"math"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// bytesPerWaiting is what a message that waits for its turn takes in memory at
// the least: its queue pair and its work request.
const bytesPerWaiting = 512 * sim.Byte

// backlog returns how many messages of an open loop wait at its end because the
// link of their host has not carried them yet, headers and all.
func (w *world) backlog(o workload.Offer) float64 {
	node := w.hosts[o.Host]
	sizes, rate := &w.sizes[node], w.nics[node].LineRate(0)
	come, span := float64(o.Messages), o.Span
	if span > 0 {
		come = min(come, float64(span)/float64(o.Gap))
	} else {
		span = sim.Duration(min(come*float64(o.Gap), math.MaxInt64))
	}
	payload := int(min(o.Mean, float64(sizes.Payload)))
	frame := sizes.Data(payload, true, verbs.OpWrite, true)
	wire := float64(frame) * max(1, o.Mean/float64(sizes.Payload))
	carried := span.Seconds() * float64(rate) / 8 / wire
	return max(0, come-carried)
}

// checkOffers refuses traffic whose waiting messages do not fit this machine.
func (w *world) checkOffers(offers []workload.Offer) error {
	have := availableMemory()
	if have == 0 {
		return nil
	}
	waiting := 0.0
	for _, o := range offers {
		waiting += w.backlog(o)
	}
	if need := waiting * float64(bytesPerWaiting); need > float64(have) {
		return fmt.Errorf("load: messages of %.3g B on average come faster than the links carry them with their headers: %.3g of them would wait at the end and need %.3g GB of memory, %.3g GB are available: want a lower load, longer messages or less time",
			offers[0].Mean, waiting, need/1e9, float64(have)/1e9)
	}
	return nil
}
