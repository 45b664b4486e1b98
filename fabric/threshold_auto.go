package fabric

import "rdmasim/sim"

// AutoParams are those of the threshold that the pool decides about: there are
// none.
type AutoParams struct{}

// ThresholdAuto is the name of that threshold.
const ThresholdAuto = "auto"

// wholePool lets all of a pool be used. Builders replace it by an alpha in
// pools whose mode is dynamic.
type wholePool struct{}

var _ = sim.Register(Thresholds, ThresholdAuto,
	"what the mode of the pool says: in a dynamic pool the alpha (of a queue: the egress_alpha) of the buffer, in a static one all of the pool; queues of lossless priorities are not bounded",
	AutoParams{}, nil,
	func(AutoParams) (Threshold, error) { return wholePool{}, nil })

func (wholePool) Limit(_, size int64) int64 { return size }
