package figure

import (
	"math"
	"sort"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

const (
	// maxColumns bounds the time resolution of figures: about one column per
	// point of a data area's width.
	maxColumns = 600
	// maxCells bounds memory: columns of all series together, 12 bytes each
	// (72 MB). When they would be more, neighbouring columns are merged.
	maxCells = 6 << 20
)

// Clock divides the run into equal columns, without a long silence before it.
type Clock struct {
	Columns int
	Width   sim.Duration // of a column
	Begin   sim.Time     // of the first column
	End     sim.Time     // of the run
}

// newClock makes columns that are whole bins of the series, at most maxColumns.
func newClock(begin, end sim.Time, bin sim.Duration) Clock {
	if end <= 0 {
		return Clock{Columns: 1, Width: 1, End: 1}
	}
	begin = max(0, min(begin, end-1))
	if bin <= 0 {
		bin = max(1, end.Sub(begin)/maxColumns)
	}
	begin -= begin % sim.Time(bin)
	length := int64(end.Sub(begin))
	bins := (length-1)/int64(bin) + 1
	width := bin * sim.Duration((bins-1)/maxColumns+1)
	return Clock{Columns: int((length-1)/int64(width) + 1), Width: width, Begin: begin, End: end}
}

// border returns where column i begins.
func (c Clock) border(i int) sim.Time {
	return c.Begin + sim.Time(c.Width)*sim.Time(i)
}

// length returns the time that all columns cover.
func (c Clock) length() sim.Duration { return c.End.Sub(c.Begin) }

// Start returns where column i begins, in seconds; Start(Columns) is the end.
func (c Clock) Start(i int) float64 {
	return min(c.border(i), c.End).Seconds()
}

// Borders returns the Columns+1 borders of the columns in seconds.
func (c Clock) Borders() []float64 {
	x := make([]float64, c.Columns+1)
	for i := range x {
		x[i] = c.Start(i)
	}
	return x
}

// column returns the column in which t lies.
func (c Clock) column(t sim.Time) int {
	return max(0, min(int(int64(t-c.Begin)/int64(c.Width)), c.Columns-1))
}

// span returns how long column i is: the last may be cut by the end of the run.
func (c Clock) span(i int) sim.Duration {
	return min(c.border(i+1), c.End).Sub(c.border(i))
}

// Series is one metric of one object over the columns of a Clock. Mean is
// weighted by time within a column; Min and Max are those of the bins in it.
type Series struct {
	Object         trace.Object
	Mean, Min, Max []float32
	Average        float64 // over the whole run, weighted by time
	Peak           float64 // largest Max
	PeakAt         sim.Time
	First          int // column that rows cover whole; what was before them is not known to be 0

	last    trace.PointRow
	started bool
}

// seriesSet collects the series of a run on one clock, in bounded memory.
type seriesSet struct {
	clock Clock
	by    map[string]map[trace.Object]*Series
	cells int
}

func newSeriesSet(c Clock) *seriesSet {
	return &seriesSet{clock: c, by: map[string]map[trace.Object]*Series{}}
}

// add takes the next row. Rows of one object come in the order of time.
// Rows that no figure could show (not a number, infinite) are left out.
func (s *seriesSet) add(p trace.PointRow) {
	if !drawable(p.Mean) || !drawable(p.Min) || !drawable(p.Max) {
		return
	}
	m := s.by[p.Metric]
	if m == nil {
		m = map[trace.Object]*Series{}
		s.by[p.Metric] = m
	}
	x := m[p.Object]
	if x == nil {
		for s.cells+s.clock.Columns > maxCells && s.clock.Columns > 16 {
			s.fold()
		}
		if s.cells+s.clock.Columns > maxCells {
			return // more objects than can be drawn at any resolution
		}
		n := s.clock.Columns
		buf := make([]float32, 3*n)
		x = &Series{Object: p.Object, Mean: buf[:n:n], Min: buf[n : 2*n : 2*n], Max: buf[2*n:]}
		s.cells += n
		m[p.Object] = x
	}
	if p.Time >= s.clock.End {
		return
	}
	s.hold(x, p.Time)
	if !x.started {
		x.First = s.clock.column(p.Time)
		if p.Time > s.clock.border(x.First) {
			x.First++
		}
	}
	if p.Max > x.Peak || !x.started {
		x.Peak, x.PeakAt = p.Max, p.Time
	}
	x.last, x.started = p, true
}

// drawable reports whether v is a number that fits a column.
func drawable(v float64) bool { return math.Abs(v) <= math.MaxFloat32 }

// hold extends the value of the last row until t.
func (s *seriesSet) hold(x *Series, t sim.Time) {
	from := max(x.last.Time, s.clock.Begin) // value 0 before the first row
	for from < t {
		i := s.clock.column(from)
		end := min(s.clock.border(i+1), t)
		colStart := s.clock.border(i)
		w := end.Sub(from).Seconds() / s.clock.span(i).Seconds()
		lo, hi := float32(x.last.Min), float32(x.last.Max)
		if from == colStart {
			x.Min[i], x.Max[i] = lo, hi
		} else {
			x.Min[i], x.Max[i] = min(x.Min[i], lo), max(x.Max[i], hi)
		}
		x.Mean[i] += float32(x.last.Mean * w)
		x.Average += x.last.Mean * end.Sub(from).Seconds() / s.clock.length().Seconds()
		from = end
	}
	x.last.Time = max(x.last.Time, t)
}

// fold merges pairs of columns of all series.
func (s *seriesSet) fold() {
	old := s.clock
	s.clock.Width *= 2
	s.clock.Columns = (old.Columns + 1) / 2
	s.cells = 0
	for _, m := range s.by {
		for _, x := range m {
			s.foldOne(x, old)
			s.cells += s.clock.Columns
		}
	}
}

func (s *seriesSet) foldOne(x *Series, old Clock) {
	n := s.clock.Columns
	buf := make([]float32, 3*n)
	mean, lo, hi := buf[:n:n], buf[n:2*n:2*n], buf[2*n:]
	filled := old.Columns
	if x.last.Time < old.End {
		filled = max(0, int((int64(x.last.Time-old.Begin)+int64(old.Width)-1)/int64(old.Width))) // columns with data
	}
	for i := range n {
		a, b := 2*i, 2*i+1
		mean[i], lo[i], hi[i] = x.Mean[a], x.Min[a], x.Max[a]
		if b >= old.Columns {
			continue
		}
		wa, wb := old.span(a).Seconds(), old.span(b).Seconds()
		mean[i] = float32((float64(x.Mean[a])*wa + float64(x.Mean[b])*wb) / (wa + wb))
		if b < filled {
			lo[i], hi[i] = min(lo[i], x.Min[b]), max(hi[i], x.Max[b])
		}
	}
	x.Mean, x.Min, x.Max = mean, lo, hi
	x.First = (x.First + 1) / 2
}

// finish holds every last value to the end of the run and returns the series
// of each metric in order of object.
func (s *seriesSet) finish() map[string][]*Series {
	out := map[string][]*Series{}
	for metric, m := range s.by {
		list := make([]*Series, 0, len(m))
		for _, x := range m {
			s.hold(x, s.clock.End)
			list = append(list, x)
		}
		sort.Slice(list, func(i, j int) bool { return natural(list[i].Object, list[j].Object) })
		out[metric] = list
	}
	return out
}

// natural orders names with numbers in them as people do: h2 before h10.
func natural(a, b string) bool {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x, nx := number(a[i:])
		y, ny := number(b[j:])
		if nx > 0 && ny > 0 {
			if x != y {
				return x < y
			}
			i, j = i+nx, j+ny
			continue
		}
		if a[i] != b[j] {
			return a[i] < b[j]
		}
		i, j = i+1, j+1
	}
	if len(a)-i != len(b)-j {
		return len(a)-i < len(b)-j
	}
	return a < b
}

// number reads the digits at the start of s: their value and how many they are.
func number(s string) (v uint64, n int) {
	for n < len(s) && n < 18 && s[n] >= '0' && s[n] <= '9' {
		v = v*10 + uint64(s[n]-'0')
		n++
	}
	return v, n
}
