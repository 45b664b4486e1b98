package fault

import (
	"fmt"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// Duplicate doubles frames.
type Duplicate struct {
	Wire
	Probability sim.Ratio `key:"probability" doc:"share of the frames that arrive twice"`
	Correlation sim.Ratio `key:"correlation" doc:"of the fate of a frame with that of the one before"`
}

var _ = register("duplicate", `{link: h0-leaf0, probability: 1%}`, "lets frames arrive twice", Duplicate{Wire: anyWire()}, func(f Duplicate) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.Probability == 0 {
		return fmt.Errorf("probability: is missing: want a share of the frames, such as 1%%")
	}
	if err := probability("probability", f.Probability); err != nil {
		return err
	}
	return probability("correlation", f.Correlation)
})

// Inject puts the fault on its links.
func (f Duplicate) Inject(c *Context) error {
	return f.inject(c, f, kindsRoCE, func(_ direction, r *sim.Rand) effect {
		k := chance{share: float64(f.Probability), correlation: float64(f.Correlation), rand: r}
		return func(_ sim.Time, _ *packet.Packet, v *fabric.Verdict) bool {
			twice := k.draw()
			if twice {
				v.Copies++
			}
			return twice
		}
	})
}

func (f Duplicate) String() string {
	return fmt.Sprintf("%s of the frames twice on %s", percent(f.Probability), f.at())
}
