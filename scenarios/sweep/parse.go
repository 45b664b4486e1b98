package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
