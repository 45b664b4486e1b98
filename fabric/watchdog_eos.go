package fabric

import (
	"fmt"

	"rdmasim/sim"
)

// EOSParams are those of the watchdog of EOS, in its words.
type EOSParams struct {
	Timeout    sim.Duration `key:"timeout" doc:"how long a queue must be stuck; EOS takes 0.01 to 60 s"`
	Recovery   sim.Duration `key:"recovery_time" doc:"how long it must not be paused before it is given back; EOS takes 0.01 to 60 s"`
	Polling    sim.Duration `key:"polling_interval" doc:"how often it is looked at: at most half of the shorter time; EOS takes 0.005 to 30 s"`
	Forced     bool         `key:"forced" doc:"it is given back after the recovery time, paused or not"`
	Action     string       `key:"action" oneof:"drop,no-drop,errdisable" doc:"drop the queue's frames, let them go on, or take the port down; pauses are ignored"`
	Priorities []int        `key:"priorities" range:"0..7" doc:"priorities that are watched; none: all under PFC"`
}

var _ = sim.Register(Watchdogs, "eos",
	"Arista EOS: a poll counts if the queue is paused, frames wait and none was sent; it is given back when it is not paused any more, or after a fixed time",
	EOSParams{Timeout: 200 * sim.Millisecond, Recovery: 200 * sim.Millisecond, Polling: 100 * sim.Millisecond, Action: "drop"}, nil, newEOSWatchdog)

// eosWatchdog is that of EOS. Which counters it reads is not published; a queue
// is taken to be stuck as junosWatchdog has it. Source: Arista, schema of AVD
// (limits and words), EOS User Manual.
type eosWatchdog struct {
	junosWatchdog
	forced bool
}

func (w eosWatchdog) Quiet(_, now QueueSample) bool { return w.forced || !now.Paused }

var eosActions = map[string]WatchdogAction{"drop": WatchdogDrop, "no-drop": WatchdogForward, "errdisable": WatchdogErrdisable}

func newEOSWatchdog(p EOSParams) (WatchdogConfig, error) {
	c := WatchdogConfig{Watchdog: eosWatchdog{forced: p.Forced}, Poll: p.Polling, Detect: p.Timeout, Restore: p.Recovery}
	action, ok := eosActions[p.Action]
	switch shorter := min(p.Timeout, p.Recovery); {
	case !ok:
		return c, fmt.Errorf("action: %q: want drop, no-drop or errdisable", p.Action)
	case p.Polling < minPoll:
		return c, fmt.Errorf("polling_interval: %v: want at least %v", p.Polling, minPoll)
	case p.Timeout < p.Polling:
		return c, belowPoll("timeout", p.Timeout, p.Polling)
	case p.Recovery < p.Polling:
		return c, belowPoll("recovery_time", p.Recovery, p.Polling)
	case p.Polling > shorter/2:
		return c, fmt.Errorf("polling_interval: %v: EOS wants at most half of timeout and recovery_time, here %v", p.Polling, shorter/2)
	}
	c.Action = action
	return c, c.watch(p.Priorities)
}

func belowPoll(key string, t, poll sim.Duration) error {
	return fmt.Errorf("%s: %v: is less than the time between polls, %v", key, t, poll)
}
