package page

import (
	"slices"

	"rdmasim/reports/figure"
)

// preset takes the figures that the scenario is about out of the list, in the
// order in which it names them. Those that have nothing to show stay where they
// are, with the reason.
func preset(r *figure.Run, list []figure.Placed) (rest []figure.Placed, first []FigureView) {
	rest = slices.Clone(list)
	for _, name := range r.Preset() {
		i := slices.IndexFunc(rest, func(p figure.Placed) bool { return p.Name == name && len(p.Panels) > 0 })
		if i < 0 {
			continue
		}
		first = append(first, View(&rest[i].Figure))
		rest = slices.Delete(rest, i, i+1)
	}
	return rest, first
}
