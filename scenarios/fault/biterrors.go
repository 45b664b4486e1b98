package fault

import (
	"fmt"
	"math"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// BitErrors is a link with a bit error rate: a frame of n bytes is lost with
// probability 1-(1-rate)^(8n), since the next node finds that its frame check
// sequence does not hold (IEEE 802.3, clause 3.2.9).
type BitErrors struct {
	Wire
	Rate sim.Ratio `key:"rate" required:"true" doc:"share of the bits that are wrong, such as 1e-9"`
}

var _ = register("bit_errors", `{link: h0-leaf0, rate: 1e-6}`, "is a link with a bit error rate: long frames are lost more often", BitErrors{Wire: anyWire()}, func(f BitErrors) error {
	if err := f.check(); err != nil {
		return err
	}
	if !(f.Rate > 0 && f.Rate <= 0.5) {
		return fmt.Errorf("rate: %v: want more than 0 and at most 0.5, such as 1e-9", f.Rate)
	}
	return nil
})

// lost returns the probability that a frame of n bytes has a wrong bit.
func (f BitErrors) lost(n int) float64 {
	return -math.Expm1(8 * float64(n) * math.Log1p(-float64(f.Rate)))
}

// Inject puts the fault on its links.
func (f BitErrors) Inject(c *Context) error {
	return f.inject(c, f, kindsAll, func(_ direction, r *sim.Rand) effect {
		return func(_ sim.Time, m *packet.Packet, v *fabric.Verdict) bool {
			if r.Float64() >= f.lost(int(m.Size)) {
				return false
			}
			v.Drop = "bit error"
			return true
		}
	})
}

func (f BitErrors) String() string {
	return fmt.Sprintf("bit error rate %.3g on %s", float64(f.Rate), f.at())
}
