package fabric

import (
	"fmt"

	"rdmasim/sim"
)

// WatchdogAction is what a watchdog does to a queue in a storm.
type WatchdogAction uint8

// Actions of a watchdog.
const (
	WatchdogDrop       WatchdogAction = iota // frames of the queue, and those of its priority that come by the port, are dropped; pauses are ignored
	WatchdogForward                          // pauses are ignored, frames go on
	WatchdogAlert                            // an event and a counter, nothing else
	WatchdogErrdisable                       // the port is out of service for good: all frames to it and from it are dropped
)

// watchdogActions are the words for them.
var watchdogActions = map[string]WatchdogAction{"drop": WatchdogDrop, "forward": WatchdogForward, "alert": WatchdogAlert, "errdisable": WatchdogErrdisable}

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
	// Polls returns after how many polls of storm, one after the other, the watchdog acts.
	Polls(detect, poll sim.Duration) int
	// Rests returns after how many polls of quiet it gives the queue back.
	Rests(restore, poll sim.Duration) int
}

// counted counts polls by what each of them stands for: those that make up a
// time.
type counted struct{}

func (counted) Polls(detect, poll sim.Duration) int  { return pollsIn(detect, poll) }
func (counted) Rests(restore, poll sim.Duration) int { return pollsIn(restore, poll) }

func pollsIn(t, poll sim.Duration) int { return max(int((t+poll-1)/poll), 1) }

// WatchdogConfig is a watchdog with its timers. The zero value is none.
type WatchdogConfig struct {
	Watchdog
	Poll, Detect, Restore sim.Duration
	Action                WatchdogAction
	Priorities            uint8 // watched; 0 = all under PFC
	// AlertEnds ends an alert at the first poll that is no storm, without any
	// time of quiet.
	AlertEnds bool
	// TurnOff is the number of storms after which a queue is not given back, 0 = never.
	TurnOff int
	// BigRedSwitch has all watched queues in their storm from the beginning, for good.
	BigRedSwitch bool
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
	return c, c.watch(p.Priorities)
}

// watch sets the priorities that are watched.
func (c *WatchdogConfig) watch(priorities []int) error {
	for _, k := range priorities {
		if k < 0 || k > 7 {
			return fmt.Errorf("priorities: %d: want 0..7", k)
		}
		c.Priorities |= 1 << k
	}
	return nil
}

// mostPolls bounds the polls that times of a watchdog are given in.
const mostPolls = 1_000_000

// ofPolls makes a flavour of timers that are numbers of polls.
func ofPolls(w Watchdog, at string, poll sim.Duration, detect, restore int, priorities []int) (WatchdogConfig, error) {
	c := WatchdogConfig{Watchdog: w, Poll: poll}
	switch {
	case poll < minPoll:
		return c, fmt.Errorf("%s: %v: want at least %v", at, poll, minPoll)
	case poll > sim.Duration(1<<62)/mostPolls:
		return c, fmt.Errorf("%s: %v: want less than %v", at, poll, sim.Duration(1<<62)/mostPolls)
	}
	c.Detect, c.Restore = sim.Duration(detect)*poll, sim.Duration(restore)*poll
	return c, c.watch(priorities)
}

// times checks a number of polls.
func times(key string, n, low int) error {
	if n < low || n > mostPolls {
		return fmt.Errorf("%s: %d: want %d..%d", key, n, low, mostPolls)
	}
	return nil
}
