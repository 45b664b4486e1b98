package figure

import (
	"fmt"
	"sort"

	"gonum.org/v1/plot/vg"

	"rdmasim/sim/trace"
)

var (
	_ = register("headroom", "headroom used and configured", Pauses, 3, func(r *Run) Figure {
		return capacityFigure(r, capacityText{
			title: "Headroom", axis: "headroom", used: trace.CountHeadroomMax, size: trace.CountHeadroomSize,
			object: "port and priority", verb: "used most of its headroom"})
	})
	_ = register("buffer", "packet buffer used and available", Fabric, 3, func(r *Run) Figure {
		return capacityFigure(r, capacityText{
			title: "Packet buffer", axis: "buffer", used: trace.CountBufferMax, size: trace.CountBufferSize,
			object: "switch", verb: "came closest to a full buffer"})
	})
)

// maxBars is how many bars stand below each other.
const maxBars = 12

type capacityText struct {
	title, axis, used, size, object, verb string
}

// capacity is how much of something was used at most.
type capacity struct {
	name       string
	used, size float64 // size 0 = not known
}

func (c capacity) share() float64 {
	if c.size <= 0 {
		return 0
	}
	return c.used / c.size
}

// capacityFigure draws the most that was used against what there is.
func capacityFigure(r *Run, t capacityText) Figure {
	sizes := map[string]float64{}
	for _, c := range r.Counter(t.size) {
		sizes[portPrio(c.Object, c.Prio)] = c.Value
	}
	var list []capacity
	used := false
	for _, c := range r.Counter(t.used) {
		name := portPrio(c.Object, c.Prio)
		list = append(list, capacity{name, c.Value, sizes[name]})
		used = used || c.Value > 0
	}
	switch {
	case len(list) == 0:
		return empty(t.title, "Not measured.")
	case !used:
		return empty(t.title, "None was used.")
	}
	sort.SliceStable(list, func(i, j int) bool {
		if a, b := list[i].share(), list[j].share(); a != b {
			return a > b
		}
		return list[i].used > list[j].used
	})
	shown := list[:min(len(list), maxBars)]
	f := Figure{Title: t.title + ": most used and configured", Table: Table{Head: []string{t.object, "most used", "configured", "share"}}}
	var names, labels []string
	var use, size []float64
	top := 0.0
	for _, c := range shown {
		row := []string{c.name, Size(c.used), "not known", "–"}
		label := Size(c.used)
		if c.size > 0 {
			row[2], row[3] = Size(c.size), Share(c.share())
			label = fmt.Sprintf("%s of %s (%s)", Size(c.used), Size(c.size), Share(c.share()))
		}
		f.Table.Rows = append(f.Table.Rows, row)
		names, labels = append(names, c.name), append(labels, label)
		use, size = append(use, c.used), append(size, c.size)
		top = max(top, c.used, c.size)
	}
	if len(shown) < len(list) {
		f.Table.Note = fmt.Sprintf("The %s fullest of %s.", Whole(len(shown)), Whole(len(list)))
	}
	p := newPlot()
	linear(&p.X, t.axis, pick(byteScales, top), 0, top*1.45)
	nominal(&p.Y, names)
	p.Add(grid{x: true},
		bars{v: use, fill: seriesTones[0].color(), height: 0.62, text: labels, past: size},
		bars{v: size, fill: toneMuted.color(), border: true, height: 0.62})
	f.Panels = []Panel{{Plot: p, Height: vg.Length(len(names)*18) + 48, Legend: []Key{
		{Label: "most in use at one time", Fill: seriesTones[0].color()}, {Label: "configured", Line: lineOf(toneMuted, 1)}}}}
	c := shown[0]
	f.Caption = fmt.Sprintf("%s %s: %s of %s (%s).", c.name, t.verb, Size(c.used), Size(c.size), Share(c.share()))
	if c.size <= 0 {
		f.Caption = fmt.Sprintf("%s %s: %s.", c.name, t.verb, Size(c.used))
	}
	return f
}
