package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rdmasim/reports/metric"
	"rdmasim/scenarios"
)

// ReadPlan reads the file of a plan.
func ReadPlan(file string) (*Plan, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: no such file: want the YAML file of a plan", file)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory: want the file of a plan", file)
	case info.Size() > scenarios.MaxFile:
		return nil, fmt.Errorf("%s: %d bytes: a plan has at most %d", file, info.Size(), scenarios.MaxFile)
	}
	data, err := scenarios.ReadBounded(file)
	if err != nil {
		return nil, err
	}
	return ParsePlan(file, data)
}

// planKeys are the keys of a plan.
var planKeys = []string{"scenario", "set", "vary", "design", "seeds", "metrics"}

// ParsePlan reads a plan. file is its name, for errors, which name the place.
func ParsePlan(file string, data []byte) (*Plan, error) {
	root, err := scenarios.ReadNode(file, data)
	if err != nil {
		return nil, err
	}
	f, err := root.Fields(planKeys...)
	if err != nil {
		return nil, err
	}
	p := &Plan{File: file, text: data, Design: Design{Method: Grid, Seed: 1}, Seeds: Seeds{List: []uint64{1}, Common: true}}
	node, ok := f["scenario"]
	if !ok {
		return nil, root.Errorf("scenario is missing: want the name of one of the library, or of a file")
	}
	if p.Scenario, err = node.Text("the name of a scenario of the library, or of a file"); err != nil {
		return nil, err
	}
	read := map[string]func(scenarios.Node) error{"set": p.readSet, "vary": p.readVary, "design": p.readDesign, "seeds": p.readSeeds, "metrics": p.readMetrics}
	for _, key := range planKeys[1:] {
		if node, ok := f[key]; ok {
			if err := read[key](node); err != nil {
				return nil, err
			}
		}
	}
	if len(p.Parameters) == 0 {
		return nil, root.Errorf("vary is missing: want paths of the scenario with their values, such as {switch.buffer.alpha: [1/8, 1/4]}")
	}
	return p, p.check(root, f)
}

// check is what can be said only of all keys together.
func (p *Plan) check(root scenarios.Node, f map[string]scenarios.Node) error {
	dims := 0
	taken := append([]string{"unit", "point", "seed", "status", "error", "fingerprint", "failed"}, p.names()...)
	for i := range p.Parameters {
		q := &p.Parameters[i]
		for _, path := range q.Paths {
			if slices.Contains(taken, path) {
				return q.fail("the table of results has a column of this name already")
			}
		}
		if !q.fixed() {
			dims++
		}
		if p.Design.Method == Grid && q.Range != nil && q.Steps == 0 {
			return q.fail("steps is missing: a grid takes so many values of the range")
		}
		if p.Design.Method != Grid && q.Steps != 0 {
			return q.fail("steps is for a grid: %s chooses values in the range by itself", p.Design.Method)
		}
	}
	if p.Design.Method == Sobol && dims > MostSobol {
		return f["vary"].Errorf("%d parameters: sobol takes at most %d", dims, MostSobol)
	}
	if p.Design.Method != Grid && dims == 0 {
		return f["vary"].Errorf("every parameter has one value only: %s has nothing to choose from", p.Design.Method)
	}
	if n := p.size() * len(p.Seeds.List); n > MostUnits || p.size() > MostUnits {
		return root.Errorf("more than %d runs: want fewer values, points or seeds", MostUnits)
	}
	return nil
}

// Open reads the scenario of the plan. The name of a file is relative to the
// plan's.
func (p *Plan) Open() (*Source, error) {
	name := p.Scenario
	if at := filepath.Join(filepath.Dir(p.File), name); !filepath.IsAbs(name) {
		if _, err := os.Stat(at); err == nil {
			name = at
		}
	}
	src, err := OpenSource(name)
	if err != nil {
		return nil, fmt.Errorf("%s: scenario: %w", p.File, err)
	}
	src.Name = p.Scenario
	return src, nil
}

// mostParameters bounds what a plan can vary.
const mostParameters = 256

func (p *Plan) readSet(n scenarios.Node) error {
	list, err := n.Entries()
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := checkPath(e.Key, e.Value); err != nil {
			return err
		}
		text, err := e.Value.Line()
		if err != nil {
			return err
		}
		p.Set = append(p.Set, Set{e.Key, text})
	}
	return nil
}

// checkPath refuses what is not the path of a value that may be set.
func checkPath(path string, n scenarios.Node) error {
	switch {
	case path == "" || strings.ContainsAny(path, "= \t\n") || strings.HasPrefix(path, ".") || strings.HasSuffix(path, ".") || strings.Contains(path, ".."):
		return n.Errorf("%q is no path: want keys of the scenario joined by dots, such as switch.ecn.3.kmin", path)
	case path == "seed":
		return n.Errorf("seeds are given by the key seeds of the plan")
	}
	return nil
}

func (p *Plan) readVary(n scenarios.Node) error {
	list, err := n.Entries()
	if err != nil {
		return err
	}
	if len(list) > mostParameters {
		return n.Errorf("%d entries: want at most %d", len(list), mostParameters)
	}
	for _, e := range list {
		q := Parameter{fail: e.Value.Errorf}
		for path := range strings.SplitSeq(e.Key, ",") {
			path = strings.TrimSpace(path)
			if err := checkPath(path, e.Value); err != nil {
				return err
			}
			if slices.Contains(p.Columns(), path) || slices.Contains(q.Paths, path) {
				return e.Value.Errorf("%s is varied twice", path)
			}
			q.Paths = append(q.Paths, path)
		}
		if e.Value.IsMap() {
			err = p.readRange(&q, e.Value)
		} else {
			err = q.readValues(e.Value)
		}
		if err != nil {
			return err
		}
		p.Parameters = append(p.Parameters, q)
	}
	return nil
}

// readValues reads a list of values; of several paths, a list of lists.
func (p *Parameter) readValues(n scenarios.Node) error {
	if !n.IsList() {
		return n.Errorf("want a list of values, {from: VALUE, to: VALUE} or {of: PATH, times: NUMBER}")
	}
	items, err := n.Items()
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return n.Errorf("the list is empty")
	}
	seen := map[string]bool{}
	for _, item := range items {
		cells := []scenarios.Node{item}
		if len(p.Paths) > 1 {
			if cells, err = item.Items(); err != nil || len(cells) != len(p.Paths) {
				return item.Errorf("want a list of %d values, one for each of %s", len(p.Paths), strings.Join(p.Paths, ", "))
			}
		}
		var row []string
		for _, c := range cells {
			text, err := c.Line()
			if err != nil {
				return err
			}
			row = append(row, text)
		}
		if key := strings.Join(row, "\n"); seen[key] {
			return item.Errorf("the value is there twice")
		} else {
			seen[key] = true
		}
		p.Values = append(p.Values, row)
	}
	return nil
}

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
	byValue := func(a, b Quantity) int {
		switch {
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return 0
	}
	return []Quantity{slices.MinFunc(list, byValue), slices.MaxFunc(list, byValue)}
}

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
