package fabric

import (
	"fmt"

	"rdmasim/sim"
)

// WatchdogAction is what a watchdog does to a queue in a storm.
type WatchdogAction uint8

// Actions of a watchdog.
const (
	WatchdogDrop    WatchdogAction = iota // frames of the queue, and those of its priority that come by the port, are dropped; pauses are ignored
	WatchdogForward                       // pauses are ignored, frames go on
	WatchdogAlert                         // an event and a counter, nothing else
)

// watchdogActions are the words for them.
var watchdogActions = map[string]WatchdogAction{"drop": WatchdogDrop, "forward": WatchdogForward, "alert": WatchdogAlert}

// QueueSample is what a watchdog can see of one queue at a poll: the counters
// of the switch chip.
type QueueSample struct {
	Bytes     int64        // waiting
	TxPackets uint64       // sent from the queue so far
	XoffRx    uint64       // pause frames with a time received so far
	XonRx     uint64       // pause frames without one
	Off       uint64       // transitions from paused to not paused
	PausedFor sim.Duration // how long the queue's priority has been paused in all
	Paused    bool
}

// Watchdog is a flavour of the PFC watchdog: how it tells a storm, and its end,
// from two polls.
type Watchdog interface {
	// Storm reports whether the time between two polls counts as a storm.
	Storm(before, now QueueSample, poll sim.Duration) bool
	// Quiet reports whether the time between two polls counts as its end.
	Quiet(before, now QueueSample) bool
	// Needs returns after how much storm time the watchdog acts.
	Needs(detect sim.Duration) sim.Duration
}

// WatchdogConfig is a watchdog with its timers. The zero value is none.
type WatchdogConfig struct {
	Watchdog
	Poll, Detect, Restore sim.Duration
	Action                WatchdogAction
	Priorities            uint8 // watched; 0 = all under PFC
}

// WatchdogParams are the parameters of every flavour.
type WatchdogParams struct {
	Poll       sim.Duration `key:"poll" doc:"how often counters are read"`
	Detect     sim.Duration `key:"detect" doc:"how long a storm must last; it is found at a poll"`
	Restore    sim.Duration `key:"restore" doc:"how long it must be quiet before the queue is given back"`
	Action     string       `key:"action" oneof:"drop,forward,alert" doc:"drop the queue's frames and ignore pauses, ignore pauses, or only say so"`
	Priorities []int        `key:"priorities" range:"0..7" doc:"priorities that are watched; none: all under PFC"`
}

// Watchdogs is the catalogue of flavours.
var Watchdogs = sim.NewCatalogue[WatchdogConfig]("watchdog")

// minPoll keeps a watchdog from taking more events than the traffic.
const minPoll = sim.Microsecond

// config checks the parameters and makes a flavour of them.
func (p WatchdogParams) config(w Watchdog) (WatchdogConfig, error) {
	c := WatchdogConfig{Watchdog: w, Poll: p.Poll, Detect: p.Detect, Restore: p.Restore}
	a, ok := watchdogActions[p.Action]
	switch {
	case !ok:
		return c, fmt.Errorf("action: %q: want drop, forward or alert", p.Action)
	case p.Poll < minPoll:
		return c, fmt.Errorf("poll: %v: want at least %v", p.Poll, minPoll)
	case p.Detect < p.Poll:
		return c, fmt.Errorf("detect: %v: is less than poll, %v: a storm is found at a poll", p.Detect, p.Poll)
	case p.Restore < p.Poll:
		return c, fmt.Errorf("restore: %v: is less than poll, %v: quiet is found at a poll", p.Restore, p.Poll)
	}
	c.Action = a
	for _, k := range p.Priorities {
		if k < 0 || k > 7 {
			return c, fmt.Errorf("priorities: %d: want 0..7", k)
		}
		c.Priorities |= 1 << k
	}
	return c, nil
}
