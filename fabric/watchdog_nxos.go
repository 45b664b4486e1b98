package fabric

import "rdmasim/sim"

// NXOSParams are those of the watchdog of NX-OS, in its words.
type NXOSParams struct {
	Interval   sim.Duration `key:"interval" doc:"watch-dog interval: how often a queue is looked at"`
	Shutdown   int          `key:"shutdown_multiplier" doc:"intervals of a queue that is stuck, after which it is shut"`
	Auto       int          `key:"auto_restore_multiplier" doc:"intervals without a pause frame, after which it is restored"`
	Fixed      int          `key:"fixed_restore_multiplier" doc:"intervals for which it stays shut on top of that"`
	Priorities []int        `key:"priorities" range:"0..7" doc:"priorities that are watched; none: all under PFC"`
}

var _ = sim.Register(Watchdogs, "nxos",
	"Cisco NX-OS: an interval counts if frames wait, none was sent and pauses came in; the queue is shut, and restored after a multiple of intervals without pauses",
	NXOSParams{Interval: 100 * sim.Millisecond, Shutdown: 1, Auto: 10}, nil,
	func(p NXOSParams) (WatchdogConfig, error) {
		for _, x := range []struct {
			key    string
			n, low int
		}{{"shutdown_multiplier", p.Shutdown, 1}, {"auto_restore_multiplier", p.Auto, 0}, {"fixed_restore_multiplier", p.Fixed, 0}} {
			if err := times(x.key, x.n, x.low); err != nil {
				return WatchdogConfig{}, err
			}
		}
		return ofPolls(cumulusWatchdog{}, "interval", p.Interval, p.Shutdown, max(p.Auto+p.Fixed, 1), p.Priorities)
	})

// The rule of NX-OS is that of cumulusWatchdog: pause frames come in and the
// queue does not drain. Source: Cisco Nexus 9000 Series NX-OS QoS Configuration
// Guide, Workflow of Priority Flow Control Watchdog; the interval of 100 ms is
// in it, the defaults of the multipliers are general knowledge.
