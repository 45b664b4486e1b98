package figure

import (
	"fmt"
	"slices"

	"rdmasim/reports/tuning"
)

var _ = registerTune("pareto", "the two heaviest objectives against each other, with the front and its knee", TuneSpace, 2, tunePareto)

// tunePareto draws every point by its two heaviest objectives.
func tunePareto(s *Search) Figure {
	list := s.shownObjectives()
	if len(list) < 2 {
		return empty("Pareto front", "There is one objective: nothing to trade.")
	}
	x, y := list[0], list[1]
	ox, oy := &s.Objectives[x], &s.Objectives[y]
	title := Capital(fmt.Sprintf("%s against %s", objectiveLabel(ox), objectiveLabel(oy)))
	f := Figure{Title: title, Table: Table{Head: []string{"point on the front"}}}
	at := func(p *tuning.Point) (xy, bool) {
		a, ok := s.Mean(p, x)
		b, ok2 := s.Mean(p, y)
		return xy{a, b}, ok && ok2
	}
	good, bad := s.scatter(at)
	var vx, vy []float64
	for _, q := range append(append([]xy(nil), good...), bad...) {
		vx, vy = append(vx, q.x), append(vy, q.y)
	}
	if len(vx) == 0 {
		f.Empty = "No point was measured under all workloads."
		return f
	}
	p := newPlot()
	zero := spanAxis(&p.X, objectiveLabel(ox)+", "+goalWords(ox), ox.Unit, vx)
	zeroY := spanAxis(&p.Y, objectiveLabel(oy)+", "+goalWords(oy), oy.Unit, vy)
	if zero {
		p.X.Label.Text += "; 0 stands at the left edge"
	}
	if zeroY {
		p.Y.Label.Text += "; 0 at the bottom"
	}
	p.Add(grid{x: true, y: true}, marks{good, feasibleMark()}, marks{bad, infeasibleMark()})
	if len(s.Pareto) == 0 {
		s = s.withFront(x, y, at)
	}
	front := s.front(at)
	sty := solid(0)
	p.Add(line{pts: front, sty: sty, step: s.stepsAlong(x, y)}, marks{front, feasibleMark()})
	for _, l := range s.landmarks(true) {
		if q, ok := at(l.Point); ok {
			p.Add(l.halo(q), dots{pts: []xy{q}, names: []string{l.name}, shape: l.shape, tone: l.tone, size: 5})
		}
	}
	legend := []Key{{Label: "Pareto front", Line: sty}, {Label: "feasible", Mark: feasibleMark()}}
	if len(bad) > 0 {
		legend = append(legend, Key{Label: "not feasible", Mark: infeasibleMark()})
	}
	f.Panels = []Panel{{Plot: p, Height: 330, Legend: legend}}
	f.Table.Head, f.Table.Rows = s.frontTable()
	f.Caption = fmt.Sprintf("%s evaluated; on the front, %s gets no better without the other getting worse. Means over workloads.",
		Capital(Count(len(vx), "point")), objectiveLabel(ox))
	return f
}

// withFront returns the search with the front of two objectives, where none was
// asked for.
func (s *Search) withFront(x, y int, at func(*tuning.Point) (xy, bool)) *Search {
	better := func(o int, a, b float64) bool { return a != b && (a < b) == (s.Objectives[o].Goal == tuning.Minimize) }
	r := *s.Result
	out := *s
	out.Result = &r
	for i := range r.Points {
		p := &r.Points[i]
		q, ok := at(p)
		if !ok || !p.Feasible {
			continue
		}
		dominated := slices.ContainsFunc(r.Points, func(o tuning.Point) bool {
			z, ok := at(&o)
			return ok && o.Feasible && !better(x, q.x, z.x) && !better(y, q.y, z.y) && z != q
		})
		if !dominated {
			r.Pareto = append(r.Pareto, p.ID)
		}
	}
	return &out
}

// front is the Pareto set in the plane of two objectives, from the left. With
// more than two objectives it need not be monotonous.
func (s *Search) front(at func(*tuning.Point) (xy, bool)) []xy {
	var list []xy
	for _, id := range s.Pareto {
		if q, ok := at(s.Point(id)); ok {
			list = append(list, q)
		}
	}
	sortXY(list)
	return list
}

// stepsAlong: between two points of a front of two objectives that should both
// be small, what is reached is that of the left one.
func (s *Search) stepsAlong(x, y int) bool {
	return len(s.Objectives) == 2 && s.Objectives[x].Goal == tuning.Minimize && s.Objectives[y].Goal == tuning.Minimize
}

func (s *Search) frontTable() (head []string, rows [][]string) {
	head = []string{"point on the front"}
	for i := range s.Parameters {
		head = append(head, ParameterLabel(&s.Parameters[i]))
	}
	for i := range s.Objectives {
		head = append(head, objectiveLabel(&s.Objectives[i]))
	}
	for _, id := range s.Pareto {
		p := s.Point(id)
		name := s.pointName(p)
		if s.Knee != nil && *s.Knee == id {
			name += ", the knee"
		}
		row := []string{name}
		for k := range s.Parameters {
			row = append(row, Quantity(p.Values[k], s.Parameters[k].Unit))
		}
		for o := range s.Objectives {
			if v, ok := s.Mean(p, o); ok {
				row = append(row, Quantity(v, s.Objectives[o].Unit))
			} else {
				row = append(row, "not measured")
			}
		}
		rows = append(rows, row)
	}
	return head, rows
}
