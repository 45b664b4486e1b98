// Package reports compares runs: what changed in their figures, in their
// configuration, and over time. The report of one run is made by reports/page.
package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"rdmasim/reports/figure"
	"rdmasim/reports/metric"
	"rdmasim/reports/page"
	"rdmasim/sim/trace"
)

// Comparison is what is alike and what differs between runs. The first run is
// the one that others are compared with.
type Comparison struct {
	Runs    []RunName
	Notes   []string // what makes the runs alike, or hard to compare
	Metrics []Row    // in the order of metrics.json
	Config  []Setting
	Figures []figure.Figure
}

// RunName is a run and its label in tables and legends.
type RunName struct{ Label, Dir string }

// Row is one figure of metrics.json in every run; nil = not measured.
type Row struct {
	Name, Unit, Doc string
	Values          []*float64
}

// Setting is a value of resolved.json that differs; "" = not there.
type Setting struct {
	Path   string
	Values []string
}

// Compare reads two or more run directories and writes index.html, compare.txt
// and the overlaid figures into the directory out, which is made if need be.
func Compare(dirs []string, out string, o Options) (*Comparison, error) {
	if len(dirs) < 2 {
		return nil, fmt.Errorf("a comparison needs at least two run directories: %d given", len(dirs))
	}
	c := &Comparison{}
	var facts []facts
	var digests []figure.Digest
	var lines []line
	runs := make([]*trace.Run, len(dirs))
	configs := make([]map[string]string, len(dirs))
	values := map[string][]*float64{}
	for i, dir := range dirs {
		r, err := figure.Load(dir)
		if err != nil {
			return nil, err
		}
		c.Runs = append(c.Runs, RunName{Label: r.Manifest.Name, Dir: dir})
		if o.LineRate {
			l, err := lineRate(r)
			if err != nil {
				return nil, err
			}
			lines = append(lines, l)
		}
		runs[i] = r.Run
		facts = append(facts, factsOf(r))
		digests = append(digests, figure.NewDigest(r, ""))
		configs[i] = flatten(r.Resolved)
		for _, p := range metric.Paths() {
			var value *float64
			if v, ok := r.Metrics.Lookup(p.Name); ok {
				value = &v
			}
			values[p.Name] = append(values[p.Name], value)
		}
	}
	c.label()
	for i := range digests {
		digests[i].Label = c.Runs[i].Label
	}
	for _, p := range metric.Paths() {
		if row := (Row{p.Name, p.Unit, p.Doc, values[p.Name]}); row.measured() && !strings.HasPrefix(p.Name, "run.partial") {
			c.Metrics = append(c.Metrics, row)
		}
	}
	c.Config = differences(configs)
	if o.LineRate {
		if err := c.normalise(runs, lines, digests); err != nil {
			return nil, err
		}
	}
	c.Notes = append(c.Notes, c.notes(facts)...)
	c.Figures = figure.Overlay(digests)
	return c, c.write(out)
}

// label makes the labels of runs differ: the name of the scenario where that
// is enough, the directory where it is not.
func (c *Comparison) label() {
	if distinct(c.Runs) {
		return
	}
	for i := range c.Runs {
		c.Runs[i].Label = filepath.Base(filepath.Clean(c.Runs[i].Dir))
	}
	if distinct(c.Runs) {
		return
	}
	for i := range c.Runs {
		c.Runs[i].Label = fmt.Sprintf("%d: %s", i+1, c.Runs[i].Dir)
	}
}

func distinct(runs []RunName) bool {
	seen := map[string]bool{}
	for _, r := range runs {
		if seen[r.Label] {
			return false
		}
		seen[r.Label] = true
	}
	return true
}

// measured reports whether any run has the figure.
func (r *Row) measured() bool {
	for _, v := range r.Values {
		if v != nil {
			return true
		}
	}
	return false
}

// Differs reports whether a run has another value than the first.
func (r *Row) Differs() bool {
	for _, v := range r.Values[1:] {
		if (v == nil) != (r.Values[0] == nil) || v != nil && *v != *r.Values[0] {
			return true
		}
	}
	return false
}

// Value prints the figure of run i.
func (r *Row) Value(i int) string {
	if r.Values[i] == nil {
		return "not measured"
	}
	return r.format(*r.Values[i])
}

// Change prints how far run i is from the first, in per cent.
func (r *Row) Change(i int) string {
	a, b := r.Values[0], r.Values[i]
	switch {
	case a == nil || b == nil:
		return "–"
	case *a == *b:
		return "="
	case *a == 0:
		return "from 0"
	}
	x := (*b - *a) / *a * 100
	if *a < 0 {
		x = -x
	}
	switch {
	case x >= 1000:
		return fmt.Sprintf("×%.3g", *b / *a)
	case x > -0.05 && x < 0.05:
		return fmt.Sprintf("%+.2g %%", x)
	}
	return fmt.Sprintf("%+.1f %%", x)
}

func (c *Comparison) write(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for i := range c.Figures {
		if err := page.WriteFigure(out, &c.Figures[i]); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(out, "compare.txt"), []byte(c.Text()), 0o644); err != nil {
		return err
	}
	html, err := c.html()
	if err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	return os.WriteFile(filepath.Join(out, "index.html"), html, 0o644)
}

// sortedKeys returns the keys of all maps in order.
func sortedKeys(maps []map[string]string) []string {
	seen := map[string]bool{}
	var keys []string
	for _, m := range maps {
		for k := range m {
			if !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	sort.Strings(keys)
	return keys
}

// Text prints the comparison for a terminal: what differs and nothing else.
func (c *Comparison) Text() string {
	var b strings.Builder
	for i, r := range c.Runs {
		role := ""
		if i == 0 {
			role = "  (the others are compared with it)"
		}
		fmt.Fprintf(&b, "%d  %s  %s%s\n", i+1, r.Label, r.Dir, role)
	}
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "* %s\n", n)
	}
	if len(c.Config) > 0 {
		head := []string{"setting"}
		for _, r := range c.Runs {
			head = append(head, r.Label)
		}
		rows := [][]string{head}
		for _, s := range c.Config {
			rows = append(rows, append([]string{s.Path}, orDash(s.Values)...))
		}
		b.WriteString("\n" + align(rows))
	}
	head := []string{"figure", c.Runs[0].Label}
	for _, r := range c.Runs[1:] {
		head = append(head, r.Label, "change")
	}
	rows := [][]string{head}
	same := 0
	for i := range c.Metrics {
		m := &c.Metrics[i]
		if !m.Differs() {
			same++
			continue
		}
		row := []string{m.Name, m.Value(0)}
		for k := 1; k < len(m.Values); k++ {
			row = append(row, m.Value(k), m.Change(k))
		}
		rows = append(rows, row)
	}
	if len(rows) > 1 {
		b.WriteString("\n" + align(rows))
	}
	fmt.Fprintf(&b, "\n%s the same in all runs.\n", figure.Capital(strings.Replace(figure.Count(same, "figure"), "\u202f", "", 1))+verb(same))
	return b.String()
}

func verb(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

func orDash(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v
		if v == "" {
			out[i] = "–"
		}
	}
	return out
}

// align pads the columns of a table, the first to the left and the others to
// the right.
func align(rows [][]string) string {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, s := range row {
			width[i] = max(width[i], len([]rune(s)))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, s := range row {
			pad := strings.Repeat(" ", width[i]-len([]rune(s)))
			if i == 0 {
				b.WriteString(s + pad)
			} else {
				b.WriteString("  " + pad + s)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
