package fault

import (
	"fmt"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// DSCP is a host, or a link, that puts a wrong DSCP on packets: switches queue
// them in another class than the one that was made lossless for them.
type DSCP struct {
	Wire
	DSCP int `key:"dscp" range:"0..63" doc:"that packets carry instead of theirs"`
}

var _ = register("dscp", `{link: h0>leaf0, dscp: 0}`, "puts a wrong DSCP on packets", DSCP{Wire: anyWire()}, func(f DSCP) error {
	if f.DSCP < 0 || f.DSCP > 63 {
		return fmt.Errorf("dscp: %d: want 0..63", f.DSCP)
	}
	return f.check()
})

// Inject puts the fault on its links.
func (f DSCP) Inject(c *Context) error {
	return f.inject(c, f, kindsRoCE, func(direction, *sim.Rand) effect {
		return func(_ sim.Time, m *packet.Packet, _ *fabric.Verdict) bool {
			changed := m.DSCP != uint8(f.DSCP)
			m.DSCP = uint8(f.DSCP)
			return changed
		}
	})
}

func (f DSCP) String() string { return fmt.Sprintf("DSCP %d on %s", f.DSCP, f.at()) }

// DSCPMap is a switch with a wrong map from DSCP to priority.
type DSCPMap struct {
	Switch string      `key:"switch" required:"true" doc:"name or pattern"`
	Map    map[int]int `key:"map" required:"true" keys:"0..63" range:"0..7" doc:"DSCP to priority, in place of what the switch has for them"`
	When
}

var _ = register("dscp_map", `{switch: leaf0, map: {26: 0}}`, "gives switches a wrong map from DSCP to priority", DSCPMap{}, func(f DSCPMap) error {
	if err := required("switch", f.Switch, "a name or a pattern"); err != nil {
		return err
	}
	if len(f.Map) == 0 {
		return fmt.Errorf("map: is missing: for example {26: 0}")
	}
	for d := range 64 {
		if k, ok := f.Map[d]; ok && (k < 0 || k > 7) {
			return fmt.Errorf("map: %d: want a priority from 0 to 7", k)
		}
	}
	return nil
})

// Inject changes the map on its switches.
func (f DSCPMap) Inject(c *Context) error {
	list, err := c.nodes("switch", f.Switch, topology.Switch)
	if err != nil {
		return err
	}
	for _, node := range list {
		s, old := c.Switches[node], c.Switches[node].Cfg.ClassOf
		wrong := old
		for d := range wrong {
			if k, ok := f.Map[d]; ok {
				wrong[d] = uint8(k)
			}
		}
		c.on(node, f.When, func(on bool, _ sim.Time) {
			if s.Cfg.ClassOf = old; on {
				s.Cfg.ClassOf = wrong
			}
		})
		for p := range c.Ports.Of(node) {
			n := c.counter()
			when := f.When
			c.tamper(c.peer(direction{node, p}), tamperFunc(func(now sim.Time, m *packet.Packet, _ *fabric.Verdict) {
				if m.Kind < packet.PFC && when.Active(now) && old[m.DSCP&63] != wrong[m.DSCP&63] {
					*n++
				}
			}))
		}
	}
	c.tell(list[0], f)
	return nil
}

func (f DSCPMap) String() string { return "wrong DSCP map on switch " + f.Switch }

// tamperFunc is a function as a fabric.Tamper.
type tamperFunc func(now sim.Time, m *packet.Packet, v *fabric.Verdict)

// Frame calls the function.
func (f tamperFunc) Frame(now sim.Time, m *packet.Packet, v *fabric.Verdict) { f(now, m, v) }
