package fabric

import "rdmasim/sim"

// BroadcomParams are those of the watchdog of SONiC on Broadcom chips.
type BroadcomParams struct {
	WatchdogParams
	XonKeeps bool `key:"xon_keeps_storm" doc:"true, as shipped: any pause frame, XON too, keeps the queue from being given back"`
}

// sonicTimers are the defaults of "pfcwd start_default" on up to 32 ports.
// Source: sonic-utilities, pfcwd/main.py.
var sonicTimers = WatchdogParams{Poll: 200 * sim.Millisecond, Detect: 200 * sim.Millisecond, Restore: 200 * sim.Millisecond, Action: "drop"}

var _ = sim.Register(Watchdogs, "broadcom",
	"SONiC on Broadcom chips: a poll counts if pauses came in, none of them ended, and the queue was paused at this poll and the one before",
	BroadcomParams{WatchdogParams: sonicTimers, XonKeeps: true}, nil,
	func(p BroadcomParams) (WatchdogConfig, error) { return p.config(broadcomWatchdog{restore{p.XonKeeps}}) })

// broadcomWatchdog is pfc_detect_broadcom.lua of sonic-swss.
type broadcomWatchdog struct{ restore }

func (broadcomWatchdog) Storm(before, now QueueSample, _ sim.Duration) bool {
	return now.XoffRx+now.XonRx > before.XoffRx+before.XonRx && now.Off == before.Off && before.Paused && now.Paused
}

func (broadcomWatchdog) Needs(detect sim.Duration) sim.Duration { return detect }

// restore is the end of a storm as pfc_restore.lua of sonic-swss has it, for
// all chips: no pause frame at all between two polls. XON counts as well, which
// is known as a defect (sonic-swss issue 4581).
type restore struct{ xonKeeps bool }

func (r restore) Quiet(before, now QueueSample) bool {
	return now.XoffRx == before.XoffRx && (!r.xonKeeps || now.XonRx == before.XonRx)
}
