package fault

import (
	"fmt"

	"rdmasim/sim"
)

// WatchdogOff is a PFC watchdog that has been turned off: storms last as long as
// they last. With a begin after 0 it is one that fails, with an end one that is
// turned on late.
type WatchdogOff struct {
	PortsAt
	When
}

var _ = register("watchdog_off", `{switch: leaf0, to: 100us}`, "turns PFC watchdogs off", WatchdogOff{}, func(f WatchdogOff) error { return f.PortsAt.check() })

// Inject turns the watchdogs off.
func (f WatchdogOff) Inject(c *Context) error {
	list, err := f.switchPorts(c)
	if err != nil {
		return err
	}
	found := false
	for _, d := range list {
		s := c.Switches[d.node]
		queues := s.Watched(d.port)
		if queues == 0 {
			continue
		}
		found = true
		c.on(d.node, f.When, func(on bool, _ sim.Time) {
			if on {
				s.StopWatchdog(d.port)
			} else {
				s.StartWatchdog(d.port, queues)
			}
		})
		if err := c.countClasses(d, f.When, s.Cfg.Lossless); err != nil {
			return err
		}
	}
	if !found {
		key, value, _ := Where(f.PortsAt).given()
		return fmt.Errorf("%s: %s: has no watchdog: give it one with switch.watchdog", key, value)
	}
	c.tell(list[0].node, f)
	return nil
}

func (f WatchdogOff) String() string {
	key, value, _ := Where(f.PortsAt).given()
	return fmt.Sprintf("no watchdog at %s %s", key, value)
}
