package fabric

import "rdmasim/sim"

// NephosParams are those of the watchdog of SONiC on Nephos chips.
type NephosParams struct {
	SonicParams
	XonKeeps bool `key:"xon_keeps_storm" doc:"true, as shipped: any pause frame, XON too, keeps the queue from being given back"`
}

var _ = sim.Register(Watchdogs, "nephos",
	"SONiC on Nephos chips, and on NVIDIA Spectrum before 2024: a poll counts if none was sent, and either frames wait and pauses came in, or none waits and the queue was paused for more than 80% of the time",
	NephosParams{SonicParams: sonicTimers, XonKeeps: true}, nil,
	func(p NephosParams) (WatchdogConfig, error) {
		return p.config(nephosWatchdog{restore{xonKeeps: p.XonKeeps}})
	})

// nephosWatchdog is pfc_detect_nephos.lua of sonic-swss. Its second half is what
// false alarms of it came from (sonic-swss pull request 3036): an empty queue
// that is paused is a storm to it.
type nephosWatchdog struct{ restore }

func (nephosWatchdog) Storm(before, now QueueSample, poll sim.Duration) bool {
	if now.TxPackets != before.TxPackets {
		return false
	}
	if now.Bytes > 0 {
		return pausesCame(before, now)
	}
	return now.PausedFor-before.PausedFor > poll/100*80
}
