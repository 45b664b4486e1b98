package metric

import "rdmasim/sim/trace"

// Watchdog is what PFC watchdogs found: null where no switch has one.
type Watchdog struct {
	Storms   *int64   `json:"storms" doc:"storms that PFC watchdogs of switches found"`
	Restored *int64   `json:"restored" doc:"storms of which they found the end"`
	Seconds  *float64 `json:"storm_s" unit:"s" doc:"time during which storms were in force, in queue seconds"`
}

// GlobalPause is 802.3x flow control: null where no port saw a frame of it.
type GlobalPause struct {
	Sent     *int64 `json:"sent" doc:"802.3x pause frames sent: XOFF, refreshes and XON"`
	Received *int64 `json:"received" doc:"802.3x pause frames received, also those that a port under PFC ignores"`
}

func watchdogFigures(t totals) Watchdog {
	return Watchdog{Storms: t.seen(trace.CountWatchdogStorms), Restored: t.seen(trace.CountWatchdogRestored), Seconds: t.sum[trace.CountWatchdogSeconds]}
}

func globalPauses(t totals) GlobalPause {
	return GlobalPause{Sent: t.together(trace.CountPauseXoffTx, trace.CountPauseRefreshTx, trace.CountPauseXonTx),
		Received: t.together(trace.CountPauseXoffRx, trace.CountPauseXonRx)}
}

// together sums counters that somebody wrote.
func (t totals) together(names ...string) *int64 {
	var sum *int64
	for _, n := range names {
		if v := t.seen(n); v != nil {
			if sum == nil {
				sum = new(int64)
			}
			*sum += *v
		}
	}
	return sum
}
