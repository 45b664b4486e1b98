// Package fluid holds what a fabric must do by theory: closed forms, fixed
// points and fluid models with their sources, against which simulations are
// validated. Nothing here is tuned to a simulator.
package fluid

import (
	"fmt"
	"sort"
	"strings"
)

// Oracle says what one function of this package computes and who says so.
type Oracle struct {
	ID       string // stable name, for example "dcqcn_fixed_point"
	Title    string // one sentence
	Equation string // in the letters of the source
	Source   string // paper or standard with section, or "derivation" with its steps
	Limits   string // where it holds
}

// String prints the oracle for a reader at a terminal.
func (o Oracle) String() string {
	s := fmt.Sprintf("%s: %s\n  %s\n  source: %s\n", o.ID, o.Title, strings.ReplaceAll(o.Equation, "\n", "\n  "), o.Source)
	if o.Limits != "" {
		s += "  holds: " + o.Limits + "\n"
	}
	return s
}

var oracles = map[string]Oracle{}

// describe adds an oracle; it panics on a duplicate.
func describe(o Oracle) bool {
	if _, ok := oracles[o.ID]; ok {
		panic("duplicate oracle " + o.ID)
	}
	oracles[o.ID] = o
	return true
}

// Oracles returns every oracle in the order of their ids.
func Oracles() []Oracle {
	list := make([]Oracle, 0, len(oracles))
	for _, o := range oracles {
		list = append(list, o)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

// Explain returns the oracle of that id; the error lists the ids that exist.
func Explain(id string) (Oracle, error) {
	if o, ok := oracles[id]; ok {
		return o, nil
	}
	ids := make([]string, 0, len(oracles))
	for _, o := range Oracles() {
		ids = append(ids, o.ID)
	}
	return Oracle{}, fmt.Errorf("unknown oracle %q: want one of %s", id, strings.Join(ids, ", "))
}
