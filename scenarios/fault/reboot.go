package fault

import (
	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// Reboot is a switch that starts anew: what it holds is lost, and nothing passes
// until it is back.
type Reboot struct {
	Switch  string       `key:"switch" required:"true" doc:"name or pattern"`
	Reroute sim.Duration `key:"reroute" doc:"how long routing takes to notice that it is away, and back; 0s = it never does"`
	When
}

var _ = register("switch_reboot", `{switch: spine0, from: 20us, to: 100us}`, "starts switches anew: what they hold is lost, and nothing passes until they are back", Reboot{}, func(f Reboot) error {
	return required("switch", f.Switch, "a name or a pattern")
})

// Inject lets the switches start anew.
func (f Reboot) Inject(c *Context) error {
	list, err := c.nodes("switch", f.Switch, topology.Switch)
	if err != nil {
		return err
	}
	links := map[int]bool{}
	for _, node := range list {
		s, flushed := c.Switches[node], c.counter()
		c.on(node, f.When, func(on bool, _ sim.Time) {
			if on {
				*flushed += s.Flush("switch reboot")
			}
		})
		for p, q := range c.Ports.Of(node) {
			links[q.Link] = true
			d := direction{node, p}
			for _, way := range []direction{d, c.peer(d)} {
				n := c.counter()
				c.tamper(way, tamperFunc(func(now sim.Time, _ *packet.Packet, v *fabric.Verdict) {
					if v.Drop == "" && f.Active(now) {
						v.Drop = "switch reboot"
						*n++
					}
				}))
			}
		}
	}
	c.tell(list[0], f)
	if f.Reroute == 0 {
		return nil
	}
	return c.reroute(links, f.When, f.Reroute)
}

func (f Reboot) String() string { return "reboot of switch " + f.Switch }
