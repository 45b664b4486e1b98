package fault

import (
	"fmt"

	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// LateReceives is an application that posts receives late: a SEND that finds
// none is answered with an RNR NAK (InfiniBand Architecture, volume 1, section
// 9.7.5.2.8), and the sender waits for as long as the receiver's timer code says.
type LateReceives struct {
	Host  string       `key:"host" required:"true" doc:"whose application is late, a name or a pattern"`
	Delay sim.Duration `key:"delay" required:"true" doc:"by which every receive is posted late"`
	When
}

var _ = register("late_receives", `{host: h0, delay: 20us}`, "is an application that posts receives late, so that SENDs find none", LateReceives{}, func(f LateReceives) error {
	if f.Delay <= 0 {
		return fmt.Errorf("delay: %v: want more than 0s", f.Delay)
	}
	return required("host", f.Host, "a name or a pattern")
})

// Inject makes the applications of its hosts late.
func (f LateReceives) Inject(c *Context) error {
	list, err := c.nodes("host", f.Host, topology.Host)
	if err != nil {
		return err
	}
	for _, node := range list {
		n := c.NICs[node]
		c.on(node, f.When, func(on bool, _ sim.Time) {
			if on {
				n.SetReceiveDelay(f.Delay)
			} else {
				n.SetReceiveDelay(0)
			}
		})
		for p := range c.Ports.Of(node) {
			if err := c.countFrames(c.peer(direction{node, p}), f.When, Frames{Class: -1, Only: Kinds{"data"}}); err != nil {
				return err
			}
		}
	}
	c.tell(list[0], f)
	return nil
}

func (f LateReceives) String() string {
	return fmt.Sprintf("receives of %s late by %v", f.Host, f.Delay)
}
