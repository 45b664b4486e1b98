package figure

import (
	"sort"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"rdmasim/sim/trace"
)

const (
	// maxNamed is how many lines a legend and an eye can follow.
	maxNamed = 8
	// maxLines is how many lines may be drawn at all; more become a band.
	maxLines = 20
	// worstNamed is how many are named when there are more than maxNamed.
	worstNamed = 5
)

// timeAxis makes the horizontal axis the time of the run and marks what
// happened in it.
func (r *Run) timeAxis(p *plot.Plot) {
	end := r.Clock.End.Seconds()
	linear(&p.X, "time", pick(timeScales, end), r.Clock.Start(0), end)
}

// addMoments draws watchdogs, links and what else has a moment as vertical
// lines; faults that have a span are shaded instead.
func (r *Run) addMoments(p *plot.Plot) {
	const most = 6
	var list []trace.EventRow
	for _, m := range r.Moments {
		if !strings.HasPrefix(m.Object, faultPrefix) {
			list = append(list, m)
		}
	}
	if len(list) > most {
		return
	}
	all := moments{sty: lineOf(toneWarn, 0.8, 1, 2)}
	_, all.row = spans(r.Spans).rows(r.Clock.length().Seconds())
	for _, m := range list {
		name := m.Cause
		if name == "" {
			name = string(m.Kind)
		}
		all.list = append(all.list, moment{x: m.Time.Seconds(), name: elide(name, 22)})
	}
	if len(all.list) > 0 {
		p.Add(all)
	}
}

// points turns the columns of a series into a step function.
func (r *Run) points(v []float32) []xy {
	pts := make([]xy, 0, len(v)+1)
	for i, y := range v {
		pts = append(pts, xy{r.Clock.Start(i), float64(y)})
	}
	if n := len(v); n > 0 {
		pts = append(pts, xy{r.Clock.Start(n), float64(v[n-1])})
	}
	return pts
}

// bundle is how many series are shown at once: some named, the others faint or
// as a band of quantiles.
type bundle struct {
	named []*Series
	rest  []*Series
	value func(*Series) []float32
}

// worst splits series by badness, the worst first.
func worst(list []*Series, badness func(*Series) float64, value func(*Series) []float32) bundle {
	list = append([]*Series(nil), list...)
	bad := map[*Series]float64{}
	for _, s := range list {
		bad[s] = badness(s)
	}
	sort.SliceStable(list, func(i, j int) bool { return bad[list[i]] > bad[list[j]] })
	n := len(list)
	if n > maxNamed {
		n = worstNamed
	}
	return bundle{named: list[:n], rest: list[n:], value: value}
}

// draw adds the bundle to a panel and returns the largest value drawn.
func (b bundle) draw(r *Run, panel *Panel) (top float64) {
	p := panel.Plot
	total := len(b.named) + len(b.rest)
	switch {
	case total > maxLines:
		all := append(append([]*Series(nil), b.named...), b.rest...)
		lo, mid, hi := b.quantiles(r, all)
		p.Add(band{x: r.Clock.Borders(), lo: lo, hi: hi, fill: toneBand.color()}, grid{x: true, y: true})
		med := make([]float32, len(mid))
		for i, v := range mid {
			med[i] = float32(v)
		}
		sty := lineOf(toneMuted, 1.2)
		p.Add(line{pts: r.points(med), sty: sty, step: true})
		panel.Legend = append(panel.Legend, Key{Label: "p10 – p90 of " + Whole(total), Fill: toneBand.color()}, Key{Label: "median", Line: sty})
		top = maxOf(hi)
	default:
		p.Add(grid{x: true, y: true})
		for _, s := range b.rest {
			p.Add(line{pts: r.points(b.value(s)), sty: lineOf(toneFaint, 0.7), step: true})
			top = max(top, maxOf32(b.value(s)))
		}
		if len(b.rest) > 0 {
			panel.Legend = append(panel.Legend, Key{Label: "the " + Whole(len(b.rest)) + " others", Line: lineOf(toneFaint, 0.7)})
		}
	}
	for i := len(b.named) - 1; i >= 0; i-- {
		p.Add(line{pts: r.points(b.value(b.named[i])), sty: seriesStyle(i), step: true})
		top = max(top, maxOf32(b.value(b.named[i])))
	}
	for i, s := range b.named {
		panel.Legend = append(panel.Legend, Key{Label: s.Object, Line: seriesStyle(i)})
	}
	return top
}

// quantiles returns p10, median and p90 over the series in each column.
func (b bundle) quantiles(r *Run, all []*Series) (lo, mid, hi []float64) {
	n := r.Clock.Columns
	lo, mid, hi = make([]float64, n), make([]float64, n), make([]float64, n)
	column := make([]float64, len(all))
	for i := range n {
		for k, s := range all {
			column[k] = float64(b.value(s)[i])
		}
		sort.Float64s(column)
		lo[i], mid[i], hi[i] = quantile(column, 0.1), quantile(column, 0.5), quantile(column, 0.9)
	}
	return lo, mid, hi
}

func meanOf(s *Series) []float32 { return s.Mean }
func peakOf(s *Series) []float32 { return s.Max }

func maxOf32(v []float32) (top float64) {
	for _, x := range v {
		top = max(top, float64(x))
	}
	return top
}

func maxOf(v []float64) (top float64) {
	for _, x := range v {
		top = max(top, x)
	}
	return top
}

// sum adds series up, column by column.
func (r *Run) sum(list []*Series) []float32 {
	out := make([]float32, r.Clock.Columns)
	for _, s := range list {
		for i, v := range s.Mean {
			out[i] += v
		}
	}
	return out
}

// seriesTable lists the worst objects of a time figure.
func seriesTable(list []*Series, what string, print func(float64) string) Table {
	t := Table{Head: []string{what, "mean over the run", "maximum", "at"}}
	for i, s := range list {
		if i == maxLines {
			t.Note = "The worst " + Whole(maxLines) + " of " + Whole(len(list)) + "."
			break
		}
		t.Rows = append(t.Rows, []string{s.Object, print(s.Average), print(s.Peak), Seconds(s.PeakAt.Seconds())})
	}
	return t
}

func (b bundle) all() []*Series { return append(append([]*Series(nil), b.named...), b.rest...) }

// timePanel returns an empty panel over the time of the run.
func (r *Run) timePanel(height vg.Length) Panel {
	p := newPlot()
	r.timeAxis(p)
	if len(r.Spans) > 0 {
		p.Add(spans(r.Spans))
	}
	return Panel{Plot: p, Height: height}
}

// strip returns a panel over the time of the run with a row for each name, first
// at the top, each so high; above them there is room for the names of faults.
func (r *Run) strip(names []string, each vg.Length) Panel {
	_, n := spans(r.Spans).rows(r.Clock.length().Seconds())
	room := vg.Length(n) * (spanRow + 2)
	p := r.timePanel(vg.Length(len(names))*each + room + 50)
	nominal(&p.Plot.Y, names)
	p.Plot.Y.Min -= float64(room / each)
	p.Plot.Y.Tick.Label.Font.Size = 9
	return p
}

// hideTime takes the labels of the time axis away, for all but the last of
// stacked panels.
func hideTime(p *plot.Plot) {
	marker := p.X.Tick.Marker
	p.X.Label.Text = ""
	p.X.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		ticks := marker.Ticks(lo, hi)
		for i := range ticks {
			ticks[i].Label = " "
		}
		return ticks
	})
	p.X.Tick.Label.Font.Size = 1
}

// single adds one line over time and its legend.
func (r *Run) single(p *Panel, name string, v []float32, sty draw.LineStyle) {
	p.Plot.Add(line{pts: r.points(v), sty: sty, step: true})
	p.Legend = append(p.Legend, Key{Label: name, Line: sty})
}

// noSeries says why a time figure is empty.
func (r *Run) noSeries(title, metric string) Figure {
	if len(r.Series) == 0 {
		return empty(title, "The run recorded no time series.")
	}
	return empty(title, "The run recorded no series "+metric+".")
}

// seriesOf returns the series of a metric whose objects ever were above zero.
func (r *Run) seriesOf(metric string) []*Series {
	var out []*Series
	for _, s := range r.Series[metric] {
		if s.Peak > 0 {
			out = append(out, s)
		}
	}
	return out
}
