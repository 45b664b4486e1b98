package fabric

// SonicParams are what the watchdogs of SONiC have on every chip.
type SonicParams struct {
	WatchdogParams
	BigRedSwitch bool `key:"big_red_switch" doc:"all watched queues are treated as in a storm from the beginning and for good, whatever comes in"`
}

// config is that of SONiC: an alert ends as soon as a poll is no storm.
// Source: sonic-swss, orchagent/pfcwdorch.cpp and pfc_detect_*.lua.
func (p SonicParams) config(w Watchdog) (WatchdogConfig, error) {
	c, err := p.WatchdogParams.config(w)
	c.AlertEnds, c.BigRedSwitch = true, p.BigRedSwitch
	return c, err
}

// stalled reports whether frames wait and none of them has left since the poll
// before.
func stalled(before, now QueueSample) bool {
	return now.Bytes > 0 && now.TxPackets == before.TxPackets
}

// pausesCame reports whether pause frames of either kind came in.
func pausesCame(before, now QueueSample) bool {
	return now.XoffRx+now.XonRx > before.XoffRx+before.XonRx
}
