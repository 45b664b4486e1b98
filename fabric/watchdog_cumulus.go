package fabric

import "rdmasim/sim"

// CumulusParams are those of the watchdog of Cumulus Linux, in its words.
type CumulusParams struct {
	Poll       sim.Duration `key:"polling_interval" doc:"how often a queue is looked at; NVUE takes 100ms to 5s"`
	Robustness int          `key:"robustness" range:"1..1000" doc:"polls of a storm, one after the other, after which it is mitigated"`
	Priorities []int        `key:"priorities" range:"0..7" doc:"priorities that are watched; none: all under PFC"`
}

var _ = sim.Register(Watchdogs, "cumulus",
	"NVIDIA Cumulus Linux: a poll counts if frames wait, none was sent and pauses came in; the queue drops until as many polls are quiet",
	CumulusParams{Poll: 100 * sim.Millisecond, Robustness: 3}, nil,
	func(p CumulusParams) (WatchdogConfig, error) {
		if err := times("robustness", p.Robustness, 1); err != nil {
			return WatchdogConfig{}, err
		}
		return ofPolls(cumulusWatchdog{}, "polling_interval", p.Poll, p.Robustness, p.Robustness, p.Priorities)
	})

// cumulusWatchdog is that of Cumulus Linux. Its guide says what is mitigated and
// when, and of the end that it is there when congestion diminishes: as many
// polls without a pause frame as it takes to find a storm are taken. Source:
// NVIDIA, Cumulus Linux User Guide, Quality of Service, PFC Watchdog.
type cumulusWatchdog struct{ counted }

func (cumulusWatchdog) Storm(before, now QueueSample, _ sim.Duration) bool {
	return stalled(before, now) && pausesCame(before, now)
}

func (cumulusWatchdog) Quiet(before, now QueueSample) bool { return !pausesCame(before, now) }
