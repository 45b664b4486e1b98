package figure

import (
	"fmt"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var _ = register("slowdown_by_size", "slowdown of small and large messages", Flows, 3, slowdownBySize)

// maxSizeBins is how many groups of message sizes stay readable side by side.
const maxSizeBins = 10

// sizeBin is one group of messages of similar size.
type sizeBin struct {
	lo, hi float64
	slow   []float64 // sorted
}

// slowdownBySize draws quantiles of the slowdown for groups of sizes: each
// size alone when there are few, groups of equally many messages otherwise.
func slowdownBySize(r *Run) Figure {
	const title = "Slowdown by message size"
	bins := sizeBins(&r.Flows)
	if len(bins) == 0 {
		return empty(title, "No message with a known ideal completion time completed.")
	}
	if len(bins) == 1 && bins[0].lo == bins[0].hi {
		return empty(title, "All messages have the same size, "+Size(bins[0].lo)+".")
	}
	p := newPlot()
	top := 1.0
	f := Figure{Title: title, Table: Table{Head: []string{"size", "messages", "mean", "p50", "p95", "p99", "max"}}}
	names := make([]string, len(bins))
	for i, b := range bins {
		top = max(top, quantile(b.slow, 0.99))
		names[i] = rangeText(Size, b.lo, b.hi)
		f.Table.Rows = append(f.Table.Rows, summaryRow(names[i], b.slow, Number))
	}
	sizeAxis(p, bins)
	if top > 10 {
		logarithmic(&p.Y, "slowdown", plainScale, 1, top*1.1)
	} else {
		linear(&p.Y, "slowdown", plainScale, 0, top*1.08)
	}
	p.Add(grid{y: true}, levels{{y: 1, name: "ideal", sty: lineOf(toneMuted, 0.8, 2, 2), tone: toneMuted}})
	panel := Panel{Plot: p, Height: 260}
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}
	for k, q := range []float64{0.5, 0.95, 0.99} {
		var pts []xy
		for i, b := range bins {
			pts = append(pts, xy{float64(i), quantile(b.slow, q)})
		}
		p.Add(line{pts: pts, sty: seriesStyle(k)}, dots{pts: pts, shape: shapes[k], tone: seriesTones[k], size: vg.Points(3)})
		panel.Legend = append(panel.Legend, Key{Label: fmt.Sprintf("p%d", int(q*100+0.5)), Line: seriesStyle(k)})
	}
	f.Panels = []Panel{panel}
	worst := 0
	for i := range bins {
		if quantile(bins[i].slow, 0.99) > quantile(bins[worst].slow, 0.99) {
			worst = i
		}
	}
	f.Caption = fmt.Sprintf("The 99th percentile is worst for messages of %s: %s times the ideal time.",
		names[worst], Number(quantile(bins[worst].slow, 0.99)))
	return f
}

func sizeAxis(p *plot.Plot, bins []sizeBin) {
	p.X.Min, p.X.Max = -0.5, float64(len(bins))-0.5
	p.X.Label.Text = "message size, up to"
	ticks := make([]plot.Tick, len(bins))
	for i, b := range bins {
		ticks[i] = plot.Tick{Value: float64(i), Label: Size(b.hi)}
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
}

func sizeBins(s *FlowSet) []sizeBin {
	order := make([]int, 0, len(s.Bytes))
	for i, v := range s.Slowdown {
		if v > 0 {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return s.Bytes[order[i]] < s.Bytes[order[j]] })
	sizes := 0
	for i, k := range order {
		if i == 0 || s.Bytes[k] != s.Bytes[order[i-1]] {
			sizes++
		}
	}
	var bins []sizeBin
	full := 0 // where the last bin holds its share of what is left to it and those after it
	for i, k := range order {
		n := len(bins)
		fresh := n == 0 || s.Bytes[k] != bins[n-1].hi
		if fresh && sizes > maxSizeBins {
			fresh = i >= full
		}
		if fresh {
			bins = append(bins, sizeBin{lo: s.Bytes[k]})
			left := max(1, maxSizeBins-n)
			full = i + (len(order)-i+left-1)/left
			n++
		}
		bins[n-1].hi = s.Bytes[k]
		bins[n-1].slow = append(bins[n-1].slow, s.Slowdown[k])
	}
	for i := range bins {
		sort.Float64s(bins[i].slow)
	}
	return bins
}
