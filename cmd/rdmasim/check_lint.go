package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"rdmasim/fabric/switchconf"
	"rdmasim/reports/metric"
	"rdmasim/scenarios"
	"rdmasim/scenarios/library"
)

// isSonic tells files of SONiC from scenarios by their ending.
func isSonic(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".ini":
		return true
	}
	return false
}

// checkSonic lints files of SONiC without a scenario around them.
func checkSonic(stdin io.Reader, names []string, platform string) ([]switchconf.Finding, error) {
	files, err := sonicFiles(stdin, names)
	if err != nil {
		return nil, err
	}
	im, err := switchconf.ReadSONiC(files, switchconf.Options{Platform: platform})
	if err != nil {
		return nil, err
	}
	return switchconf.Lint(im.Switch, switchconf.LintContext{Files: true}), nil
}

// writeFindings writes what lint found, with the reasons of each rule once.
func writeFindings(w io.Writer, list []switchconf.Finding) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "lint: nothing found")
		return err
	}
	fmt.Fprintf(w, "lint: %s\n", countFindings(list))
	said := map[string]bool{}
	for i := range list {
		f := &list[i]
		fmt.Fprintf(w, "\n%s %s\n", f.Severity, f.Rule.Name)
		fmt.Fprintf(w, "  where  %s\n", placeOf(f))
		fmt.Fprintf(w, "  what   %s\n", f.Text)
		if !said[f.Rule.Name] {
			fmt.Fprintf(w, "  why    %s\n", f.Rule.Why)
		}
		fmt.Fprintf(w, "  set    %s\n", f.Set)
		if !said[f.Rule.Name] {
			fmt.Fprintf(w, "  shown  %s\n", shownBy(f.Rule))
		}
		said[f.Rule.Name] = true
	}
	return nil
}

// countFindings counts by severity.
func countFindings(list []switchconf.Finding) string {
	var parts []string
	for _, s := range []switchconf.Severity{switchconf.Harm, switchconf.Warning, switchconf.Remark} {
		n := 0
		for i := range list {
			if list[i].Severity == s {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, metric.Counted(n, string(s)))
		}
	}
	return strings.Join(parts, ", ")
}

// placeOf says where a finding is, and on which ports.
func placeOf(f *switchconf.Finding) string {
	s := f.From.String()
	if f.From.File == "" && f.From.Path == "" {
		s = "the switch"
	}
	switch {
	case len(f.Ports) > 4:
		s += fmt.Sprintf(" (%s, ... %s: %d ports)", strings.Join(f.Ports[:2], ", "), f.Ports[len(f.Ports)-1], len(f.Ports))
	case len(f.Ports) > 0:
		s += " (" + strings.Join(f.Ports, ", ") + ")"
	case f.Switch != "":
		s += " (" + f.Switch + ")"
	}
	return s
}

// shownBy is the command that shows the harm.
func shownBy(r *switchconf.Rule) string {
	if _, err := library.Get(r.Scenario); err == nil {
		return "rdmasim run " + r.Scenario
	}
	return "rdmasim run docs/lint/" + r.Scenario + ".yaml"
}

// findingJSON is a finding for machines.
type findingJSON struct {
	Rule     string   `json:"rule"`
	Severity string   `json:"severity"`
	Switch   string   `json:"switch,omitempty"`
	Ports    []string `json:"ports,omitempty"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
	Column   int      `json:"column,omitempty"`
	Path     string   `json:"path,omitempty"`
	Text     string   `json:"text"`
	Why      string   `json:"why"`
	Set      string   `json:"set"`
	Scenario string   `json:"scenario"`
}

func findingsJSON(list []switchconf.Finding) []findingJSON {
	out := make([]findingJSON, len(list))
	for i, f := range list {
		out[i] = findingJSON{f.Rule.Name, string(f.Severity), f.Switch, f.Ports, f.From.File, f.From.Line, f.From.Column, f.From.Path, f.Text, f.Rule.Why, f.Set, f.Rule.Scenario}
	}
	return out
}

// checkJSON is what check found, for machines.
type checkJSON struct {
	Scenario    string        `json:"scenario,omitempty"`
	Files       []string      `json:"files,omitempty"` // of SONiC, instead of a scenario
	Hosts       int           `json:"hosts,omitempty"`
	Switches    int           `json:"switches,omitempty"`
	Links       int           `json:"links,omitempty"`
	Deadlock    *bool         `json:"deadlock_possible,omitempty"`
	PacketHops  float64       `json:"packet_hops,omitempty"`
	WallSeconds float64       `json:"wall_s,omitempty"`
	MemoryBytes int64         `json:"memory_bytes,omitempty"`
	DiskBytes   int64         `json:"disk_bytes,omitempty"`
	Notes       []string      `json:"notes,omitempty"`
	Findings    []findingJSON `json:"findings"`
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// ruleJSON is a rule for machines.
type ruleJSON struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Doc      string `json:"doc"`
	Why      string `json:"why"`
	Set      string `json:"set"`
	Scenario string `json:"scenario"`
	Source   string `json:"source"`
}

// writeRules lists the rules.
func writeRules(w io.Writer, asJSON bool) error {
	if asJSON {
		var out []ruleJSON
		for _, r := range switchconf.AllRules() {
			out = append(out, ruleJSON{r.Name, string(r.Severity), r.Doc, r.Why, r.Set, r.Scenario, r.Source})
		}
		return writeJSON(w, out)
	}
	for i, r := range switchconf.AllRules() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s (%s)\n  what   %s\n  why    %s\n  set    %s\n  shown  %s\n  from   %s\n", r.Name, r.Severity, r.Doc, r.Why, r.Set, shownBy(r), r.Source)
	}
	return nil
}

// lintVerdict is an error where a finding is worse than a note, for --strict.
func lintVerdict(list []switchconf.Finding, strict bool) error {
	for i := range list {
		if strict && list[i].Severity != switchconf.Remark {
			return &exitError{code: 1, err: fmt.Errorf("lint: %s", countFindings(list))}
		}
	}
	return nil
}

// scenarioJSON is what check found about a scenario.
func scenarioJSON(spec *scenarios.Spec, e *estimate, d *scenarios.DeadlockCheck, found []switchconf.Finding) checkJSON {
	possible := d.Possible()
	out := checkJSON{Scenario: spec.Name, Deadlock: &possible, Findings: findingsJSON(found)}
	if e != nil {
		out.Hosts, out.Switches, out.Links, out.PacketHops, out.WallSeconds = e.Hosts, e.Switches, e.Links, e.PacketHops, e.WallSeconds
		out.MemoryBytes, out.DiskBytes, out.Notes = int64(e.MemoryBytes), int64(e.DiskBytes), e.Notes
	}
	return out
}
