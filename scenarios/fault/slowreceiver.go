package fault

import (
	"fmt"

	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// SlowReceiver is a host that takes packets from its NIC more slowly than they
// arrive: a cache of page tables that misses, a PCIe link that has trained down,
// memory that is busy. Source: Guo et al., SIGCOMM'16, section 4.4.
type SlowReceiver struct {
	Host string   `key:"host" required:"true" doc:"name or pattern"`
	Rate sim.Rate `key:"rate" doc:"at which the host takes packets; 0bps = it has stopped"`
	When
}

var _ = register("slow_receiver", `{host: h0, rate: 10Gbps}`, "is a host that takes packets from its NIC slowly, or not at all", SlowReceiver{}, func(f SlowReceiver) error {
	return required("host", f.Host, "a name or a pattern")
})

// Inject makes the hosts slow.
func (f SlowReceiver) Inject(c *Context) error {
	list, err := c.nodes("host", f.Host, topology.Host)
	if err != nil {
		return err
	}
	for _, node := range list {
		n, old := c.NICs[node], c.NICs[node].Drain()
		if old == 0 {
			old = n.LineRate(0)
		}
		c.on(node, f.When, func(on bool, _ sim.Time) {
			if on {
				n.SetDrain(f.Rate)
			} else {
				n.SetDrain(old)
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

func (f SlowReceiver) String() string {
	if f.Rate == 0 {
		return fmt.Sprintf("receiver %s has stopped", f.Host)
	}
	return fmt.Sprintf("receiver %s takes %v", f.Host, f.Rate)
}
