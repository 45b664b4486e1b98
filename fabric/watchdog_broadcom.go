package fabric

import "rdmasim/sim"

// BroadcomParams are those of the watchdog of SONiC on Broadcom chips.
type BroadcomParams struct {
	SonicParams
	XonKeeps bool `key:"xon_keeps_storm" doc:"true, as shipped: any pause frame, XON too, keeps the queue from being given back"`
	TwoPolls bool `key:"two_polls" doc:"a storm must show in two polls at least, as newer images have it; older ones act after one where detect is no more than poll"`
}

// sonicTimers are the defaults of "pfcwd start_default" on up to 32 ports.
// Source: sonic-utilities, pfcwd/main.py.
var sonicTimers = SonicParams{WatchdogParams: WatchdogParams{Poll: 200 * sim.Millisecond, Detect: 200 * sim.Millisecond, Restore: 200 * sim.Millisecond, Action: "drop"}}

var _ = sim.Register(Watchdogs, "broadcom",
	"SONiC on Broadcom chips: a poll counts if pauses came in, none of them ended, and the queue was paused at this poll and the one before",
	BroadcomParams{SonicParams: sonicTimers, XonKeeps: true}, nil,
	func(p BroadcomParams) (WatchdogConfig, error) {
		return p.config(broadcomWatchdog{restore{xonKeeps: p.XonKeeps}, p.TwoPolls})
	})

// broadcomWatchdog is pfc_detect_broadcom.lua of sonic-swss. In newer versions
// of it a poll counts for less than all of the detection time.
type broadcomWatchdog struct {
	restore
	twoPolls bool
}

func (broadcomWatchdog) Storm(before, now QueueSample, _ sim.Duration) bool {
	return pausesCame(before, now) && now.Off == before.Off && before.Paused && now.Paused
}

func (w broadcomWatchdog) Polls(detect, poll sim.Duration) int {
	n := pollsIn(detect, poll)
	if w.twoPolls {
		n = max(n, 2)
	}
	return n
}

// restore is the end of a storm as pfc_restore.lua of sonic-swss has it, for
// all chips but those of Cisco: no pause frame at all between two polls. XON
// counts as well, which is known as a defect (sonic-swss issue 4581).
type restore struct {
	counted
	xonKeeps bool
}

func (r restore) Quiet(before, now QueueSample) bool {
	return now.XoffRx == before.XoffRx && (!r.xonKeeps || now.XonRx == before.XonRx)
}
