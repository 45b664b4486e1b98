package tune

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rdmasim/scenarios"
	"rdmasim/scenarios/sweep"
	"rdmasim/sim"
)

// Tuning is a plan with its scenarios, checked and ready to be run.
type Tuning struct {
	parsed
	sources []*sweep.Source // by workload
	spec    *scenarios.Spec // as it is today
	rate    sim.Rate        // that baselines are taken for
	named   []namedPoint
	lacking []lacking

	description string
}

// lacking is a baseline that is not run, and why.
type lacking struct{ name, why string }

// maxPlan bounds a plan file, in bytes.
const maxPlan = scenarios.MaxFile

// Open reads a plan and the scenarios that it names, and tries the ends of the
// search space on them. An error says what is wrong and where.
func Open(file string) (*Tuning, error) {
	name, data, err := readPlan(file)
	if err != nil {
		return nil, err
	}
	p, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	t := &Tuning{parsed: *p, description: planDescription(string(data))}
	for _, step := range []func() error{t.open, t.tryToday, t.baselines, t.tryEnds} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// readPlan returns a plan by its file, or by its name if it comes with the program.
func readPlan(file string) (name string, data []byte, err error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		if text, ok := PlanText(file); ok {
			return file + ".yaml", text, nil
		}
		return "", nil, fmt.Errorf("%q is neither a file nor a plan that comes with the program: %swant one of %s", file, scenarios.Nearest(file, Plans()), strings.Join(Plans(), ", "))
	}
	if err != nil {
		return "", nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxPlan {
		return "", nil, fmt.Errorf("%s: want a regular file of at most %d bytes", file, maxPlan)
	}
	data, err = os.ReadFile(file)
	return file, data, err
}

// open reads the scenarios of all workloads.
func (t *Tuning) open() error {
	for i, w := range t.Workloads {
		name, path := w.Scenario, fmt.Sprintf("workloads.%d.scenario", i)
		if name == "" {
			name, path = t.Scenario, "scenario"
		}
		src, err := sweep.OpenSource(t.locate(name))
		if err != nil {
			return t.inPlan(path, err)
		}
		t.sources = append(t.sources, src)
	}
	src, err := sweep.OpenSource(t.locate(t.Scenario))
	if err != nil {
		return t.inPlan("scenario", err)
	}
	if t.spec, err = src.Spec(nil); err != nil {
		return err
	}
	for i := range t.Workloads {
		if _, err := t.sources[i].Spec(t.sets(i, nil)); err != nil {
			return t.inPlan(fmt.Sprintf("workloads.%d.set", i), err)
		}
	}
	return nil
}

// inPlan gives an error that has no place of its own that of the plan.
func (t *Tuning) inPlan(path string, err error) error {
	if e, ok := err.(*scenarios.Error); ok && !strings.HasPrefix(e.Pos.File, "--set") {
		return err
	}
	return t.doc.Errorf(path, "", "%v", err)
}

// locate returns the file of a scenario that the plan names: beside the plan,
// else as it is.
func (t *Tuning) locate(name string) string {
	if !filepath.IsAbs(name) {
		if beside := filepath.Join(t.doc.Dir, name); regular(beside) {
			return beside
		}
	}
	return name
}

func regular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// sets returns the settings of a run: those of its workload, what it is judged
// by, and those of a point.
func (t *Tuning) sets(workload int, settings []string) (list []sweep.Set) {
	for _, s := range slices.Concat(t.Workloads[workload].Set, []string{"expect=" + quoted(t.judge.expect)}, settings) {
		path, value, _ := strings.Cut(s, "=")
		list = append(list, sweep.Set{Path: path, Value: value})
	}
	return list
}

// quoted is a list of texts as YAML.
func quoted(list []string) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// tryToday reads today's value of every parameter.
func (t *Tuning) tryToday() error {
	p := make(point, len(t.space))
	for i := range t.space {
		d, at := &t.space[i], fmt.Sprintf("parameters.%d", i)
		for k, path := range d.paths {
			text, ok := scenarios.ResolvedValue(t.spec, path)
			if !ok {
				return t.doc.Errorf(at, path, "the scenario %s has no such value: write it there, as it is today", t.Scenario)
			}
			v, err := d.parse(text)
			if err != nil {
				return t.doc.Errorf(at, path, "is %s today: %v", text, err)
			}
			if k > 0 && v != p[i] {
				return t.doc.Errorf(at, path, "is %s today, and %s is %s: want the same", text, d.paths[0], d.text(p[i]))
			}
			p[i] = v
		}
	}
	t.named = []namedPoint{{"today", p}}
	return nil
}

// parse reads a value of the dimension.
func (d *dimension) parse(text string) (float64, error) {
	if d.values != nil {
		if i := slices.Index(d.values, text); i >= 0 {
			return float64(i), nil
		}
		return 0, fmt.Errorf("want it among values, which are %s", strings.Join(d.values, ", "))
	}
	v, _, ok := parseValue(text, d.kind)
	if !ok {
		return 0, fmt.Errorf("want a %v, as from and to are", d.kind)
	}
	return v, nil
}

// baselines turns published curves into points: today's with their Kmin, Kmax
// and Pmax.
func (t *Tuning) baselines() error {
	if len(t.Baselines) == 0 {
		return nil
	}
	role := map[string]int{}
	for i := range t.space {
		role[t.space[i].role] = i
	}
	for _, r := range []string{"kmin", "kmax", "pmax"} {
		if _, ok := role[r]; !ok {
			return t.doc.Errorf("baselines", "", "a baseline has a Kmin, a Kmax and a Pmax: give one parameter the role %s, or write baselines: []", r)
		}
	}
	var err error
	if t.rate, err = t.spec.HostRate(); err != nil {
		return t.doc.Errorf("rate", t.Rate, "%v", err)
	}
	if t.Rate != "" {
		t.rate, _ = sim.ParseRate(t.Rate) // checked with the plan
	}
	names := t.Baselines
	if fit := names[0] == baselinesFit; fit {
		names = scenarios.Baselines.Names()
	}
	for i, name := range names {
		b, err := scenarios.LookupBaseline(name)
		if err != nil {
			return t.doc.Errorf(fmt.Sprintf("baselines.%d", i), name, "unknown baseline: %swant fit, or one of %s", scenarios.Nearest(name, scenarios.Baselines.Names()), strings.Join(scenarios.Baselines.Names(), ", "))
		}
		c, ok := b.At(t.rate)
		switch {
		case b.Lacks != "":
			t.lacking = append(t.lacking, lacking{name, b.Lacks})
		case !ok || t.Baselines[0] == baselinesFit && !b.Fits(t.rate):
			t.lacking = append(t.lacking, lacking{name, fmt.Sprintf("published for %s, not for %v", b.For, t.rate)})
		default:
			t.addBaseline(name, c, role)
		}
	}
	return nil
}

func (t *Tuning) addBaseline(name string, c scenarios.BaselineCurve, role map[string]int) {
	kmin, kmax := c.Thresholds(&t.spec.Switch.Buffer)
	p := slices.Clone(t.named[0].p)
	p[role["kmin"]], p[role["kmax"]], p[role["pmax"]] = float64(kmin), float64(kmax), float64(c.Pmax)
	t.named = append(t.named, namedPoint{name, p})
}

// tryEnds reads every workload with today's settings, every baseline, and the
// ends of every parameter.
func (t *Tuning) tryEnds() error {
	try := func(what string, p point) error {
		for w := range t.Workloads {
			spec, err := t.sources[w].Spec(t.sets(w, t.space.settings(p)))
			if err != nil {
				return t.doc.Errorf("parameters", "", "%s cannot be run: %v", what, err)
			}
			_ = spec
		}
		return nil
	}
	for _, n := range t.named {
		if err := try(n.name, n.p); err != nil {
			return err
		}
	}
	for _, u := range []float64{0, 1} {
		for i := range t.space {
			x := make([]float64, len(t.space))
			for k := range x {
				x[k] = 0.5
			}
			x[i] = u
			p := t.space.at(x)
			if err := try(fmt.Sprintf("%s = %s", t.space[i].name, t.space[i].text(p[i])), p); err != nil {
				return err
			}
		}
	}
	return nil
}

// hash identifies what a search computes: the resolved plan, without how much
// may be spent, and the scenarios with all their values.
func (t *Tuning) hash() (string, error) {
	p := t.Plan
	p.Budget = ""
	text, err := p.Resolved()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write(text)
	for w := range t.Workloads {
		spec, err := t.sources[w].Spec(t.sets(w, nil))
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, scenarios.Hash(spec))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
