package figure

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"

	"rdmasim/sim/trace"
)

var _ = register("ingress", "ingress occupancy against the XOFF threshold", Pauses, 1, ingress)

// maxGroups is how many priority groups with a threshold each stay readable.
const maxGroups = 3

// comparable is how far above the occupancy a threshold is still drawn. It is
// what the figure is about, so that the data may be flattened for it.
const comparable = 10

// ingress draws why PFC did or did not fire: the shared buffer that the
// fullest priority groups used, and the dynamic threshold that they met.
func ingress(r *Run) Figure {
	const title = "Ingress occupancy and XOFF threshold"
	list := r.seriesOf(trace.SeriesIngressBytes)
	if len(list) == 0 {
		if len(r.Series[trace.SeriesIngressBytes]) > 0 {
			return empty(title, "No priority group ever used the shared buffer.")
		}
		return r.noSeries(title, trace.SeriesIngressBytes)
	}
	xoff := map[string]*Series{}
	for _, s := range r.Series[trace.SeriesThreshold] {
		xoff[s.Object] = s
	}
	b := worst(list, func(s *Series) float64 { return closeness(s, xoff[s.Object]) }, peakOf)
	shown := b.named[:min(len(b.named), maxGroups)]
	panel := r.timePanel(240)
	panel.Plot.Add(grid{x: true, y: true})
	top := 0.0
	for _, s := range shown {
		top = max(top, s.Peak)
	}
	reach := top * comparable
	hidden := 0
	for i, s := range shown {
		sty := seriesStyle(i)
		if x := xoff[s.Object]; x != nil {
			thin := sty
			thin.Width, thin.Dashes = 0.9, []vg.Length{3, 2}
			low := lowest(x)
			if low <= reach {
				panel.Plot.Add(line{pts: r.points(x.Mean)[x.known():], sty: thin, step: true})
				panel.Legend = append(panel.Legend, Key{Label: "XOFF of " + s.Object, Line: thin})
				top = max(top, min(maxOf32(x.Max), reach))
			} else {
				hidden++
			}
		}
		sty.Dashes = nil
		sty.Width = vg.Points(1.6)
		panel.Plot.Add(line{pts: r.points(s.Max), sty: sty, step: true})
		panel.Legend = append(panel.Legend, Key{Label: s.Object, Line: sty})
	}
	linear(&panel.Plot.Y, "shared buffer in use", pick(byteScales, top), 0, top*1.08)
	r.addMoments(panel.Plot)
	f := Figure{Title: title, Panels: []Panel{panel}, Table: ingressTable(b.all(), xoff)}
	f.Caption = r.ingressCaption(shown[0], xoff[shown[0].Object], hidden > 0)
	return f
}

func (r *Run) ingressCaption(s, x *Series, hidden bool) string {
	if x == nil {
		return fmt.Sprintf("The fullest priority group is %s: %s at %s; its threshold was not recorded.", s.Object, Size(s.Peak), Seconds(s.PeakAt.Seconds()))
	}
	c := closeness(s, x)
	text := fmt.Sprintf("%s came closest to pausing its peer: its use reached %s of the threshold.", s.Object, Share(c))
	if c >= 1 {
		text = fmt.Sprintf("%s went furthest beyond its threshold: %s at %s, when PFC asks the peer to stop.", s.Object, Size(s.Peak), Seconds(s.PeakAt.Seconds()))
	}
	if hidden {
		text += " Thresholds far above the data are not drawn."
	}
	return text
}

// closeness is the largest share of its threshold that a group used in a column.
func closeness(s, x *Series) float64 {
	if x == nil {
		return 0
	}
	top := 0.0
	for i, v := range s.Max {
		if x.Max[i] > 0 {
			top = max(top, float64(v)/float64(x.Max[i]))
		}
	}
	return top
}

// known returns the first column that the rows of a series tell of: a threshold is recorded from
// the first packet that met it, and is not 0 before.
func (s *Series) known() int { return min(s.First, len(s.Mean)-1) }

// lowest returns the least value of a series since it was first recorded.
func lowest(s *Series) float64 { return float64(slices.Min(s.Min[s.known():])) }

func ingressTable(list []*Series, xoff map[string]*Series) Table {
	t := Table{Head: []string{"priority group", "most in use", "at", "lowest threshold", "use / threshold at most"}}
	for i, s := range list {
		if i == maxLines {
			t.Note = "The " + Whole(maxLines) + " closest to their threshold of " + Whole(len(list)) + "."
			break
		}
		row := []string{s.Object, Size(s.Peak), Seconds(s.PeakAt.Seconds()), "not recorded", "–"}
		if x := xoff[s.Object]; x != nil {
			row[3], row[4] = Size(lowest(x)), Share(closeness(s, x))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
