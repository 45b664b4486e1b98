package fabric

import "rdmasim/sim"

// JunosParams are those of the watchdog of Junos, in its words.
type JunosParams struct {
	Poll       sim.Duration `key:"poll_interval" doc:"how often a queue is looked at"`
	Detection  int          `key:"detection" doc:"polls of a stall, one after the other, after which the queue is disabled"`
	Recovery   sim.Duration `key:"recovery" doc:"how long it is disabled: it is enabled again after that, quiet or not"`
	Priorities []int        `key:"priorities" range:"0..7" doc:"priorities that are watched; none: all under PFC"`
}

var _ = sim.Register(Watchdogs, "junos",
	"Juniper Junos: a poll counts if the queue is paused, frames wait and none was sent; the queue drops for a fixed time and is then enabled again",
	JunosParams{Poll: 100 * sim.Millisecond, Detection: 2, Recovery: 200 * sim.Millisecond}, nil,
	func(p JunosParams) (WatchdogConfig, error) {
		if err := times("detection", p.Detection, 1); err != nil {
			return WatchdogConfig{}, err
		}
		c, err := ofPolls(junosWatchdog{}, "poll_interval", p.Poll, p.Detection, 1, p.Priorities)
		if err == nil && p.Recovery < p.Poll {
			return c, belowPoll("recovery", p.Recovery, p.Poll)
		}
		c.Restore = p.Recovery
		return c, err
	})

// junosWatchdog is the PFC watchdog of Junos OS and Junos OS Evolved, with the
// defaults of the user guide. Source: Juniper, Class of Service User Guide, PFC
// Watchdog.
type junosWatchdog struct{ counted }

func (junosWatchdog) Storm(before, now QueueSample, _ sim.Duration) bool {
	return now.Paused && stalled(before, now)
}

func (junosWatchdog) Quiet(_, _ QueueSample) bool { return true }
