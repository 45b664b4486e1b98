package fabric

import "rdmasim/sim"

// VRPParams are those of deadlock detection of Huawei VRP, in its words.
type VRPParams struct {
	Poll       sim.Duration `key:"poll" doc:"how often a queue is looked at"`
	Detect     sim.Duration `key:"deadlock_detect" doc:"how long it must be paused without a break"`
	Recovery   sim.Duration `key:"deadlock_recovery" doc:"how long pauses are ignored: they are obeyed again after that, quiet or not"`
	TurnOff    int          `key:"turn_off" doc:"deadlocks after which pauses are ignored for good; 0: never"`
	Priorities []int        `key:"priorities" range:"0..7" doc:"priorities that are watched; none: all under PFC"`
}

var _ = sim.Register(Watchdogs, "vrp",
	"Huawei VRP, deadlock detection: a poll counts if the queue was paused all the time; pauses are ignored for a fixed time, and for good after a number of deadlocks",
	VRPParams{Poll: 10 * sim.Millisecond, Detect: 100 * sim.Millisecond, Recovery: 100 * sim.Millisecond}, nil,
	func(p VRPParams) (WatchdogConfig, error) {
		c, err := WatchdogParams{Poll: p.Poll, Detect: max(p.Detect, p.Poll), Restore: max(p.Recovery, p.Poll), Action: "forward", Priorities: p.Priorities}.config(vrpWatchdog{})
		switch {
		case err != nil:
			return c, err
		case p.Detect < p.Poll:
			return c, belowPoll("deadlock_detect", p.Detect, p.Poll)
		case p.Recovery < p.Poll:
			return c, belowPoll("deadlock_recovery", p.Recovery, p.Poll)
		}
		c.TurnOff = p.TurnOff
		return c, times("turn_off", p.TurnOff, 0)
	})

// vrpWatchdog is the deadlock detection of CloudEngine switches: dcb pfc,
// priority N deadlock-detect time, deadlock-recovery time, turn-off threshold.
// The units of the two times are not published with the examples, so that they
// are times here; how often it looks is not said either. Source: Huawei,
// CloudEngine configuration guides, PFC (words); the rule is as H3C's guides,
// which have the same, say: in the state of XOFF for all of the interval.
type vrpWatchdog struct{ counted }

func (vrpWatchdog) Storm(before, now QueueSample, _ sim.Duration) bool {
	return before.Paused && now.Paused && now.Off == before.Off
}

func (vrpWatchdog) Quiet(_, _ QueueSample) bool { return true }
