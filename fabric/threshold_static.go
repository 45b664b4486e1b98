package fabric

import (
	"fmt"

	"rdmasim/sim"
)

// StaticParams are the parameters of the static threshold.
type StaticParams struct {
	Bytes sim.Bytes `key:"bytes" doc:"shared bytes that may be in use; SONiC's static_th"`
}

type staticThreshold int64

var _ = sim.Register(Thresholds, "static",
	"a number of bytes, however full the pool is",
	StaticParams{Bytes: sim.MB}, nil,
	func(p StaticParams) (Threshold, error) {
		if p.Bytes < 0 || p.Bytes > sim.TiB {
			return nil, fmt.Errorf("bytes: %v: want from 0B to %v", p.Bytes, sim.TiB)
		}
		return staticThreshold(p.Bytes), nil
	})

func (b staticThreshold) Limit(int64, int64) int64 { return int64(b) }
