package fault

import (
	"fmt"

	"rdmasim/sim"
)

// Rate makes links slower: a port that has trained down to a lower speed, or a
// shaper. The port itself sends more slowly, so that queues and pauses follow.
type Rate struct {
	Where
	Rate sim.Rate `key:"rate" required:"true" doc:"at which frames are sent, such as 25Gbps"`
	When
}

var _ = register("rate", `{link: leaf0-spine0, rate: 25Gbps}`, "makes links slower, as a port that has trained down or a shaper does", Rate{}, func(f Rate) error {
	if f.Rate < sim.Mbps {
		return fmt.Errorf("rate: %v: want at least 1Mbps", f.Rate)
	}
	return f.Where.check()
})

// Inject changes the rate of the ports that send over its links.
func (f Rate) Inject(c *Context) error {
	list, err := f.directions(c)
	if err != nil {
		return err
	}
	for _, d := range list {
		p, peer := c.portOf(d), c.portOf(c.peer(d))
		old := p.Cfg.Rate
		set := func(on bool) sim.Rate {
			if on {
				return f.Rate
			}
			return old
		}
		c.on(d.node, f.When, func(on bool, _ sim.Time) { p.SetRate(set(on)) })
		c.on(c.peer(d).node, f.When, func(on bool, _ sim.Time) { peer.Cfg.RxRate = set(on) })
		c.slow(d, f)
		if err := c.countFrames(d, f.When, Frames{Class: -1, Only: Kinds{"all"}}); err != nil {
			return err
		}
	}
	c.tell(list[0].node, f)
	return nil
}

func (f Rate) String() string {
	key, value, _ := f.given()
	return fmt.Sprintf("rate of %v on %s %s", f.Rate, key, value)
}
