package page

import (
	"fmt"

	"rdmasim/sim/trace"
)

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

// devices says what the devices of a run could not tell.
func (w *writer) devices() {
	d, ok, err := w.r.Devices()
	if err != nil {
		w.warn([]string{trace.FileDevices}, "The state of the devices cannot be read: %v.", err)
		return
	}
	if !ok {
		return
	}
	from := []string{trace.FileDevices}
	for i := range d.Devices {
		s := &d.Devices[i]
		text := fmt.Sprintf("%s (driver %s, firmware %s) stands on %s with an MTU of %d", s.Name, word(s.Driver), word(s.Firmware), word(s.Netdev), s.MTU)
		if s.PFC != nil {
			text += fmt.Sprintf("; PFC is on for priorities %v", s.PFC)
		}
		w.say(from, "%s.", text)
	}
	for _, p := range d.Pollers {
		if p.CPUs != "" && p.Node >= 0 && p.Note == "" {
			w.say(from, "Completions were served on CPU %s, near %s (NUMA node %d).", p.CPUs, p.Device, p.Node)
		} else if p.Node >= 0 {
			w.warn(from, "Completions were not served near %s (NUMA node %d): %s.", p.Device, p.Node, p.Note)
		}
	}
	for _, m := range byReason(d.Missing) {
		w.say(from, "Not measured: %s (%s).", m.What, m.Reason)
	}
}

// byReason joins what is missing for one reason, in the order of the list.
func byReason(list []trace.Missing) (out []trace.Missing) {
	at := map[string]int{}
	for _, m := range list {
		if i, ok := at[m.Reason]; ok {
			out[i].What += ", " + m.What
			continue
		}
		at[m.Reason] = len(out)
		out = append(out, m)
	}
	return out
}

func word(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
