// Package figure draws a run: every figure of the report is one file here that
// registers itself, takes the loaded run and returns plots, a caption and the
// same numbers as a table, or says why there is nothing to show.
package figure

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"rdmasim/sim"
)

// Section is a part of the page; sections come in this order.
type Section int

// The sections of a page.
const (
	Flows Section = iota
	Congestion
	Pauses
	Fabric
)

// String returns the heading of the section.
func (s Section) String() string {
	return [...]string{"Messages", "Queues and congestion control", "Flow control and losses", "Links and fabric"}[s]
}

// Drawing is a member of the catalogue: where a figure stands and how it is made.
type Drawing struct {
	Section Section
	Rank    int // order within the section
	// Draw makes the figure. A figure without panels says in Empty why.
	Draw func(*Run) Figure
}

// Figures is the catalogue of figures. The name of a figure is that of its
// files: report/NAME.svg and report/NAME.png.
var Figures = sim.NewCatalogue[Drawing]("figure")

// Figure is one finished figure.
type Figure struct {
	Name    string
	Title   string
	Caption string  // one sentence: what to see
	Panels  []Panel // from top to bottom
	Table   Table   // the same in numbers
	Empty   string  // why there is nothing to show, if there are no panels
}

// Panel is one plot of a figure with its own legend above it. The panels of a
// figure share the width of their data areas.
type Panel struct {
	Plot   *plot.Plot
	Height vg.Length
	Legend []Key
}

// Key is one entry of a legend.
type Key struct {
	Label string
	Line  draw.LineStyle  // drawn if its width is positive
	Fill  color.Color     // drawn if not nil
	Ring  color.Color     // the mark of a measured point, drawn if not nil
	Mark  draw.GlyphStyle // drawn if it has a shape
}

// Table is the text alternative of a figure.
type Table struct {
	Head []string
	Rows [][]string
	Note string // what the table leaves out
}

// empty returns a figure that says why there is nothing to show.
func empty(title, why string) Figure { return Figure{Title: title, Empty: why} }

// register adds a figure that has no parameters of its own.
func register(name, doc string, s Section, rank int, draw func(*Run) Figure) bool {
	return sim.Register(Figures, name, doc, struct{}{}, nil, func(struct{}) (Drawing, error) {
		return Drawing{Section: s, Rank: rank, Draw: draw}, nil
	})
}

// Placed is a figure with its section.
type Placed struct {
	Section Section
	Figure
}

// drawn is a drawing of a catalogue with its name.
type drawn[D any] struct {
	drawing D
	name    string
}

// ordered returns the drawings of a catalogue in the order of a page; those that
// compare as equal stay in that of their names.
func ordered[D any](c *sim.Catalogue[D], compare func(a, b D) int) ([]drawn[D], error) {
	var list []drawn[D]
	for _, name := range c.Names() {
		e, err := c.Lookup(name)
		if err != nil {
			return nil, err
		}
		d, err := e.Build(e.Defaults)
		if err != nil {
			return nil, err
		}
		list = append(list, drawn[D]{d, name})
	}
	slices.SortStableFunc(list, func(a, b drawn[D]) int { return compare(a.drawing, b.drawing) })
	return list, nil
}

// DrawAll draws every figure of the catalogue in the order of a page.
func DrawAll(r *Run) ([]Placed, error) {
	list, err := ordered(Figures, func(a, b Drawing) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Rank, b.Rank))
	})
	if err != nil {
		return nil, err
	}
	var out []Placed
	for _, e := range list {
		f := e.drawing.Draw(r)
		f.Name = e.name
		out = append(out, Placed{e.drawing.Section, f})
	}
	return out, nil
}
