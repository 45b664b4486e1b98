package figure

import (
	"fmt"

	"rdmasim/sim/trace"
)

var _ = register("queue", "queue length over time with Kmin, Kmax and XOFF", Congestion, 1, queue)

// reachable is how far above the data a threshold may lie and still be drawn:
// farther, it would flatten the data.
const reachable = 2.5

// queue draws the longest egress queues against the marking thresholds of
// their priority and the XOFF threshold of the ingress side.
func queue(r *Run) Figure {
	const title = "Queue length over time"
	list := r.onSwitches(r.seriesOf(trace.SeriesQueueBytes))
	if len(list) == 0 {
		if len(r.Series[trace.SeriesQueueBytes]) > 0 {
			return empty(title, "No egress queue ever held a packet at the end of a bin.")
		}
		return r.noSeries(title, trace.SeriesQueueBytes)
	}
	panel := r.timePanel(270)
	b := worst(list, func(s *Series) float64 { return s.Peak }, meanOf)
	longest := b.named[0]
	spread := len(list) <= maxLines
	if spread {
		panel.Plot.Add(r.minMax(longest))
	}
	top := b.draw(r, &panel)
	if spread {
		top = longest.Peak
		panel.Legend = append(panel.Legend, Key{Label: "from least to most, " + longest.Object, Fill: toneBand.color()})
	}
	top, notes := r.thresholds(&panel, longest.Object, top)
	linear(&panel.Plot.Y, "queue length", pick(byteScales, top), 0, top*1.08)
	r.addMoments(panel.Plot)
	f := Figure{Title: title, Panels: []Panel{panel}, Table: seriesTable(b.all(), "queue, longest first", Size)}
	f.Caption = fmt.Sprintf("The longest queue is %s: %s at %s.%s", longest.Object, Size(longest.Peak), Seconds(longest.PeakAt.Seconds()), notes)
	return f
}

// onSwitches leaves the queues of hosts out, if there are others: what waits to
// be sent says nothing of the fabric.
func (r *Run) onSwitches(list []*Series) []*Series {
	hosts := map[string]bool{}
	for _, n := range r.Topology.Nodes {
		hosts[n.Name] = n.Kind == "host"
	}
	var out []*Series
	for _, s := range list {
		if !hosts[NodeOf(s.Object)] {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return list
	}
	return out
}

// minMax is the range of one series in each column.
func (r *Run) minMax(s *Series) band {
	lo, hi := make([]float64, len(s.Min)), make([]float64, len(s.Max))
	for i := range lo {
		lo[i], hi[i] = float64(s.Min[i]), float64(s.Max[i])
	}
	return band{x: r.Clock.Borders(), lo: lo, hi: hi, fill: toneBand.color()}
}

// thresholds draws Kmin and Kmax of a queue and the smallest XOFF threshold of
// its switch, as far as the axis reaches; notes names those beyond it.
func (r *Run) thresholds(panel *Panel, queue string, top float64) (newTop float64, notes string) {
	var far []string
	var list levels
	reach := top * reachable
	add := func(name string, v float64, l level) {
		if v > reach {
			far = append(far, fmt.Sprintf("%s (%s)", name, Size(v)))
			return
		}
		top = max(top, v)
		l.y, l.name = v, name+" "+Size(v)
		list = append(list, l)
	}
	if m, ok := r.MarkingOf(queue); ok {
		add("Kmin", m.Kmin, level{sty: lineOf(toneMuted, 0.9, 4, 3), tone: toneMuted})
		add("Kmax", m.Kmax, level{sty: lineOf(toneMuted, 0.9, 8, 3), tone: toneMuted})
	}
	if v, ok := r.lowestXoff(NodeOf(queue)); ok {
		notes = " XOFF is a threshold of the ingress side, the lowest that a packet met on " + NodeOf(queue) + "."
		add("lowest XOFF", v, level{sty: lineOf(toneWarn, 0.9, 2, 2), tone: toneWarn})
	}
	if len(list) > 0 {
		panel.Plot.Add(list)
	}
	switch len(far) {
	case 0:
	case 1:
		notes += " " + Capital(far[0]) + " lies above what is drawn."
	default:
		notes += " " + Capital(List(far)) + " lie above what is drawn."
	}
	return top, notes
}

// lowestXoff returns the smallest XOFF threshold that a packet met on a switch.
func (r *Run) lowestXoff(node string) (low float64, ok bool) {
	for _, c := range r.Counter(trace.CountXoffMinimum) {
		if NodeOf(c.Object) == node && (!ok || c.Value < low) {
			low, ok = c.Value, true
		}
	}
	return low, ok
}
