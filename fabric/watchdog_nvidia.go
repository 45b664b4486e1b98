package fabric

import "rdmasim/sim"

// NVIDIAParams are those of the watchdog of SONiC on NVIDIA Spectrum.
type NVIDIAParams struct {
	SonicParams
	XonKeeps bool `key:"xon_keeps_storm" doc:"true, as shipped: any pause frame, XON too, keeps the queue from being given back"`
}

var _ = sim.Register(Watchdogs, "nvidia",
	"SONiC on NVIDIA Spectrum: a poll counts if frames wait, none was sent, and the queue was paused for more than 99% of the time",
	NVIDIAParams{SonicParams: sonicTimers, XonKeeps: true}, nil,
	func(p NVIDIAParams) (WatchdogConfig, error) {
		return p.config(nvidiaWatchdog{restore{xonKeeps: p.XonKeeps}})
	})

// nvidiaWatchdog is pfc_detect_mellanox.lua of sonic-swss since 2024 (pull
// request 3036): 99 % of the poll and of the detection time.
type nvidiaWatchdog struct{ restore }

func (nvidiaWatchdog) Storm(before, now QueueSample, poll sim.Duration) bool {
	return stalled(before, now) && now.PausedFor-before.PausedFor > poll/100*99
}

func (nvidiaWatchdog) Polls(detect, poll sim.Duration) int { return pollsIn(detect/100*99, poll) }
