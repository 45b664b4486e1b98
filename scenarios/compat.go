package scenarios

import (
	"rdmasim/fabric"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// The rules of the HPCC ns-3 model for the buffer of a switch.
const (
	// HPCCReserve is guaranteed per port and class.
	HPCCReserve = 4096
	// HPCCXonOffset is how far below the threshold a pause ends.
	HPCCXonOffset = 3 * 1024
)

// hpccPort returns alpha and headroom of a switch port under the rules of the
// HPCC model: headroom is three times rate times delay in whole nanoseconds,
// without a frame; alpha is 1/8 at the rate of the hosts and doubles with every
// doubling of the port's rate above it, at most 1.
func (w *world) hpccPort(node, p int) (alpha, headroom int64) {
	q := w.ports.Of(node)[p]
	out := q.Out(w.graph)
	nic := w.hostRate()
	shift := 3
	for r := out.Rate; r > nic && shift > 0; r /= 2 {
		shift--
	}
	ns := int64(out.Delay / sim.Nanosecond)
	return fabric.AlphaOne >> shift, int64(out.Rate) * ns / 8 / 1_000_000_000 * 3
}

// hostRate is the rate of the first host's link.
func (w *world) hostRate() sim.Rate {
	for i, n := range w.graph.Nodes {
		if n.Kind == topology.Host {
			return w.ports.Of(i)[0].Out(w.graph).Rate
		}
	}
	return 0
}
