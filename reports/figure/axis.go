package figure

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// handler lays plain text out in the built-in Liberation fonts.
var handler = plot.DefaultTextHandler

// newPlot returns an empty plot in the style of all figures.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		label, tick := a.Label.TextStyle, a.Tick.Label
		a.Label.TextStyle = textOf(toneInk, sizeLabel, false)
		a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign = label.XAlign, label.YAlign
		a.Tick.Label = textOf(toneMuted, sizeTick, false)
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = tick.XAlign, tick.YAlign
		a.LineStyle = lineOf(toneFaint, 0.7)
		a.Tick.LineStyle = lineOf(toneFaint, 0.7)
		a.Tick.Length = vg.Points(3)
		a.Padding = 0
	}
	p.X.Label.Padding = vg.Points(3)
	p.Y.Label.Padding = vg.Points(4)
	return p
}

// axisLabel joins a quantity and its unit as "queue length (KB)".
func axisLabel(what string, s scale) string {
	if s.unit == "" {
		return what
	}
	return what + " (" + s.unit + ")"
}

// linear makes an axis from lo to hi, values divided by s. A range too small
// for any scale becomes one of 1.
func linear(a *plot.Axis, what string, s scale, lo, hi float64) {
	if !(hi-lo > s.div*1e-9) {
		hi = lo + s.div
	}
	a.Min, a.Max = lo, hi
	a.Label.Text = axisLabel(what, s)
	a.Scale = plot.LinearScale{}
	a.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick { return linearTicks(lo, hi, s) })
}

// logarithmic makes a logarithmic axis; lo must be positive.
func logarithmic(a *plot.Axis, what string, s scale, lo, hi float64) {
	if hi < lo*1.2 {
		lo, hi = lo/1.1, hi*1.1
	}
	a.Min, a.Max = lo, hi
	a.Label.Text = axisLabel(what, s)
	a.Scale = clippedLog{}
	a.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick { return logTicks(lo, hi, s) })
}

// clippedLog is a logarithmic scale that puts what is not positive at the
// lower end instead of failing.
type clippedLog struct{}

func (clippedLog) Normalize(lo, hi, x float64) float64 {
	if lo <= 0 || hi <= lo {
		return 0
	}
	if x < lo {
		x = lo
	}
	return math.Log(x/lo) / math.Log(hi/lo)
}

// maxName is how many letters of a name stand beside or above a plot.
const maxName = 40

// nominal makes a vertical axis of named rows: row i is at i, the first on top.
func nominal(a *plot.Axis, names []string) {
	n := len(names)
	a.Min, a.Max = -0.5, float64(n)-0.5
	a.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	ticks := make([]plot.Tick, n)
	for i, s := range names {
		ticks[i] = plot.Tick{Value: float64(i), Label: elide(s, maxName)}
	}
	a.Tick.Marker = plot.ConstantTicks(ticks)
	a.Tick.Length = 0
}

// linearTicks puts at most about seven ticks at round numbers of the scaled value.
func linearTicks(lo, hi float64, s scale) []plot.Tick {
	lo, hi = lo/s.div, hi/s.div
	span := hi - lo
	if !(span > 0) || math.IsInf(span, 0) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10(span/4)))
	for _, k := range []float64{5, 2.5, 2} {
		if span/(step*k) >= 4 {
			step *= k
			break
		}
	}
	if s.div == 1 && s.unit == "" && span > 2 {
		step = max(step, 1) // half a packet is no packet
	}
	decimals := 0
	for d := step; d < 0.9999999 || math.Abs(d-math.Round(d)) > 1e-6; d *= 10 {
		if decimals++; decimals > 12 {
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi*(1+1e-9) && len(ticks) < 20; i++ {
		label := strconv.FormatFloat(i*step, 'f', decimals, 64)
		if i == 0 {
			label = "0"
		}
		ticks = append(ticks, plot.Tick{Value: i * step * s.div, Label: label})
	}
	return ticks
}

// logTicks labels 1, 2 and 5 of each decade, or only 1 when there are many.
func logTicks(lo, hi float64, s scale) []plot.Tick {
	if lo <= 0 || hi <= lo {
		return nil
	}
	lo, hi = lo/s.div, hi/s.div
	decades := math.Log10(hi / lo)
	marks := []float64{1, 2, 5}
	switch {
	case decades > 3.2:
		marks = []float64{1}
	case decades < 0.7:
		marks = []float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}
	case decades < 1.2:
		marks = []float64{1, 2, 3, 5, 7}
	}
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for _, m := range marks {
			v := m * math.Pow(10, e)
			if v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
				ticks = append(ticks, plot.Tick{Value: v * s.div, Label: tickNumber(v)})
			}
		}
	}
	return ticks
}

// tickNumber prints round values in full up to a million.
func tickNumber(v float64) string {
	if v >= 1e6 || v < 1e-4 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return trimZeros(strconv.FormatFloat(v, 'f', 6, 64))
}

// textWidth is how wide s is in a style.
func textWidth(sty text.Style, s string) vg.Length { return sty.Width(s) }

// elide shortens s in its middle until it is at most n runes.
func elide(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	head := (n - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}
