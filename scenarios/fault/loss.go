package fault

import (
	"fmt"
	"slices"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// Loss loses frames at random, by their number, or both.
type Loss struct {
	Wire
	Probability sim.Ratio `key:"probability" doc:"share of the frames that are lost"`
	Correlation sim.Ratio `key:"correlation" doc:"of the fate of a frame with that of the one before; the share stays as it is"`
	Every       int64     `key:"every" range:"0..1000000000" doc:"every so manieth frame is lost; 0 = none by number"`
	Numbers     []int64   `key:"numbers" range:"1..1000000000000" doc:"these frames are lost, counted from 1 in each direction while the fault is there"`
}

var _ = register("loss", `{link: h0-leaf0, probability: 1%}`, "loses frames: at random, every nth, or those of a list", Loss{Wire: anyWire()}, func(l Loss) error {
	if err := l.check(); err != nil {
		return err
	}
	if err := probability("probability", l.Probability); err != nil {
		return err
	}
	if err := probability("correlation", l.Correlation); err != nil {
		return err
	}
	switch {
	case l.Probability == 0 && l.Every == 0 && len(l.Numbers) == 0:
		return fmt.Errorf("probability: loses nothing: give probability, every or numbers")
	case l.Every < 0:
		return fmt.Errorf("every: %d: want 0 or more", l.Every)
	case l.Correlation == 1:
		return fmt.Errorf("correlation: 1: the first frame would decide about all: want less")
	}
	for _, n := range l.Numbers {
		if n < 1 {
			return fmt.Errorf("numbers: %d: frames are counted from 1", n)
		}
	}
	return nil
})

// Inject puts the loss on its links.
func (l Loss) Inject(c *Context) error {
	numbers := slices.Clone(l.Numbers)
	slices.Sort(numbers)
	return l.inject(c, l, kindsAll, func(_ direction, r *sim.Rand) effect {
		k := chance{share: float64(l.Probability), correlation: float64(l.Correlation), rand: r}
		seen := int64(0)
		return func(_ sim.Time, _ *packet.Packet, v *fabric.Verdict) bool {
			seen++
			_, listed := slices.BinarySearch(numbers, seen)
			if k.draw() || listed || l.Every > 0 && seen%l.Every == 0 {
				v.Drop = "loss"
			}
			return v.Drop != ""
		}
	})
}

func (l Loss) String() string {
	what := "numbered frames"
	switch {
	case l.Probability > 0 && l.Correlation > 0:
		what = percent(l.Probability) + " of the frames, in bursts"
	case l.Probability > 0:
		what = percent(l.Probability) + " of the frames"
	case l.Every > 0:
		what = fmt.Sprintf("every %dth frame", l.Every)
	}
	return fmt.Sprintf("loss of %s on %s", what, l.at())
}
