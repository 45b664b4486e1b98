package figure

import (
	"fmt"
)

var _ = register("link_heatmap", "utilisation of links over time, by tier", Fabric, 1, linkHeatmap)

const (
	heatRows    = 44  // of links altogether
	heatColumns = 180 // of time
	heatRowTall = 12  // points
)

// linkHeatmap draws utilisation as link by time, in groups of tiers. A group
// with too many links shows its busiest and the mean of the others.
func linkHeatmap(r *Run) Figure {
	const title = "Link utilisation over time"
	list := r.LinkUses()
	f := Figure{Title: title, Table: busiest(list)}
	var recorded []LinkUse
	for _, l := range list {
		if l.series != nil && l.Rate > 0 {
			recorded = append(recorded, l)
		}
	}
	if len(recorded) == 0 {
		e := r.noSeries(title, "tx_bps")
		e.Table = f.Table
		return e
	}
	groups := r.tierGroups(recorded)
	each := max(2, (heatRows-2*len(groups))/len(groups))
	x, step := r.coarse(heatColumns)
	h := heat{x: x}
	var names []string
	for _, g := range groups {
		for len(h.head) <= len(names) {
			h.head = append(h.head, "")
		}
		h.head[len(names)] = fmt.Sprintf("%s (%s)", g.name, Count(len(g.links), "link"))
		names, h.rows = append(names, ""), append(h.rows, nil)
		shown := g.links
		if len(shown) > each {
			shown = shown[:each-1]
		}
		for _, l := range shown {
			names = append(names, l.From+" → "+NodeOf(l.To))
			h.rows = append(h.rows, share(l, step))
		}
		if rest := g.links[len(shown):]; len(rest) > 0 {
			names = append(names, fmt.Sprintf("mean of the %s others", Whole(len(rest))))
			h.rows = append(h.rows, meanShare(rest, step))
		}
	}
	panel := r.strip(names, heatRowTall)
	panel.Plot.Y.Tick.Label.Font.Size = 8.5
	panel.Plot.Y.LineStyle.Width = 0
	panel.Plot.Add(h)
	r.addMoments(panel.Plot)
	panel.Legend = heatKeys()
	f.Panels = []Panel{panel}
	top := list[0]
	f.Caption = fmt.Sprintf("The busiest of %s is %s → %s: %s of %s on average.", Count(len(list), "link direction"),
		top.From, top.To, Share(top.Mean), Bitrate(top.Rate))
	return f
}

// coarse returns the borders of at most n columns, each of step columns of the clock.
func (r *Run) coarse(n int) (x []float64, step int) {
	step = (r.Clock.Columns-1)/n + 1
	for i := 0; i < r.Clock.Columns; i += step {
		x = append(x, r.Clock.Start(i))
	}
	return append(x, r.Clock.Start(r.Clock.Columns)), step
}

// share returns the utilisation of a link in coarse columns.
func share(l LinkUse, step int) []float64 {
	v := l.series.Mean
	out := make([]float64, 0, len(v)/step+1)
	for i := 0; i < len(v); i += step {
		sum, n := 0.0, 0
		for k := i; k < min(i+step, len(v)); k++ {
			sum += float64(v[k])
			n++
		}
		out = append(out, min(sum/float64(n)/l.Rate, 1)) // a frame counts where it begins
	}
	return out
}

func meanShare(list []LinkUse, step int) []float64 {
	var out []float64
	for _, l := range list {
		row := share(l, step)
		if out == nil {
			out = make([]float64, len(row))
		}
		for i, v := range row {
			out[i] += v / float64(len(list))
		}
	}
	return out
}
