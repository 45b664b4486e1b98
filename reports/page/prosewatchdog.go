package page

import (
	"fmt"

	"rdmasim/reports/figure"
)

// watchdogs says what PFC watchdogs found.
func (w *writer) watchdogs() {
	d := &w.m.Watchdog
	if d.Storms == nil {
		return
	}
	from := []string{"watchdog.storms", "watchdog.restored", "watchdog.storm_s"}
	if *d.Storms == 0 {
		w.say(from[:1], "PFC watchdogs found no storm.")
		return
	}
	text := fmt.Sprintf("PFC watchdogs found %s", figure.Count(*d.Storms, "storm"))
	if d.Restored != nil {
		text += fmt.Sprintf(" and the end of %s", figure.Whole(*d.Restored))
	}
	if d.Seconds != nil {
		text += fmt.Sprintf("; queues were out of service for %s", figure.Seconds(*d.Seconds))
	}
	w.say(from, "%s.", text)
}

// globalPauses says what came of 802.3x flow control.
func (w *writer) globalPauses() {
	g := &w.m.GlobalPause
	if g.Received == nil || *g.Received == 0 {
		return
	}
	w.say([]string{"global_pause.received"}, "%s of 802.3x, which stop the whole link, arrived; ports under PFC ignore them.", figure.Count(*g.Received, "pause frame"))
}
