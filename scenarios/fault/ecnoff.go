package fault

import (
	"fmt"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// ECNOff is a switch that does not mark, or a host whose packets say that they
// are not ECN-capable.
type ECNOff struct {
	PortsAt
	Priorities []int `key:"priorities" range:"0..7" doc:"without ECN; empty = all"`
	When
}

var _ = register("ecn_off", `{switch: leaf0}`, "is a switch that does not mark, or a host that is not ECN-capable", ECNOff{}, func(f ECNOff) error { return f.PortsAt.check() })

// Inject turns ECN off at its ports.
func (f ECNOff) Inject(c *Context) error {
	list, err := f.ports(c)
	if err != nil {
		return err
	}
	classes := mask(f.Priorities)
	for _, d := range list {
		s := c.Switches[d.node]
		if s == nil {
			n := c.counter()
			c.tamper(d, tamperFunc(func(now sim.Time, m *packet.Packet, _ *fabric.Verdict) {
				if m.Kind < packet.PFC && m.ECN != packet.NotECT && classes&(1<<m.Prio) != 0 && f.Active(now) {
					m.ECN = packet.NotECT
					*n++
				}
			}))
			continue
		}
		marking := uint8(0)
		for k := range uint8(8) {
			old := s.ECN(d.port, k)
			if !old.On || classes&(1<<k) == 0 {
				continue
			}
			marking |= 1 << k
			c.on(d.node, f.When, func(on bool, _ sim.Time) {
				e := old
				e.On = !on
				if on {
					e.Kmin = 1 << 62 // no queue is that long
				}
				s.SetECN(d.port, k, e)
			})
		}
		if err := c.countClasses(d, f.When, marking); err != nil {
			return err
		}
	}
	c.tell(list[0].node, f)
	return nil
}

func (f ECNOff) String() string {
	key, value, _ := Where(f.PortsAt).given()
	return fmt.Sprintf("no ECN at %s %s", key, value)
}
