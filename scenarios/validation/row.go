// Package validation holds the published and derived numbers that a correct
// model must reproduce. Each row is a file: it runs ordinary scenarios, compares
// what they left in their run directories with an oracle, and says what it found.
package validation

import (
	"cmp"
	"slices"
	"strconv"

	"rdmasim/congestion/fluid"
	"rdmasim/sim"
)

// Level is how much a validation may cost.
type Level int

// Levels. A point of a row belongs to the least level at which it is run.
const (
	Short Level = iota // tests: seconds for everything
	Quick              // every change: two minutes for everything
	Full               // all points, seeds and warm-ups
)

// Row is a member of the catalogue.
type Row struct {
	Title   string // what is reproduced, a short noun phrase
	Explain string // the oracle: equation, where it holds, source
	Hard    bool   // a row that fails fails the validation
	// Oracles are the ids in congestion/fluid of what the row compares with.
	Oracles []string
	// Scenarios are the files of this package that the row runs.
	Scenarios []string
	// Lacks says why the row cannot be run yet, and what it will need; "" where
	// it can. Such a row has no Measure.
	Lacks   string
	Measure func(*Bench) error
}

// Equations returns what the oracles of the row compute, where that holds, and
// who says so, one text per
// oracle. The error names an id that congestion/fluid does not have.
func (r Row) Equations() ([]string, error) {
	list := make([]string, len(r.Oracles))
	for i, id := range r.Oracles {
		o, err := fluid.Explain(id)
		if err != nil {
			return nil, err
		}
		list[i] = o.String()
	}
	return list, nil
}

// Rows is the catalogue of rows by id.
var Rows = sim.NewCatalogue[Row]("validation row")

// register adds a row.
func register(id string, r Row) bool {
	return sim.Register(Rows, id, r.Title, struct{}{}, nil, func(struct{}) (Row, error) { return r, nil })
}

// Lookup returns a row; the error lists the ids that exist.
func Lookup(id string) (Row, error) {
	e, err := Rows.Lookup(id)
	if err != nil {
		return Row{}, err
	}
	return e.Build(e.Defaults)
}

// IDs returns the ids of all rows: by letter, then by number.
func IDs() []string {
	ids := Rows.Names()
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(a[:1], b[:1]), cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
	})
	return ids
}

func number(id string) int {
	n, _ := strconv.Atoi(id[1:])
	return n
}
