package fault

import (
	"fmt"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// GilbertElliott loses frames in bursts: a link is good or bad, changes from
// frame to frame with two probabilities, and loses a share of the frames in
// each state. Source: Elliott, "Estimates of error rates for codes on burst-noise
// channels", Bell System Technical Journal 42, 1963. The parameters are p, r,
// 1-h and 1-k of tc-netem's `loss gemodel`.
type GilbertElliott struct {
	Wire
	ToBad    sim.Ratio `key:"to_bad" doc:"probability that a good link is bad for the next frame (p)"`
	ToGood   sim.Ratio `key:"to_good" doc:"probability that a bad link is good for the next frame (r)"`
	LossBad  sim.Ratio `key:"loss_bad" doc:"share of the frames lost while the link is bad (1-h)"`
	LossGood sim.Ratio `key:"loss_good" doc:"share of the frames lost while the link is good (1-k)"`
}

var _ = register("gilbert_elliott", `{link: h0-leaf0, to_bad: 1%, to_good: 30%}`, "loses frames in bursts, by the model of Gilbert and Elliott",
	GilbertElliott{Wire: anyWire(), LossBad: 1}, func(g GilbertElliott) error {
		if err := g.check(); err != nil {
			return err
		}
		for _, p := range []struct {
			key   string
			value sim.Ratio
		}{{"to_bad", g.ToBad}, {"to_good", g.ToGood}, {"loss_bad", g.LossBad}, {"loss_good", g.LossGood}} {
			if err := probability(p.key, p.value); err != nil {
				return err
			}
		}
		switch {
		case g.ToBad == 0 && g.LossGood == 0:
			return fmt.Errorf("to_bad: 0: the link never becomes bad: want more")
		case g.LossBad == 0 && g.LossGood == 0:
			return fmt.Errorf("loss_bad: 0: nothing is ever lost: want more")
		}
		return nil
	})

// Inject puts the loss on its links.
func (g GilbertElliott) Inject(c *Context) error {
	return g.inject(c, g, kindsAll, func(_ direction, r *sim.Rand) effect {
		bad := false
		return func(_ sim.Time, _ *packet.Packet, v *fabric.Verdict) bool {
			leave, lost := g.ToBad, g.LossGood
			if bad {
				leave = g.ToGood
			}
			if leave > 0 && r.Float64() < float64(leave) {
				bad = !bad
			}
			if bad {
				lost = g.LossBad
			}
			if lost > 0 && r.Float64() < float64(lost) {
				v.Drop = "burst loss"
			}
			return v.Drop != ""
		}
	})
}

// mean returns the share of frames lost in the long run.
func (g GilbertElliott) mean() float64 {
	p, r := float64(g.ToBad), float64(g.ToGood)
	if p+r == 0 {
		return float64(g.LossGood)
	}
	return (p*float64(g.LossBad) + r*float64(g.LossGood)) / (p + r)
}

func (g GilbertElliott) String() string {
	return fmt.Sprintf("loss in bursts, %s in the long run, on %s", percent(sim.Ratio(g.mean())), g.at())
}
