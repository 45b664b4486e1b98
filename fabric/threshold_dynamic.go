package fabric

import (
	"fmt"

	"rdmasim/sim"
)

// DynamicParams are the parameters of the dynamic threshold.
type DynamicParams struct {
	Alpha sim.Ratio `key:"alpha" doc:"multiple of the free bytes of the pool, such as 1/8 or 2^-3; SONiC's dynamic_th n is 2^n"`
}

// Bounds of alpha: that of 16 fractional bits, and far above the 2^7 of SONiC.
const (
	MinAlpha = 1.0 / 65536
	MaxAlpha = 1024
)

// dynamicThreshold is alpha in 1/65536.
type dynamicThreshold int64

var _ = sim.Register(Thresholds, "dynamic",
	"alpha times what is free of the pool, so that one busy queue may use much and many share (Choudhury and Hahne, IEEE/ACM ToN 1998)",
	DynamicParams{Alpha: 1}, nil,
	func(p DynamicParams) (Threshold, error) {
		if !(p.Alpha >= MinAlpha && p.Alpha <= MaxAlpha) {
			return nil, fmt.Errorf("alpha: %v: want from 1/65536 to %d, such as 1/8 or 2^-3", p.Alpha, MaxAlpha)
		}
		return dynamicThreshold(float64(p.Alpha)*AlphaOne + 0.5), nil
	})

func (a dynamicThreshold) Limit(free, _ int64) int64 { return free * int64(a) >> 16 }
