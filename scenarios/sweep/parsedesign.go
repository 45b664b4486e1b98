package sweep

import (
	"slices"
	"strings"

	"rdmasim/reports/metric"
	"rdmasim/scenarios"
)

// readDesign reads grid, {latin_hypercube: {points: N}} and the like.
func (p *Plan) readDesign(n scenarios.Node) error {
	if n.IsScalar() {
		word, err := n.OneOf(Grid, Latin, Sobol)
		if err == nil && word != Grid {
			err = n.Errorf("points is missing: want {%s: {points: 64}}", word)
		}
		return err
	}
	f, err := n.Fields(Grid, Latin, Sobol)
	if err != nil {
		return err
	}
	if len(f) != 1 {
		return n.Errorf("want one of %s, %s, %s", Grid, Latin, Sobol)
	}
	for method, at := range f {
		p.Design.Method = method
		if method == Grid {
			_, err := at.Fields()
			return err
		}
		g, err := at.Fields("points", "seed")
		if err != nil {
			return err
		}
		points, ok := g["points"]
		if !ok {
			return at.Errorf("points is missing: want how many points to choose")
		}
		v, err := points.Int(1, MostUnits)
		if err != nil {
			return err
		}
		p.Design.Points = int(v)
		if s, ok := g["seed"]; ok {
			v, err := s.Int(0, 1<<62)
			if err != nil {
				return err
			}
			p.Design.Seed = uint64(v)
		}
	}
	return nil
}

func (p *Plan) readSeeds(n scenarios.Node) error {
	if n.IsList() {
		items, err := n.Items()
		if err != nil {
			return err
		}
		p.Seeds.List = nil
		for _, item := range items {
			v, err := item.Int(0, 1<<62)
			if err != nil {
				return err
			}
			if slices.Contains(p.Seeds.List, uint64(v)) {
				return item.Errorf("the seed is there twice")
			}
			p.Seeds.List = append(p.Seeds.List, uint64(v))
		}
		if len(p.Seeds.List) == 0 {
			return n.Errorf("the list is empty: want at least one seed")
		}
		return nil
	}
	count, first := n, int64(1)
	if n.IsMap() {
		f, err := n.Fields("count", "first", "common")
		if err != nil {
			return err
		}
		var ok bool
		if count, ok = f["count"]; !ok {
			return n.Errorf("count is missing: want how many seeds")
		}
		if at, ok := f["first"]; ok {
			if first, err = at.Int(0, 1<<61); err != nil {
				return err
			}
		}
		if at, ok := f["common"]; ok {
			word, err := at.OneOf("true", "false")
			if err != nil {
				return err
			}
			p.Seeds.Common = word == "true"
		}
	}
	v, err := count.Int(1, MostUnits)
	if err != nil {
		return err
	}
	p.Seeds.List = make([]uint64, v)
	for i := range p.Seeds.List {
		p.Seeds.List[i] = uint64(first) + uint64(i)
	}
	return nil
}

// readMetrics reads the figures to keep. The name of a group stands for all in
// it: flows.slowdown for its mean, quantiles and maximum.
func (p *Plan) readMetrics(n scenarios.Node) error {
	items, err := n.Items()
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return n.Errorf("the list is empty: leave the key out to keep every metric")
	}
	for _, item := range items {
		name, err := item.Text("the name of a metric such as flows.slowdown.p99")
		if err != nil {
			return err
		}
		var group []string
		for _, m := range metric.Paths() {
			if m.Name == name || strings.HasPrefix(m.Name, name+".") {
				group = append(group, m.Name)
			}
		}
		if strings.Count(name, "(") != strings.Count(name, ")") {
			return item.Errorf(`a bracket is not closed: put a function with a comma in quotes, as in "p99(flows.slowdown, tag=small)"`)
		}
		if len(group) == 0 {
			if err := CheckMeasure(name); err != nil {
				return item.Errorf("%s", strings.TrimPrefix(err.Error(), name+": "))
			}
			group = []string{name}
		}
		for _, m := range group {
			if !slices.Contains(p.Metrics, m) {
				p.Metrics = append(p.Metrics, m)
			}
		}
	}
	return nil
}
