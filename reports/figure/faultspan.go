package figure

import (
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"rdmasim/sim/trace"
)

// FaultSpan is a time during which a fault was there.
type FaultSpan struct {
	Name     string // of the fault
	What     string // in words
	From, To float64
}

// keepSpans bounds the spans of a run that flaps.
const keepSpans = 2000

// faultPrefix begins the names of faults among objects.
const faultPrefix = "fault/"

// faultEvent notes begin and end of a fault, and reports whether e is one.
func (r *Run) faultEvent(e *trace.EventRow) bool {
	name, ok := strings.CutPrefix(e.Object, faultPrefix)
	if !ok || e.Kind != trace.EventFault {
		return false
	}
	if e.Value > 0 {
		if len(r.Spans) < keepSpans {
			r.Spans = append(r.Spans, FaultSpan{name, e.Cause, e.Time.Seconds(), r.Clock.End.Seconds()})
		}
		return true
	}
	for i := len(r.Spans) - 1; i >= 0; i-- {
		if s := &r.Spans[i]; s.Name == name {
			s.To = e.Time.Seconds()
			break
		}
	}
	return true
}

// spans shades the times of faults, and draws a bar with a name for each fault
// at the top. What lasts as long as the axis shades nothing.
type spans []FaultSpan

// labelled is how many faults have a bar in a figure, spanRow the height of a
// bar with its name.
const (
	labelled           = 4
	spanRow  vg.Length = 12
)

// rows says in which row, from the top, the bar of each fault is drawn, and how
// many rows there are: faults share one where neither their times nor their
// names meet. width is the length of the time axis in seconds.
func (list spans) rows(width float64) (row map[string]int, n int) {
	const letter = 0.011 // of the axis
	last := map[string]float64{}
	var order []FaultSpan
	for _, s := range list {
		end, known := last[s.Name]
		if !known && len(order) < labelled {
			order = append(order, s)
		}
		last[s.Name] = max(end, s.To, s.From+letter*width*float64(len(s.Name)+1))
	}
	row = map[string]int{}
	var free []float64 // when a row is free again
	for _, s := range order {
		i := 0
		for i < len(free) && free[i] > s.From {
			i++
		}
		if i == len(free) {
			free = append(free, 0)
		}
		free[i], row[s.Name] = last[s.Name], i
	}
	return row, len(free)
}

func (list spans) Plot(c draw.Canvas, p *plot.Plot) {
	tx, _ := p.Transforms(&c)
	width := p.X.Max - p.X.Min
	row, _ := list.rows(width)
	named := map[string]bool{}
	whole := 0.97 * width
	edges := func(s FaultSpan) (x0, x1 vg.Length, ok bool) {
		x0, x1 = tx(max(s.From, p.X.Min)), tx(min(s.To, p.X.Max))
		return x0, max(x1, x0+0.5), s.To >= p.X.Min && s.From <= p.X.Max
	}
	for _, s := range list {
		if x0, x1, ok := edges(s); ok && s.To-s.From < whole {
			c.FillPolygon(toneFault.color(), rect(x0, c.Min.Y, x1, c.Max.Y))
		}
	}
	for _, s := range list {
		x0, x1, ok := edges(s)
		n, shown := row[s.Name]
		if !ok || !shown {
			continue
		}
		top := c.Max.Y - vg.Length(n)*spanRow
		c.FillPolygon(toneWarn.color(), rect(x0, top-1.5, x1, top))
		if !named[s.Name] {
			named[s.Name] = true
			s.label(c, x0, x1, top-2)
		}
	}
}

// label writes the name of a fault under its bar.
func (s FaultSpan) label(c draw.Canvas, x0, x1, top vg.Length) {
	sty := textOf(toneWarn, sizeTick-1, false)
	sty.YAlign = text.YTop
	at := vg.Point{X: x0 + 3, Y: top}
	if x0+3+textWidth(sty, s.Name) > c.Max.X {
		sty.XAlign, at.X = text.XRight, x1-3
	}
	c.FillText(sty, at, s.Name)
}
