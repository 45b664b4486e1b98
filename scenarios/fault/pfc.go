package fault

import (
	"fmt"

	"rdmasim/sim"
)

// PFCOff is a hop without PFC: ports neither send nor obey pauses of a priority.
type PFCOff struct {
	PortsAt
	Priorities []int `key:"priorities" range:"0..7" doc:"without PFC; empty = all"`
	When
}

var _ = register("pfc_off", `{link: h0-leaf0}`, "is a hop without PFC: pauses are neither sent nor obeyed there", PFCOff{}, func(f PFCOff) error {
	return f.PortsAt.check()
})

// mask returns priorities as bits; none are all.
func mask(priorities []int) (m uint8) {
	for _, p := range priorities {
		m |= 1 << (p & 7)
	}
	if len(priorities) == 0 {
		m = 0xff
	}
	return m
}

// Inject turns PFC off at its ports.
func (f PFCOff) Inject(c *Context) error {
	list, err := f.ports(c)
	if err != nil {
		return err
	}
	for _, d := range list {
		old := c.portOf(d).Cfg.Lossless
		s, n := c.Switches[d.node], c.NICs[d.node]
		c.on(d.node, f.When, func(on bool, _ sim.Time) {
			classes := old
			if on {
				classes &^= mask(f.Priorities)
			}
			if s != nil {
				s.SetLossless(d.port, classes)
			} else {
				n.SetLossless(d.port, classes)
			}
		})
		for _, way := range []direction{d, c.peer(d)} {
			if err := c.countClasses(way, f.When, old&mask(f.Priorities)); err != nil {
				return err
			}
		}
	}
	c.tell(list[0].node, f)
	return nil
}

// countClasses counts RoCE frames of some classes.
func (c *Context) countClasses(d direction, w When, classes uint8) error {
	for k := range 8 {
		if classes&(1<<k) != 0 {
			if err := c.countFrames(d, w, Frames{Class: k}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f PFCOff) String() string {
	key, value, _ := Where(f.PortsAt).given()
	return fmt.Sprintf("no PFC at %s %s", key, value)
}

// StuckXOFF is a port that has paused its peer and never lets it go on, whatever
// its buffer.
type StuckXOFF struct {
	PortsAt
	Priorities []int `key:"priorities" range:"0..7" doc:"that are stuck; empty = all lossless ones"`
	When
}

var _ = register("stuck_xoff", `{port: "leaf0:0", from: 20us, to: 500us}`, "is a port that pauses its peer and never lets it go on", StuckXOFF{}, func(f StuckXOFF) error {
	return f.PortsAt.check()
})

// Inject lets its ports stick.
func (f StuckXOFF) Inject(c *Context) error {
	list, err := f.ports(c)
	if err != nil {
		return err
	}
	for _, d := range list {
		classes := c.portOf(d).Cfg.Lossless & mask(f.Priorities)
		s, n := c.Switches[d.node], c.NICs[d.node]
		if classes == 0 {
			return fmt.Errorf("priorities: none of them is lossless at %s", c.portName(d))
		}
		c.on(d.node, f.When, func(on bool, _ sim.Time) {
			for k := range uint8(8) {
				switch {
				case classes&(1<<k) == 0:
				case s != nil:
					s.Stick(d.port, k, on)
				default:
					n.Stick(d.port, k, on)
				}
			}
		})
		m, err := anyFrames().compile(c, isXoff|isRefresh)
		if err != nil {
			return err
		}
		c.tamper(d, &count{when: f.When, match: m, n: c.counter()})
	}
	c.tell(list[0].node, f)
	return nil
}

func (f StuckXOFF) String() string {
	key, value, _ := Where(f.PortsAt).given()
	return fmt.Sprintf("XOFF stuck at %s %s", key, value)
}
