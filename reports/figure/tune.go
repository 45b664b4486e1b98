package figure

import (
	"cmp"
	"math"
	"sort"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"rdmasim/reports/tuning"
	"rdmasim/sim"
)

// Search is the directory of a search for settings as figures need it.
type Search struct {
	*tuning.Result
	Estimates *tuning.Estimates // nil = none
	Runs      []Digest          // of the best, today's and the worst settings; those that are there
}

// TuneSection is a part of the page of a search; sections come in this order.
type TuneSection int

// The sections of the page of a search.
const (
	TuneChange TuneSection = iota
	TuneBaselines
	TuneSpace
	TuneRobust
	TuneRuns
)

// String returns the heading of the section.
func (s TuneSection) String() string {
	return [...]string{"The change", "Published baselines", "The search", "What decides, and how safely", "Best, today and worst over time"}[s]
}

// TuneDrawing is a member of the catalogue of figures of a search.
type TuneDrawing struct {
	Section TuneSection
	Rank    int
	// Draw makes the figure. A figure without panels says in Empty why.
	Draw func(*Search) Figure
}

// TuneFigures is the catalogue of figures of a search. The name of a figure is
// that of its files: report/NAME.svg and report/NAME.png.
var TuneFigures = sim.NewCatalogue[TuneDrawing]("figure of a search")

func registerTune(name, doc string, s TuneSection, rank int, draw func(*Search) Figure) bool {
	return sim.Register(TuneFigures, name, doc, struct{}{}, nil, func(struct{}) (TuneDrawing, error) {
		return TuneDrawing{Section: s, Rank: rank, Draw: draw}, nil
	})
}

// TunePlaced is a figure with its section.
type TunePlaced struct {
	Section TuneSection
	Figure
}

// DrawSearch draws every figure of a search in the order of a page.
func DrawSearch(s *Search) ([]TunePlaced, error) {
	list, err := ordered(TuneFigures, func(a, b TuneDrawing) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Rank, b.Rank))
	})
	if err != nil {
		return nil, err
	}
	var out []TunePlaced
	for _, e := range list {
		f := e.drawing.Draw(s)
		f.Name = e.name
		out = append(out, TunePlaced{e.drawing.Section, f})
	}
	for _, f := range tuneTimes(s) {
		out = append(out, TunePlaced{TuneRuns, f})
	}
	return out, nil
}

// tuneTimes lays the runs over each other.
func tuneTimes(s *Search) []Figure {
	if len(s.Runs) == 0 {
		return []Figure{{Name: "time", Title: "Queues and pauses over time", Empty: "There are no run directories of the best, today's and the worst settings."}}
	}
	var out []Figure
	for _, f := range Overlay(s.Runs) {
		if f.Name != "fct_cdf" {
			f.Name = "time_" + f.Name
			out = append(out, f)
		}
	}
	return out
}

// maxObjectives is how many objectives a figure shows, those of most weight.
const maxObjectives = 4

// shownObjectives are the objectives of figures, by weight.
func (s *Search) shownObjectives() []int {
	list := make([]int, len(s.Objectives))
	for i := range list {
		list[i] = i
	}
	sort.SliceStable(list, func(a, b int) bool { return s.Objectives[list[a]].Weight > s.Objectives[list[b]].Weight })
	return list[:min(len(list), maxObjectives)]
}

// Label is how an objective is called.
func objectiveLabel(o *tuning.Objective) string {
	if o.Label != "" {
		return o.Label
	}
	return o.Metric
}

// goalWords says which way is better.
func goalWords(o *tuning.Objective) string {
	if o.Goal == tuning.Maximize {
		return "more is better"
	}
	return "less is better"
}

// ParameterLabel is how a parameter is called: by its role, else by the end of
// its path.
func ParameterLabel(p *tuning.Parameter) string {
	switch p.Role {
	case tuning.RoleKmin:
		return "Kmin"
	case tuning.RoleKmax:
		return "Kmax"
	case tuning.RolePmax:
		return "Pmax"
	case tuning.RoleAlpha:
		return "buffer alpha"
	case tuning.RoleXonOffset:
		return "xon offset"
	}
	return p.Path[strings.LastIndex(p.Path, ".")+1:]
}

// Quantity prints a value in a unit of metrics.json.
func Quantity(v float64, unit string) string {
	switch unit {
	case tuning.Seconds:
		return Seconds(v)
	case tuning.Bytes:
		return Size(v)
	case tuning.BitsPerS:
		return Bitrate(v)
	case tuning.UnitDegrees:
		return digits(v) + "°"
	case tuning.Count:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return Whole(v)
		}
	}
	return Number(v)
}

// scalesOf are the scales of an axis in a unit.
func scalesOf(unit string) []scale {
	switch unit {
	case tuning.Seconds:
		return timeScales
	case tuning.Bytes:
		return byteScales
	case tuning.BitsPerS:
		return rateScales
	}
	return []scale{plainScale}
}

// spanAxis makes an axis for values from lo to hi: logarithmic if they span
// more than a decade. Where some are 0 and the others span more than a decade,
// 0 stands at the lower end, and the answer is true.
func spanAxis(a *plot.Axis, what, unit string, values []float64) (zero bool) {
	lo, hi, least := math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
		if v > 0 {
			least = min(least, v)
		}
	}
	switch {
	case len(values) == 0:
		lo, hi = 0, 1
	case lo >= 0 && hi > 10*least:
		least = max(least, hi*1e-6)
		zero = lo < least
		logarithmic(a, what, pick(scalesOf(unit), math.Sqrt(least*hi)), least/1.5, hi*1.5)
		return zero
	}
	room := max((hi-lo)*0.06, math.Abs(hi)*1e-6)
	if lo >= 0 && lo < 0.25*hi {
		lo = room
	}
	linear(a, what, pick(scalesOf(unit), max(math.Abs(hi), math.Abs(lo))), lo-room, hi+room)
	return false
}

// parameterAxis makes an axis over the range of a parameter, widened for values.
func parameterAxis(a *plot.Axis, p *tuning.Parameter, values ...float64) {
	lo, hi := p.Low, p.High
	for _, v := range values {
		if v > 0 || p.Scale == tuning.Linear {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if p.Scale == tuning.Log {
		logarithmic(a, ParameterLabel(p), pick(scalesOf(p.Unit), math.Sqrt(lo*hi)), lo, hi)
		return
	}
	linear(a, ParameterLabel(p), pick(scalesOf(p.Unit), hi), lo, hi)
}

// landmark is a point that a figure names.
type landmark struct {
	*tuning.Point
	name  string
	tone  Tone
	shape draw.GlyphDrawer
}

// halo sets a landmark apart from what is under it.
func (l *landmark) halo(at xy) marks {
	return marks{[]xy{at}, draw.GlyphStyle{Color: tonePaper.color(), Radius: 6.6, Shape: l.shape}}
}

// landmarks are the points that figures name: today, the best baseline, the
// recommended one (else the best of the search), the knee.
func (s *Search) landmarks(knee bool) []landmark {
	list := []landmark{{s.Point(s.Today), "today", seriesTones[1], draw.BoxGlyph{}}}
	if s.BestOf != nil {
		p := s.Point(*s.BestOf)
		list = append(list, landmark{p, s.pointName(p), seriesTones[4], draw.PyramidGlyph{}})
	}
	best := s.Best()
	if best != nil {
		name := "recommended"
		if s.Winner == nil {
			name = "best of the search"
		}
		if knee && s.Knee != nil && *s.Knee == best.ID {
			name += " (the knee)"
			knee = false
		}
		list = append(list, landmark{best, name, seriesTones[2], draw.CircleGlyph{}})
	}
	if knee && s.Knee != nil {
		list = append(list, landmark{s.Point(*s.Knee), "knee", toneInk, draw.RingGlyph{}})
	}
	return list
}

// pointName is how a point is called in tables and figures.
func (s *Search) pointName(p *tuning.Point) string {
	switch {
	case p.Kind == tuning.KindToday:
		return "today"
	case s.Winner != nil && p.ID == *s.Winner:
		return "recommended"
	case p.Kind == tuning.KindBaseline && p.Name != "":
		return p.Name
	}
	return "point " + Whole(p.ID)
}

// PointName is how the point of an id is called in sentences.
func PointName(s *Search, id int) string {
	if s.Point(id).Kind == tuning.KindToday {
		return "today's settings"
	}
	return s.pointName(s.Point(id))
}

// notable are the points that tables list: recommended, knee, today, baselines
// by rank, and the best of the search.
func (s *Search) notable(most int) []*tuning.Point {
	var list []*tuning.Point
	seen := map[int]bool{}
	add := func(p *tuning.Point) {
		if p != nil && !seen[p.ID] && len(p.Cells) > 0 && len(list) < most {
			seen[p.ID] = true
			list = append(list, p)
		}
	}
	add(s.Best())
	add(s.Point(s.Today))
	if s.Knee != nil {
		add(s.Point(*s.Knee))
	}
	if s.BestOf != nil {
		add(s.Point(*s.BestOf))
	}
	rest := make([]*tuning.Point, 0, len(s.Points))
	for i := range s.Points {
		rest = append(rest, &s.Points[i])
	}
	rank := func(p *tuning.Point) int {
		switch {
		case p.Rank == 0:
			return math.MaxInt
		default:
			return p.Rank
		}
	}
	sort.SliceStable(rest, func(i, k int) bool {
		a, b := rest[i], rest[k]
		if (a.Kind == tuning.KindBaseline) != (b.Kind == tuning.KindBaseline) {
			return a.Kind == tuning.KindBaseline
		}
		return rank(a) < rank(b)
	})
	for _, p := range rest {
		if p.Kind == tuning.KindBaseline || p.Rank > 0 {
			add(p)
		}
	}
	return list
}

// marks are glyphs without names.
type marks struct {
	pts   []xy
	style draw.GlyphStyle
}

func (m marks) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	under := draw.GlyphStyle{Color: tonePaper.color(), Radius: m.style.Radius + 0.9, Shape: draw.CircleGlyph{}}
	for _, q := range m.pts {
		at := vg.Point{X: tx(q.x), Y: ty(q.y)}
		c.DrawGlyphNoClip(under, at) // so that it shows on dark cells
		c.DrawGlyphNoClip(m.style, at)
	}
}

// Marks of points that figures do not name.
func feasibleMark() draw.GlyphStyle {
	return draw.GlyphStyle{Color: toneMuted.color(), Radius: 1.6, Shape: draw.CircleGlyph{}}
}

func infeasibleMark() draw.GlyphStyle {
	return draw.GlyphStyle{Color: toneWarn.color(), Radius: 2.4, Shape: draw.CrossGlyph{}}
}
