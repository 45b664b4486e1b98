package figure

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"rdmasim/reports/metric"
	"rdmasim/sim/trace"
)

var _ = register("time_spent", "where the time of messages went, by cause", Flows, 0, timeSpent)

// worstBars is how many messages have a bar of their own.
const worstBars = 12

// causeTones are the colours of causes. Those that are seldom seen together
// share the lightness of another hue.
var causeTones = [metric.NumCauses]Tone{
	metric.CauseLine: toneFaint, metric.CauseHost: seriesTones[4], metric.CauseWindow: seriesTones[5], metric.CauseCongestion: seriesTones[0],
	metric.CauseCollision: seriesTones[7], metric.CausePaused: seriesTones[1], metric.CauseVictim: seriesTones[3], metric.CauseReceiver: seriesTones[2],
	metric.CauseResend: toneWarn, metric.CauseTimeout: seriesTones[6], metric.CauseRNR: heatTones[3], metric.CauseFault: toneInk, metric.CauseUnknown: toneGrid,
}

// timeSpent draws a stacked bar for all messages together and for each of those
// that lost most.
func timeSpent(r *Run) Figure {
	const title = "Where the time went"
	d := r.Diagnosis
	if d == nil || d.Messages == 0 {
		return empty(title, "The run has kept no account of it.")
	}
	f := Figure{Title: title, Table: Table{Head: []string{"message", "from", "to", "took", "alone", "mainly", "evidence"}}}
	names := []string{"all " + Count(d.Messages, "message")}
	rows := []map[string]float64{d.Shares}
	for i := range d.Worst {
		w := &d.Worst[i]
		evidence := ""
		if len(w.Evidence) > 0 {
			evidence = w.Evidence[0]
		}
		f.Table.Rows = append(f.Table.Rows, []string{trace.MessageName(w.Src, w.ID), w.Src, w.Dst, Seconds(w.Elapsed), Seconds(w.Ideal), metric.CauseOf(w.Cause).String(), evidence})
		if i < worstBars {
			names = append(names, fmt.Sprintf("%s > %s, %s", w.Src, w.Dst, Seconds(w.Elapsed)))
			rows = append(rows, w.Shares)
		}
	}
	f.Table.Note = "Of each queue pair the message that lost most time; rdmasim why DIR --flow MESSAGE tells of any."
	p := newPlot()
	linear(&p.X, "share of the time", shareScale, 0, 1)
	nominal(&p.Y, names)
	p.Y.Tick.Label.Font.Size = 9
	p.Add(grid{x: true}, stacks(rows))
	panel := Panel{Plot: p, Height: vg.Length(len(names)*20) + 50}
	for c := metric.CauseLine; c < metric.NumCauses; c++ {
		if seen(rows, c) {
			panel.Legend = append(panel.Legend, Key{Label: c.String(), Fill: causeTones[c].color()})
		}
	}
	f.Panels = []Panel{panel}
	c := metric.CauseOf(d.Cause)
	f.Caption = fmt.Sprintf("%s of the time of all messages is what they take alone on their paths", Share(d.Shares[metric.CauseLine.Key()]))
	if c != metric.CauseLine {
		f.Caption += fmt.Sprintf("; most of the rest, %s, is %s", Share(d.Shares[c.Key()]), c)
	}
	f.Caption += ". Below it the message of each queue pair that lost most time."
	return f
}

// seen reports whether a cause is wide enough in any row to be seen there.
func seen(rows []map[string]float64, c metric.Cause) bool {
	for _, s := range rows {
		if s[c.Key()] >= 0.001 { // a point of the drawing
			return true
		}
	}
	return false
}

// stacks draws a row of segments for each map of shares.
type stacks []map[string]float64

func (s stacks) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for i, shares := range s {
		height := 0.34
		if i == 0 {
			height = 0.42
		}
		y0, y1 := ty(float64(i)+height), ty(float64(i)-height)
		at := 0.0
		for k := metric.CauseLine; k < metric.NumCauses; k++ {
			v := shares[k.Key()]
			if !(v > 0) {
				continue
			}
			end := min(at+v, 1)
			c.FillPolygon(causeTones[k].color(), rect(tx(at), y0, tx(end), y1))
			at = end
		}
	}
}
