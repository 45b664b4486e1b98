package metric

import (
	"fmt"
	"slices"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// allEvidence gives a sentence for every cause that took enough of the time.
func (x *examiner) allEvidence(m *passage, s *Shares) (list []string) {
	var causes []Cause
	for c := CauseHost; c < NumCauses; c++ {
		if s.Of(c) >= mainShare {
			causes = append(causes, c)
		}
	}
	slices.SortStableFunc(causes, func(a, b Cause) int { return int(min(max(s[b]-s[a], -1), 1)) })
	for _, c := range causes {
		list = append(list, x.evidence(m, c, s[c]))
	}
	return list
}

func seconds(d sim.Duration) string { return Format(d.Seconds(), Seconds) }

// evidence says in a sentence how the run tells that a cause took so much of
// the time of the message that was examined last.
func (x *examiner) evidence(m *passage, c Cause, d sim.Duration) string {
	of := &m.delays.Of
	w := &x.why[c]
	switch c {
	case CauseHost:
		paced := of[trace.DelayCongestion]
		if !x.fixed {
			paced = 0
		}
		switch longest := max(of[trace.DelayQueue], of[trace.DelayShared], paced, of[trace.DelayHold]); longest {
		case of[trace.DelayQueue]:
			return fmt.Sprintf("earlier messages of its queue pair were being sent for %s", seconds(longest))
		case of[trace.DelayShared]:
			return fmt.Sprintf("its port sent packets of other queue pairs for %s", seconds(longest))
		case of[trace.DelayHold]:
			return fmt.Sprintf("the host was not ready for %s", seconds(longest))
		}
		return fmt.Sprintf("its sender paces at a fixed rate, which cost %s", seconds(d))
	case CauseWindow:
		return fmt.Sprintf("the window of the NIC was used up for %s while the path answered as fast as it does alone", seconds(d))
	case CauseCongestion, CauseCollision:
		return x.congestion(m, w.port, c, d)
	case CausePaused, CauseVictim, CauseFault:
		return x.paused(m, w, c, d)
	case CauseReceiver:
		if used, ok := x.slow[m.Dst]; ok {
			return fmt.Sprintf("%s took packets more slowly than they came: %s waited in its receive buffer at most; that cost %s", m.Dst, Format(used, Bytes), seconds(d))
		}
		return fmt.Sprintf("%s paused its switch because it took packets too slowly; that cost %s", m.Dst, seconds(d))
	case CauseResend:
		return fmt.Sprintf("%s sent again, which cost %s%s", were(m.Retransmits, "packet"), seconds(d), x.lostOn(m))
	case CauseTimeout:
		return fmt.Sprintf("no answer came until a local ACK timer ran out, which cost %s%s", seconds(d), x.lostOn(m))
	case CauseRNR:
		return fmt.Sprintf("%s had no receive posted and asked to wait (RNR NAK), which cost %s", m.Dst, seconds(d))
	case CauseUnknown:
		return fmt.Sprintf("nothing in the run tells where %s went", seconds(d))
	}
	return fmt.Sprintf("alone on its path it takes %s", seconds(m.Ideal))
}

func (x *examiner) congestion(m *passage, port trace.Object, c Cause, d sim.Duration) string {
	how := "its packets waited in queues"
	if m.delays.Of[trace.DelayCongestion] > m.delays.Of[trace.DelayFlight] {
		how = "congestion control held it back"
	}
	if port == "" {
		return fmt.Sprintf("%s, which cost %s", how, seconds(d))
	}
	text := fmt.Sprintf("%s, which cost %s: %s had the longest queue of its way, %s in the mean and %s at most", how, seconds(d), port,
		Format(x.links.at(port, m.way.Prio, x.links.queues), Bytes), Format(x.links.at(port, m.way.Prio, x.links.longest), Bytes))
	if n := x.links.at(port, m.way.Prio, x.links.marks); n > 0 {
		text += fmt.Sprintf(", and marked %.0f packets", n)
	}
	if c == CauseCollision {
		mean, n := x.links.others(port)
		text += fmt.Sprintf("; it was used to %.0f %%, the %d equal-cost links to %.0f %% in the mean", x.links.load[port]*100, n, mean*100)
	}
	return text
}

func (x *examiner) paused(m *passage, w *reason, c Cause, d sim.Duration) string {
	if what := x.sick.during(w.port, m); c == CauseFault && w.root == nil && what != "" {
		return fmt.Sprintf("%s was slow, which cost %s: %s", w.port, seconds(d), what)
	}
	if w.root == nil {
		return fmt.Sprintf("its port was paused for %s", seconds(d))
	}
	text := fmt.Sprintf("%s was paused, which cost %s: the root is %s, a %s", w.port, seconds(d), w.root.where, w.root.kind)
	if c == CauseVictim {
		return text + ", which it does not cross"
	}
	return text + " on its way"
}

// lostOn says where packets of its way were dropped.
func (x *examiner) lostOn(m *passage) string {
	if m.way == nil {
		return ""
	}
	for _, way := range [][]trace.Object{m.way.There, m.way.Back} {
		for _, port := range way {
			// A drop is reported by the port at which the frame arrived.
			for _, at := range []trace.Object{port, x.links.far[port]} {
				if d := x.drops[at]; d.packets > 0 {
					return fmt.Sprintf("; %s dropped at %s (%s)", were(d.packets, "packet"), at, d.why)
				}
			}
		}
	}
	return ""
}
