package workload

import (
	"rdmasim/sim"
	"rdmasim/verbs"
)

// receiver keeps receives posted on every queue pair that a peer opens for
// SENDs: as many as the peer may have outstanding, each replaced when it
// completes, so that the peer never meets a receiver that is not ready.
// Instances embed it; alone it is the instance of a host that only receives.
type receiver struct {
	Nop
	receives bool // the verb consumes receives at the peer
}

// Private data of a connection: the largest message in the lower 44 bits and
// the depth, less one, above.
const privateSizeBits = 44

func private(largest sim.Bytes, depth int) uint64 {
	return uint64(largest) | uint64(depth-1)<<privateSizeBits
}

func (receiver) Start(h Host) { h.Done() }

func (r receiver) OnAccept(_ Host, qp verbs.Connection, _ int, private uint64) {
	if !r.receives {
		return
	}
	size := private & (1<<privateSizeBits - 1)
	for range private>>privateSizeBits + 1 {
		if qp.PostRecv(size, sim.Bytes(size)) != nil {
			return
		}
	}
}

// OnCompletion posts a receive of the same length, which is its WRID, again.
func (r receiver) OnCompletion(_ Host, qp verbs.Connection, wc verbs.WorkCompletion) {
	if wc.Recv && wc.Status == verbs.StatusSuccess {
		_ = qp.PostRecv(wc.WRID, sim.Bytes(wc.WRID)) // a queue pair that has failed receives nothing more
	}
}
