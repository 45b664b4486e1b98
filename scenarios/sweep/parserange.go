package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rdmasim/scenarios"
)

// readRange reads {from, to, ...} and {of, times, ...}.
func (p *Plan) readRange(q *Parameter, n scenarios.Node) error {
	f, err := n.Fields("from", "to", "scale", "round", "steps", "of", "times")
	if err != nil {
		return err
	}
	if len(q.Paths) > 1 {
		return n.Errorf("values that change together are given as a list of lists")
	}
	if _, ok := f["of"]; ok {
		return p.readOf(q, n, f)
	}
	if at, ok := f["times"]; ok {
		return at.Errorf("of is missing: times is a factor of another parameter")
	}
	return q.readSpan(n, f)
}

// readSpan reads from, to, scale, round and steps.
func (p *Parameter) readSpan(n scenarios.Node, f map[string]scenarios.Node) error {
	ends := map[string]Quantity{}
	for _, key := range []string{"from", "to", "round"} {
		at, ok := f[key]
		if !ok {
			if key != "round" {
				return n.Errorf("%s is missing: want {from: VALUE, to: VALUE}", key)
			}
			continue
		}
		q, err := quantityAt(at)
		if err != nil {
			return err
		}
		ends[key] = q
	}
	log := false
	if at, ok := f["scale"]; ok {
		word, err := at.OneOf("linear", "log")
		if err != nil {
			return err
		}
		log = word == "log"
	}
	r, err := NewRange(ends["from"], ends["to"], ends["round"], log)
	if err != nil {
		return n.Errorf("%v", err)
	}
	p.Range = &r
	if at, ok := f["steps"]; ok {
		steps, err := at.Int(1, MostUnits)
		if err != nil {
			return err
		}
		p.Steps = int(steps)
	}
	return nil
}

func quantityAt(n scenarios.Node) (Quantity, error) {
	text, err := n.Text("a number such as 400KB, 100Gbps, 55us, 40m, 20% or 16")
	if err != nil {
		return Quantity{}, err
	}
	q, err := ParseQuantity(text)
	if err != nil {
		return q, n.Errorf("%v", err)
	}
	return q, nil
}

// readOf reads {of: PATH, times: FACTOR, round: STEP}.
func (p *Plan) readOf(q *Parameter, n scenarios.Node, f map[string]scenarios.Node) error {
	for _, key := range []string{"from", "to", "scale", "steps"} {
		if at, ok := f[key]; ok {
			return at.Errorf("goes into times, as in times: {from: 2, to: 8}")
		}
	}
	var err error
	if q.Of, err = f["of"].Text("the path of a parameter above"); err != nil {
		return err
	}
	i := slices.IndexFunc(p.Parameters, func(o Parameter) bool { return slices.Contains(o.Paths, q.Of) })
	if i < 0 {
		return f["of"].Errorf("%sno parameter above has this path: want one of %s", scenarios.Nearest(q.Of, p.Columns()), strings.Join(p.Columns(), ", "))
	}
	at, ok := f["times"]
	switch {
	case !ok:
		return n.Errorf("times is missing: want a factor, a list of them, or {from: 2, to: 8}")
	case at.IsMap():
		g, err := at.Fields("from", "to", "scale", "round", "steps")
		if err != nil {
			return err
		}
		if err := q.readSpan(at, g); err != nil {
			return err
		}
		q.Range.Kind = max(q.Range.Kind, Ratio) // factors may be fractions
	case at.IsList():
		err = q.readValues(at)
	default:
		var text string
		if text, err = at.Text("a factor"); err == nil {
			q.Values = [][]string{{text}}
		}
	}
	if err != nil {
		return err
	}
	return p.checkProducts(q, i, at, f)
}

// checkProducts makes sure that every factor can be applied to every value.
func (p *Plan) checkProducts(q *Parameter, of int, times scenarios.Node, f map[string]scenarios.Node) error {
	factors, err := q.ends()
	if err != nil {
		return times.Errorf("%v", err)
	}
	values, err := p.endsOf(of, q.Of)
	if err != nil {
		return f["of"].Errorf("%v", err)
	}
	step := Quantity{}
	if at, ok := f["round"]; ok {
		if step, err = quantityAt(at); err != nil {
			return err
		}
		if step.Value <= 0 || step.Kind != values[0].Kind && max(step.Kind, values[0].Kind) > Ratio {
			return at.Errorf("values of the kind of %v cannot be rounded to %v", values[0], step)
		}
	}
	q.Step = step.Value
	for _, a := range factors {
		if a.Kind > Ratio || a.Value <= 0 {
			return times.Errorf("%v is no factor: want a number above 0 without a unit", a)
		}
		for _, b := range values {
			if x := product(a, b, q.Step); x.Value > mostExact {
				return times.Errorf("%v times %v is too large", a, b)
			}
		}
	}
	return nil
}

// ends returns the least and the greatest value.
func (p *Parameter) ends() (list []Quantity, err error) {
	if p.Range != nil {
		return []Quantity{{p.Range.Kind, p.Range.Low}, {p.Range.Kind, p.Range.High}}, nil
	}
	for _, row := range p.Values {
		q, err := ParseQuantity(row[0])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row[0], err)
		}
		if len(list) > 0 && q.Kind != list[0].Kind && max(q.Kind, list[0].Kind) > Ratio {
			return nil, fmt.Errorf("%v is a %v and %v a %v: want values of one kind", list[0], list[0].Kind, q, q.Kind)
		}
		list = append(list, q)
	}
	return extremes(list), nil
}

// endsOf returns the values that a path of parameter i takes, or their ends.
func (p *Plan) endsOf(i int, path string) ([]Quantity, error) {
	o := &p.Parameters[i]
	own := *o
	own.Values = nil
	for _, row := range o.Values {
		k := min(slices.Index(o.Paths, path), len(row)-1)
		own.Values = append(own.Values, []string{row[k]})
	}
	list, err := own.ends()
	if err != nil || o.Of == "" {
		return list, err
	}
	below := slices.IndexFunc(p.Parameters, func(x Parameter) bool { return slices.Contains(x.Paths, o.Of) })
	values, err := p.endsOf(below, o.Of)
	if err != nil {
		return nil, err
	}
	var out []Quantity
	for _, a := range list {
		for _, b := range values {
			out = append(out, product(a, b, o.Step))
		}
	}
	return extremes(out), nil
}

func extremes(list []Quantity) []Quantity {
	byValue := func(a, b Quantity) int { return cmp.Compare(a.Value, b.Value) }
	return []Quantity{slices.MinFunc(list, byValue), slices.MaxFunc(list, byValue)}
}
