package figure

import (
	"fmt"

	"gonum.org/v1/plot/vg"
)

var _ = register("drops", "dropped packets by cause", Pauses, 4, drops)

// dropKind is how many packets one kind of cause has taken.
type dropKind struct {
	packets *int64
	name    string
}

// drops draws how many packets were lost, and to what.
func drops(r *Run) Figure {
	const title = "Dropped packets"
	d := r.Metrics.Packets.Dropped
	kinds := []dropKind{
		{d.Lossless, "lossless class: no room in spite of PFC"},
		{d.Lossy, "lossy class: no room"},
		{d.Fault, "injected faults"},
	}
	if d.Watchdog != nil {
		kinds = append(kinds, dropKind{d.Watchdog, "PFC and pause watchdogs"})
	}
	f := Figure{Title: title, Table: Table{Head: []string{"port", "cause", "packets", "bytes"}}}
	var names, labels []string
	var v []float64
	measured, top := false, 0.0
	worstKind := 0
	for _, k := range kinds {
		n, label := 0.0, "not measured"
		if k.packets != nil {
			measured, n, label = true, float64(*k.packets), Count(*k.packets, "packet")
		}
		names, labels, v = append(names, k.name), append(labels, label), append(v, n)
		if n > top {
			top, worstKind = n, len(v)-1
		}
	}
	switch {
	case !measured && len(r.Causes) == 0:
		return empty(title, "Not measured.")
	case top == 0 && len(r.Causes) == 0:
		return empty(title, "No packet was dropped.")
	}
	for i, c := range r.Causes {
		if i == maxLines {
			f.Table.Note = fmt.Sprintf("The %s places and causes with most drops of %s.", Whole(maxLines), Whole(len(r.Causes)))
			break
		}
		f.Table.Rows = append(f.Table.Rows, []string{c.Where, c.Why, Whole(c.Packets), Size(c.Bytes)})
	}
	p := newPlot()
	linear(&p.X, "packets", plainScale, 0, max(top, 1)*1.25)
	nominal(&p.Y, names)
	p.Add(grid{x: true}, bars{v: v, fill: seriesTones[1].color(), height: 0.6, text: labels})
	f.Panels = []Panel{{Plot: p, Height: vg.Length(len(names)*26) + 48}}
	f.Caption = fmt.Sprintf("Most drops are of the %s.", []string{"lossless class", "lossy class", "injected faults", "watchdogs"}[worstKind])
	if len(r.Causes) > 0 {
		f.Caption += fmt.Sprintf(" The place with most is %s (%s).", r.Causes[0].Where, r.Causes[0].Why)
	}
	return f
}
