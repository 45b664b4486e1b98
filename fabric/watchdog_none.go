package fabric

import "rdmasim/sim"

// NoWatchdogParams are those of no watchdog.
type NoWatchdogParams struct{}

var _ = sim.Register(Watchdogs, "none", "a storm lasts as long as it lasts", NoWatchdogParams{}, nil,
	func(NoWatchdogParams) (WatchdogConfig, error) { return WatchdogConfig{}, nil })
