package page

import "rdmasim/sim/trace"

// deviceChecks says what a run on real devices found when it compared what
// queues, devices and programs have counted.
func (w *writer) deviceChecks() {
	list, err := w.r.Checks()
	if err != nil {
		w.warn([]string{trace.FileChecks}, "The checks of the devices cannot be read: %v.", err)
		return
	}
	for i := range list {
		from := []string{trace.FileChecks + " " + list[i].Subject}
		if list[i].OK {
			w.say(from, "%s: %s.", list[i].Subject, list[i].Text)
		} else {
			w.warn(from, "%s does not agree: %s.", list[i].Subject, list[i].Text)
		}
	}
}
