package fabric

import "rdmasim/sim"

var _ = sim.Register(Watchdogs, "cisco-8000",
	"SONiC on Cisco Silicon One: a poll counts if the queue is paused at it, and ends a storm if it is not; one more poll than make up restore",
	sonicTimers, nil,
	func(p SonicParams) (WatchdogConfig, error) { return p.config(ciscoWatchdog{}) })

// ciscoWatchdog is pfc_detect_cisco-8000.lua and pfc_restore_cisco-8000.lua of
// sonic-swss: the state of the queue at the poll decides, and nothing between
// two polls. Restoration counts down to zero first and acts at the poll after.
type ciscoWatchdog struct{ counted }

func (ciscoWatchdog) Storm(_, now QueueSample, _ sim.Duration) bool { return now.Paused }

func (ciscoWatchdog) Quiet(_, now QueueSample) bool { return !now.Paused }

func (ciscoWatchdog) Rests(restore, poll sim.Duration) int { return pollsIn(restore, poll) + 1 }
