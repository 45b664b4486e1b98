package fault

import (
	"fmt"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// LinkDown is a link that fails, or flaps where it has a period. What is sent
// over it is lost; after reroute, other paths are taken until it is back.
type LinkDown struct {
	Where
	Reroute sim.Duration `key:"reroute" doc:"how long routing takes to notice, both that it is down and that it is up again; 0s = it never does"`
	When
}

var _ = register("link_down", `{link: leaf0-spine0, from: 20us, to: 120us, reroute: 50us}`, "lets links fail, once or again and again", LinkDown{}, func(f LinkDown) error {
	return f.Where.check()
})

// Inject lets the links of the fault fail.
func (f LinkDown) Inject(c *Context) error {
	list, err := f.directions(c)
	if err != nil {
		return err
	}
	links := map[int]bool{}
	for _, d := range list {
		n := c.counter()
		c.tamper(d, tamperFunc(func(now sim.Time, _ *packet.Packet, v *fabric.Verdict) {
			if v.Drop == "" && f.Active(now) {
				v.Drop = "link down"
				*n++
			}
		}))
		id := c.Names.ID(c.portName(d))
		sink := c.Sinks[d.node]
		c.on(d.node, f.When, func(on bool, now sim.Time) {
			e := trace.Event{Time: now, Kind: trace.EventLinkState, Object: id, Prio: -1, Value: 1, Cause: "up"}
			if on {
				e.Value, e.Cause = 0, "down"
			}
			sink.Event(e)
		})
		links[c.Ports.Of(d.node)[d.port].Link] = true
	}
	c.tell(list[0].node, f)
	if f.Reroute == 0 {
		return nil
	}
	return c.reroute(links, f.When, f.Reroute)
}

// reroute takes links out of the routes so long after a span begins, and puts
// them back so long after it ends.
func (c *Context) reroute(links map[int]bool, w When, after sim.Duration) error {
	late := w
	late.From += after
	if late.To > 0 {
		late.To += after
	}
	if c.down == nil {
		c.World.down = map[int]int{}
	}
	down := c.World.down
	return c.global(late, func(on bool, _ sim.Time) {
		for l := range links {
			if on {
				down[l]++
			} else {
				down[l]--
			}
		}
		if err := c.Reroute(func(l int) bool { return down[l] > 0 }); err != nil {
			panic(err) // the graph was routed before, with more links
		}
		c.Rerouted()
	})
}

func (f LinkDown) String() string {
	key, value, _ := f.given()
	return fmt.Sprintf("link down: %s %s", key, value)
}
