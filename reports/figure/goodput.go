package figure

import (
	"fmt"

	"rdmasim/sim/trace"
)

var _ = register("goodput", "goodput per queue pair over time, and how fair it is", Flows, 4, goodput)

// goodput draws the total, each queue pair (or the slowest and a band), and
// Jain's index among the queue pairs that have something to send.
func goodput(r *Run) Figure {
	const title = "Goodput over time"
	list := r.Series[trace.SeriesGoodput]
	if len(list) == 0 {
		return r.noSeries(title, trace.SeriesGoodput)
	}
	total := r.sum(list)
	top := r.timePanel(110)
	top.Plot.Add(grid{x: true, y: true})
	name := "sum of all queue pairs"
	if r.Flows.Unseen() > 0 {
		name = "sum of the " + Whole(len(list)) + " with a series"
	}
	r.single(&top, name, total, lineOf(toneInk, 1.4))
	linear(&top.Plot.Y, "total", pick(rateScales, maxOf32(total)), 0, maxOf32(total)*1.08)
	hideTime(top.Plot)

	each := r.timePanel(190)
	pings := len(list)
	list = r.Flows.senders(list)
	pings -= len(list)
	b := worst(list, func(s *Series) float64 { return -r.Flows.BusyAverage(s, r.Clock) }, meanOf)
	most := b.draw(r, &each)
	for i := range each.Legend {
		each.Legend[i].Label += r.toPeer(each.Legend[i].Label)
	}
	linear(&each.Plot.Y, "per queue pair", pick(rateScales, most), 0, most*1.08)
	r.addMoments(each.Plot)
	f := Figure{Title: title, Table: seriesTable(b.all(), "queue pair, slowest first", Bitrate)}

	fair := r.timePanel(110)
	jain, known := r.jain(list)
	fair.Plot.Add(grid{x: true, y: true})
	for _, part := range r.known(jain, known) {
		fair.Plot.Add(line{pts: part, sty: lineOf(toneInk, 1.3), step: true})
	}
	linear(&fair.Plot.Y, "Jain's index", plainScale, 0, 1.04)
	f.Panels = []Panel{top, each}
	if len(list) > 1 {
		hideTime(each.Plot)
		f.Panels = append(f.Panels, fair)
	}
	slow := b.named[0]
	f.Caption = fmt.Sprintf("The slowest of %s is %s%s with %s while it had something to send", Count(len(list), "queue pair"), slow.Object, r.toPeer(slow.Object), Bitrate(r.Flows.BusyAverage(slow, r.Clock)))
	if len(list) == 1 {
		f.Caption = fmt.Sprintf("The only queue pair, %s%s, delivered %s while it had something to send", slow.Object, r.toPeer(slow.Object), Bitrate(r.Flows.BusyAverage(slow, r.Clock)))
	}
	if v, n := average(jain, known); n > 0 && len(list) > 1 {
		f.Caption += fmt.Sprintf("; Jain's index among those with something to send is %s on average (1 = all alike)", Number(v))
	}
	f.Caption += "."
	if u := r.Flows.Unseen(); u > 0 {
		f.Caption += fmt.Sprintf(" Other queue pairs delivered %s of the payload and are not drawn: the scenario keeps series of the first ones alone (series.max_qps).", Share(u))
	}
	if pings > 0 {
		f.Caption += " Those that only send pings are left out below the total."
	}
	return f
}

func (r *Run) toPeer(qp string) string {
	if p := r.Flows.Peer[qp]; p != "" {
		return " → " + p
	}
	return ""
}

// jain returns Jain's fairness index (sum x)^2 / (n sum x^2) of each column
// over the queue pairs that had a message outstanding all the time (R. Jain et
// al., DEC-TR-301, 1984). It is known where there are at least two.
func (r *Run) jain(list []*Series) (v []float32, known []bool) {
	v, known = make([]float32, r.Clock.Columns), make([]bool, r.Clock.Columns)
	for i := range v {
		var n, sum, squares float64
		for _, s := range list {
			if r.Flows.Busy(s.Object, i) {
				x := float64(s.Mean[i])
				n, sum, squares = n+1, sum+x, squares+x*x
			}
		}
		if n >= 2 && squares > 0 {
			v[i], known[i] = float32(sum*sum/(n*squares)), true
		}
	}
	return v, known
}

// known cuts a step function into the stretches in which it is known.
func (r *Run) known(v []float32, known []bool) [][]xy {
	var parts [][]xy
	open := false
	for i, ok := range known {
		if ok {
			if !open {
				parts = append(parts, nil)
			}
			k := len(parts) - 1
			parts[k] = append(parts[k], xy{r.Clock.Start(i), float64(v[i])}, xy{r.Clock.Start(i + 1), float64(v[i])})
		}
		open = ok
	}
	return parts
}

func average(v []float32, known []bool) (mean float64, n int) {
	for i, ok := range known {
		if ok {
			mean += float64(v[i])
			n++
		}
	}
	if n > 0 {
		mean /= float64(n)
	}
	return mean, n
}
