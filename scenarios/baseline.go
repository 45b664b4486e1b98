package scenarios

import (
	"fmt"
	"strings"

	"rdmasim/sim"
)

// Baseline is a marking curve that someone has published or ships, by name.
// A scenario takes it as the beginning of a curve: {baseline: cisco-400g}.
type Baseline struct {
	// For is what it was published for, such as 400G.
	For string
	// Curves by rate of the port. One without a rate holds at every rate; of
	// several, that of the port's rate is taken.
	Curves []BaselineCurve
	// Linear: Kmin and Kmax of the first curve grow with the rate.
	Linear bool
	// With is what else the source sets, in words.
	With   string
	Source string
	Label  BaselineLabel
	// Lacks says why the values cannot be used, "" where they can.
	Lacks string
}

// BaselineCurve is a curve of a baseline: bytes, or shares of what a queue
// can hold at most (MinFill, MaxFill).
type BaselineCurve struct {
	Rate             sim.Rate
	Kmin, Kmax       sim.Bytes
	Pmax             sim.Ratio
	MinFill, MaxFill sim.Ratio
}

// BaselineLabel says how good a source is.
type BaselineLabel string

// The labels.
const (
	ReadInSource    BaselineLabel = "read in the source"
	SecondarySource BaselineLabel = "secondary source"
	FromMemory      BaselineLabel = "general knowledge"
)

// Baselines are the marking curves that scenarios can name.
var Baselines = sim.NewCatalogue[Baseline]("baseline")

// registerBaseline adds a baseline; its sentence is made of what it says.
func registerBaseline(name string, b Baseline) bool {
	return sim.Register(Baselines, name, b.sentence(), struct{}{}, nil, func(struct{}) (Baseline, error) { return b, nil })
}

// LookupBaseline returns the baseline of that name.
func LookupBaseline(name string) (Baseline, error) {
	e, err := Baselines.Lookup(name)
	if err != nil {
		return Baseline{}, err
	}
	return e.Build(struct{}{})
}

// IsFamily reports whether the curve depends on the rate of the port.
func (b *Baseline) IsFamily() bool { return b.Linear || len(b.Curves) > 1 }

// At returns the curve for ports of a rate; false where there is none.
func (b *Baseline) At(r sim.Rate) (BaselineCurve, bool) {
	for _, c := range b.Curves {
		if c.Rate == 0 || c.Rate == r {
			return c, true
		}
	}
	if len(b.Curves) == 1 && !b.Linear {
		return b.Curves[0], true
	}
	if !b.Linear || r <= 0 {
		return BaselineCurve{}, false
	}
	c := b.Curves[0]
	k := float64(r) / float64(c.Rate)
	c.Rate, c.Kmin, c.Kmax = r, sim.Bytes(float64(c.Kmin)*k), sim.Bytes(float64(c.Kmax)*k)
	return c, true
}

// rates lists the rates of a family.
func (b *Baseline) rates() string {
	var list []string
	for _, c := range b.Curves {
		list = append(list, c.Rate.String())
	}
	return strings.Join(list, ", ")
}

// values prints a curve as kmin / kmax / pmax.
func (c BaselineCurve) values() string {
	low, high := c.Kmin.String(), c.Kmax.String()
	if c.MaxFill > 0 {
		low, high = percent(c.MinFill)+" full", percent(c.MaxFill)+" full"
	}
	return low + " / " + high + " / " + percent(c.Pmax)
}

func percent(r sim.Ratio) string {
	return sim.Ratio(float64(int64(float64(r)*1e6+0.5))/1e4).String() + "%"
}

// sentence says what a baseline is.
func (b Baseline) sentence() string {
	var parts []string
	for _, c := range b.Curves {
		text := c.values()
		if b.IsFamily() {
			text = c.Rate.String() + " " + text
		}
		parts = append(parts, text)
	}
	text := strings.Join(parts, "; ")
	switch {
	case b.Lacks != "":
		text = "not usable: " + b.Lacks
	case b.Linear:
		text += ", in proportion at other rates"
	}
	if b.With != "" {
		text += "; besides: " + b.With
	}
	return fmt.Sprintf("%s (%s): %s [%s]", text, b.For, b.Source, b.Label)
}
