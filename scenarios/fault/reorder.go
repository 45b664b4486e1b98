package fault

import (
	"fmt"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// Reorder holds single frames back, so that those behind overtake them.
type Reorder struct {
	Wire
	Probability sim.Ratio    `key:"probability" doc:"share of the frames that are held back"`
	Correlation sim.Ratio    `key:"correlation" doc:"of the fate of a frame with that of the one before"`
	Every       int64        `key:"every" range:"0..1000000000" doc:"every so manieth frame is held back; 0 = none by number"`
	Delay       sim.Duration `key:"delay" doc:"how long it is held back"`
}

var _ = register("reorder", `{link: h0-leaf0, probability: 1%, delay: 10us}`, "holds single frames back, so that others overtake them",
	Reorder{Wire: anyWire(), Delay: 10 * sim.Microsecond}, func(f Reorder) error {
		if err := f.check(); err != nil {
			return err
		}
		if err := probability("probability", f.Probability); err != nil {
			return err
		}
		if err := probability("correlation", f.Correlation); err != nil {
			return err
		}
		switch {
		case f.Probability == 0 && f.Every == 0:
			return fmt.Errorf("probability: holds nothing back: give probability or every")
		case f.Delay <= 0:
			return fmt.Errorf("delay: %v: want more than 0s", f.Delay)
		case f.Every < 0:
			return fmt.Errorf("every: %d: want 0 or more", f.Every)
		}
		return nil
	})

// Inject puts the fault on its links.
func (f Reorder) Inject(c *Context) error {
	return f.inject(c, f, kindsRoCE, func(_ direction, r *sim.Rand) effect {
		k := chance{share: float64(f.Probability), correlation: float64(f.Correlation), rand: r}
		seen := int64(0)
		return func(_ sim.Time, _ *packet.Packet, v *fabric.Verdict) bool {
			seen++
			late := k.draw() || f.Every > 0 && seen%f.Every == 0
			if late {
				v.Delay += f.Delay
			}
			return late
		}
	})
}

func (f Reorder) String() string {
	return fmt.Sprintf("frames held back by %v on %s", f.Delay, f.at())
}
