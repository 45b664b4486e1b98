package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"rdmasim/sim"
)

// Methods of choosing points.
const (
	Grid  = "grid"
	Latin = "latin_hypercube"
	Sobol = "sobol"
)

// Plan says at which points a scenario is run, and with which seeds.
type Plan struct {
	File       string // name of the file, for errors
	Scenario   string // as written
	Set        []Set  // at every point, before the parameters
	Parameters []Parameter
	Design     Design
	Seeds      Seeds
	Metrics    []string // to keep, by path or as measures; empty = every path

	text   []byte // of the file
	points []Point
}

// Parameter is what is varied: one value of the scenario, or several that
// change together.
type Parameter struct {
	Paths  []string
	Values [][]string // one row per value, one text per path; nil where Range is set
	Range  *Range
	Steps  int // values of a Range in a grid
	// Of is a parameter above this one: the values, or the Range, are factors
	// of its value, and Step is what the product is rounded to (0 = not).
	Of   string
	Step float64

	fail func(format string, args ...any) error // an error at its place
}

// Text returns the file of the plan.
func (p *Plan) Text() []byte { return p.text }

// levels is how many values the parameter has in a grid.
func (p *Parameter) levels() int {
	if p.Range != nil {
		return p.Steps
	}
	return len(p.Values)
}

// fixed reports whether the parameter takes no dimension: it has one value.
func (p *Parameter) fixed() bool { return p.Range == nil && len(p.Values) == 1 }

// Design is how points are chosen.
type Design struct {
	Method string // Grid, Latin or Sobol
	Points int    // not of a grid
	Seed   uint64
}

// Seeds are the replicates of every point.
type Seeds struct {
	List   []uint64
	Common bool // the same at every point, so that differences between points are not those of the draws
}

// MostUnits bounds the units of a plan.
const MostUnits = 1 << 20

// Point is one choice of values.
type Point struct {
	Index  int
	Values []string // as text, in the order of Columns
	Sets   []Set    // everything to be set, the values last
}

// Unit is one run: a point with a seed.
type Unit struct {
	Index int
	Point int
	Seed  uint64
}

// Columns returns the paths that vary, in order.
func (p *Plan) Columns() []string {
	var list []string
	for i := range p.Parameters {
		list = append(list, p.Parameters[i].Paths...)
	}
	return list
}

// Points returns the points of the plan, which nobody changes: always the same
// for the same plan. A grid counts like an odometer, the last parameter fastest.
func (p *Plan) Points() []Point {
	if p.points == nil {
		p.points = p.enumerate()
	}
	return p.points
}

func (p *Plan) enumerate() []Point {
	var dims []int // parameters that take a dimension
	for i := range p.Parameters {
		if !p.Parameters[i].fixed() {
			dims = append(dims, i)
		}
	}
	var points []Point
	add := func(at func(parameter int) []string) {
		points = append(points, p.point(len(points), at))
	}
	if p.Design.Method == Grid {
		p.grid(add)
		return points
	}
	cube := LatinHypercube
	if p.Design.Method == Sobol {
		cube = SobolPoints
	}
	place := map[int]int{}
	for d, i := range dims {
		place[i] = d
	}
	for _, u := range cube(p.Design.Points, len(dims), p.Design.Seed) {
		add(func(i int) []string {
			if p.Parameters[i].fixed() {
				return p.Parameters[i].Values[0]
			}
			return p.Parameters[i].at(u[place[i]])
		})
	}
	return points
}

// grid adds every combination of values.
func (p *Plan) grid(add func(at func(parameter int) []string)) {
	level := make([]int, len(p.Parameters))
	for {
		add(func(i int) []string { return p.Parameters[i].level(level[i]) })
		k := len(level) - 1
		for ; k >= 0; k-- {
			if level[k]++; level[k] < p.Parameters[k].levels() {
				break
			}
			level[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

// level returns value number k of a grid.
func (p *Parameter) level(k int) []string {
	switch {
	case p.Range == nil:
		return p.Values[k]
	case p.Steps == 1:
		return []string{p.Range.At(0.5).String()}
	}
	return []string{p.Range.At(float64(k) / float64(p.Steps-1)).String()}
}

// at returns the value at u in 0..1; of a list each has an equal share.
func (p *Parameter) at(u float64) []string {
	if p.Range != nil {
		return []string{p.Range.At(u).String()}
	}
	return p.Values[min(int(u*float64(len(p.Values))), len(p.Values)-1)]
}

// point puts the values of the parameters together.
func (p *Plan) point(index int, at func(parameter int) []string) Point {
	pt := Point{Index: index, Sets: append([]Set(nil), p.Set...)}
	value := map[string]string{}
	for i := range p.Parameters {
		q := &p.Parameters[i]
		texts := at(i)
		if q.Of != "" {
			texts = []string{q.times(texts[0], value[q.Of])}
		}
		for k, path := range q.Paths {
			value[path] = texts[k]
			pt.Values = append(pt.Values, texts[k])
			pt.Sets = append(pt.Sets, Set{path, texts[k]})
		}
	}
	return pt
}

// times returns factor times value, rounded. Both were checked with the plan.
func (p *Parameter) times(factor, value string) string {
	f, _ := ParseQuantity(factor)
	v, _ := ParseQuantity(value)
	return product(f, v, p.Step).String()
}

func product(factor, value Quantity, step float64) Quantity {
	x := float64(factor.Value * value.Value)
	kind := value.Kind
	if step == 0 && kind != Ratio {
		step = 1
	}
	switch {
	case step == 0:
		return Quantity{kind, tidy(x, 6)}
	case kind == Ratio:
		return Quantity{kind, tidy(roundTo(x, step), 12)}
	}
	return Quantity{kind, roundTo(x, step)}
}

// Units returns the runs of the plan in order: point by point, seed by seed.
func (p *Plan) Units() []Unit {
	points := p.size()
	units := make([]Unit, 0, points*len(p.Seeds.List))
	for i := range points {
		for _, seed := range p.Seeds.List {
			if !p.Seeds.Common {
				seed = sim.Mix64(sim.Mix64(uint64(i)+1)^seed) >> 1 // fits the tables of every language
			}
			units = append(units, Unit{Index: len(units), Point: i, Seed: seed})
		}
	}
	return units
}

// size is the number of points.
func (p *Plan) size() int {
	if p.Design.Method != Grid {
		return p.Design.Points
	}
	n := 1
	for i := range p.Parameters {
		n *= p.Parameters[i].levels()
		if n > MostUnits {
			return n
		}
	}
	return n
}

// Shard returns the units of shard number i of n, i from 1: every n-th one, so
// that shards take about equally long.
func Shard(units []Unit, i, n int) []Unit {
	var list []Unit
	for k := i - 1; k < len(units); k += n {
		list = append(list, units[k])
	}
	return list
}

// format is the version of what is written by a sweep.
const format = 1

// ID identifies what a sweep computes: the scenario, every point and seed and
// the metrics. Plans that only look different have the same one.
func (p *Plan) ID(src *Source) string {
	h := sha256.New()
	put := func(texts ...string) {
		for _, s := range texts {
			fmt.Fprintf(h, "%d:%s,", len(s), s)
		}
	}
	put("rdmasim sweep", strconv.Itoa(format), string(src.Text))
	put(p.Columns()...)
	for _, pt := range p.Points() {
		put("point")
		for _, s := range pt.Sets {
			put(s.Path, s.Value)
		}
	}
	put("seeds")
	for _, u := range p.Units() {
		put(strconv.FormatUint(u.Seed, 16))
	}
	put("metrics")
	put(p.Metrics...)
	return hex.EncodeToString(h.Sum(nil))[:32]
}
