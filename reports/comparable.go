package reports

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rdmasim/reports/figure"
)

// facts are what decides whether two runs can be compared.
type facts struct {
	mode, compat, fingerprint, version string
	partial                            bool
	simulated, warmup                  int64
	hosts, switches, links             int
	seed                               uint64
}

func factsOf(r *figure.Run) facts {
	m := &r.Manifest
	f := facts{mode: m.Mode, compat: m.Compat, fingerprint: m.Fingerprint, version: m.Versions["rdmasim"], partial: m.Partial,
		simulated: int64(m.Simulated), warmup: int64(m.Warmup), links: len(r.Topology.Links), seed: m.Seed}
	for _, n := range r.Topology.Nodes {
		if n.Kind == "host" {
			f.hosts++
		} else {
			f.switches++
		}
	}
	return f
}

// notes says what is alike, and what a reader must know before comparing.
func (c *Comparison) notes(list []facts) []string {
	var notes []string
	first := &list[0]
	for i := 1; i < len(list); i++ {
		f := &list[i]
		who := fmt.Sprintf("%s and %s", c.Runs[0].Label, c.Runs[i].Label)
		add := func(format string, args ...any) { notes = append(notes, who+" "+fmt.Sprintf(format, args...)) }
		if f.fingerprint != "" && f.fingerprint == first.fingerprint {
			add("have the same fingerprint: their results are identical.")
			continue
		}
		if f.mode != first.mode {
			add("are not of one kind: %s and %s. Figures that only one of them measured are shown, not compared.", first.mode, f.mode)
		}
		if f.compat != first.compat {
			add("follow different rules: %s and %s.", none(first.compat), none(f.compat))
		}
		if f.simulated != first.simulated || f.warmup != first.warmup {
			add("cover different times: totals and counts differ for that reason alone.")
		}
		if f.hosts != first.hosts || f.switches != first.switches || f.links != first.links {
			add("have different fabrics: %s and %s.", first.fabric(), f.fabric())
		}
		if f.version != first.version {
			add("come from different versions of the program: %s and %s.", none(first.version), none(f.version))
		}
		if f.seed != first.seed && len(c.Config) == 0 {
			add("differ in their seed alone: what differs is chance.")
		}
	}
	for i := range list {
		if list[i].partial {
			notes = append(notes, c.Runs[i].Label+" was cut short: its figures describe what was measured until then.")
		}
	}
	return append(notes, c.oneSided()...)
}

// oneSided names the figures that not all runs measured.
func (c *Comparison) oneSided() []string {
	var names []string
	for i := range c.Metrics {
		if m := &c.Metrics[i]; slices.Contains(m.Values, nil) {
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	rest := ""
	if n := len(names); n > 6 {
		names, rest = names[:6], fmt.Sprintf(" and %d more", n-6)
	}
	return []string{"Not measured in every run: " + strings.Join(names, ", ") + rest + "."}
}

func (f *facts) fabric() string {
	return fmt.Sprintf("%s, %s, %s", figure.Count(f.hosts, "host"), figure.Count(f.switches, "switch"), figure.Count(f.links, "link"))
}

func none(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// maxSettings bounds how many settings a comparison looks at.
const maxSettings = 20000

// flatten turns nested JSON into one level of paths with values as JSON text.
func flatten(v any) map[string]string {
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		if len(out) >= maxSettings {
			return
		}
		switch x := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(x)) {
				walk(strings.TrimPrefix(path+"."+k, "."), x[k])
			}
		case []any:
			for i, e := range x {
				walk(path+"["+strconv.Itoa(i)+"]", e)
			}
		case string:
			out[path] = x
		default:
			if p, err := json.Marshal(x); err == nil {
				out[path] = string(p)
			}
		}
	}
	walk("", v)
	return out
}

// differences returns the settings that are not the same everywhere.
func differences(configs []map[string]string) []Setting {
	var out []Setting
	for _, k := range sortedKeys(configs) {
		s := Setting{Path: k}
		differs := false
		for _, m := range configs {
			v, ok := m[k]
			if ok && v == "" {
				v = `""`
			}
			s.Values = append(s.Values, v)
			differs = differs || v != s.Values[0]
		}
		if differs && k != "name" && k != "" {
			out = append(out, s)
		}
	}
	return out
}
