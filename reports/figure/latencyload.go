package figure

import (
	"fmt"
	"sort"

	"gonum.org/v1/plot"
)

var _ = register("latency_load", "latency of pings beside the load of links", Flows, 5, latencyLoad)

// pingColumns is how many points in time a percentile is taken at.
const pingColumns = 60

// latencyLoad draws percentiles of the completion times of pings over time,
// above the utilisation of the links in the same time.
func latencyLoad(r *Run) Figure {
	const title = "Latency under load"
	ping := -1
	for i, w := range r.Flows.Workloads {
		if w == pingWorkload {
			ping = i
		}
	}
	if ping < 0 {
		return empty(title, "The run has no completed messages of a "+pingWorkload+".")
	}
	x, step := r.coarse(pingColumns)
	by := make([][]float64, len(x)-1)
	for i, w := range r.Flows.Workload {
		if int(w) == ping {
			k := r.Clock.column(r.Flows.End[i]) / step
			by[k] = append(by[k], r.Flows.FCT[i])
		}
	}
	for _, s := range by {
		sort.Float64s(s)
	}
	all := r.Flows.values(r.Flows.FCT, ping)
	f := Figure{Title: title, Table: Table{Head: []string{"time", "pings", "p50", "p99", "max", "mean utilisation", "busiest link"}}}
	lat := r.timePanel(190)
	lat.Plot.Add(grid{x: true, y: true})
	lo, hi := all[0], all[len(all)-1]
	for k, q := range []float64{0.5, 0.99} {
		for _, part := range quantileParts(x, by, q) {
			lat.Plot.Add(line{pts: part, sty: seriesStyle(k), step: true})
		}
		lat.Legend = append(lat.Legend, Key{Label: fmt.Sprintf("p%d of pings", int(q*100+0.5)), Line: seriesStyle(k)})
	}
	latencyAxis(lat.Plot, lo, hi)
	r.addMoments(lat.Plot)
	f.Panels = []Panel{lat}
	mean, top, ok := r.loads(step)
	if ok {
		hideTime(lat.Plot)
		load := r.timePanel(130)
		load.Plot.Add(grid{x: true, y: true})
		load.Plot.Add(line{pts: steps(x, top), sty: seriesStyle(3), step: true}, line{pts: steps(x, mean), sty: seriesStyle(2), step: true})
		load.Legend = []Key{{Label: "busiest link", Line: seriesStyle(3)}, {Label: "mean of all links", Line: seriesStyle(2)}}
		linear(&load.Plot.Y, "utilisation", shareScale, 0, 1.05)
		f.Panels = append(f.Panels, load)
	}
	for k, s := range by {
		if len(s) == 0 {
			continue
		}
		row := []string{Seconds(x[k]), Whole(len(s)), Seconds(quantile(s, 0.5)), Seconds(quantile(s, 0.99)), Seconds(s[len(s)-1]), "not recorded", "not recorded"}
		if ok {
			row[5], row[6] = Share(mean[k]), Share(top[k])
		}
		f.Table.Rows = append(f.Table.Rows, row)
	}
	f.Caption = fmt.Sprintf("%s: half took at most %s, 99 %% at most %s, the slowest %s.", Capital(Count(len(all), "ping")),
		Seconds(quantile(all, 0.5)), Seconds(quantile(all, 0.99)), Seconds(hi))
	return f
}

func latencyAxis(p *plot.Plot, lo, hi float64) {
	if hi > 8*lo {
		logarithmic(&p.Y, "completion time", pick(timeScales, lo*2), lo/1.1, hi*1.1)
		return
	}
	linear(&p.Y, "completion time", pick(timeScales, hi), 0, hi*1.08)
}

// quantileParts returns the stretches of columns that have samples.
func quantileParts(x []float64, by [][]float64, q float64) [][]xy {
	var parts [][]xy
	open := false
	for i, s := range by {
		if len(s) > 0 {
			if !open {
				parts = append(parts, nil)
			}
			k := len(parts) - 1
			v := quantile(s, q)
			parts[k] = append(parts[k], xy{x[i], v}, xy{x[i+1], v})
		}
		open = len(s) > 0
	}
	return parts
}

func steps(x, v []float64) []xy {
	pts := make([]xy, 0, len(v)+1)
	for i, y := range v {
		pts = append(pts, xy{x[i], y})
	}
	return append(pts, xy{x[len(x)-1], v[len(v)-1]})
}

// loads returns the mean and the highest utilisation over all links, in coarse
// columns.
func (r *Run) loads(step int) (mean, top []float64, ok bool) {
	n := 0
	for _, l := range r.LinkUses() {
		if l.Rate <= 0 {
			continue
		}
		n++
		if l.series == nil {
			continue // written on change: it never carried anything
		}
		row := share(l, step)
		if mean == nil {
			mean, top = make([]float64, len(row)), make([]float64, len(row))
		}
		for i, v := range row {
			mean[i] += v
			top[i] = max(top[i], v)
		}
	}
	for i := range mean {
		mean[i] /= float64(n)
	}
	return mean, top, mean != nil
}
