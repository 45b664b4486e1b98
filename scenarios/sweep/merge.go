package sweep

import (
	"fmt"
	"path/filepath"
	"strings"

	"rdmasim/sim/trace"
)

// Merged is everything that the directories of one sweep hold.
type Merged struct {
	Plan    *Plan
	Points  []Point
	Units   []Unit
	Records []*Record // by unit; nil = missing
	Metrics []string  // names of the values of records
	Missing []Unit
	Twice   int // units that were run more than once, with the same result
	Torn    int // lines of logs that a kill left unfinished
}

// Merge reads the logs of the directories of one sweep. Neither the order of the
// directories nor who has run which unit, or how often, changes the result.
func Merge(dirs []string) (*Merged, error) {
	var first *Dir
	for _, path := range dirs {
		d, err := OpenDir(path)
		switch {
		case err != nil:
			return nil, err
		case first == nil:
			first = d
		case d.About.ID != first.About.ID:
			return nil, fmt.Errorf("%s and %s are of different sweeps: their points, seeds, metrics or scenarios differ", first.Path, d.Path)
		case d.About.Version != first.About.Version:
			return nil, fmt.Errorf("%s was written by version %s of the program, %s by %s: results of two versions make no table", first.Path, first.About.Version, d.Path, d.About.Version)
		}
	}
	if first == nil {
		return nil, fmt.Errorf("no directory to merge")
	}
	m := &Merged{Plan: first.Plan, Points: first.Plan.Points(), Units: first.Plan.Units(), Metrics: first.Plan.names()}
	c, err := collect(dirs, first.About.ID, len(m.Units), header{Version: first.About.Version, Metrics: m.Metrics})
	if err != nil {
		return nil, err
	}
	m.Records, m.Twice, m.Torn = c.records, c.Twice, c.Torn
	for i, r := range m.Records {
		if r == nil {
			m.Missing = append(m.Missing, m.Units[i])
		}
	}
	return m, nil
}

// MissingText lists missing units as ranges: 3, 7-9.
func (m *Merged) MissingText() string {
	var b strings.Builder
	for i := 0; i < len(m.Missing); {
		k := i
		for k+1 < len(m.Missing) && m.Missing[k+1].Index == m.Missing[k].Index+1 {
			k++
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		if b.Len() > 300 {
			fmt.Fprintf(&b, "and %d more", len(m.Missing)-i)
			break
		}
		fmt.Fprint(&b, m.Missing[i].Index)
		if k > i {
			fmt.Fprintf(&b, "-%d", m.Missing[k].Index)
		}
		i = k + 1
	}
	return b.String()
}

// Write writes results.parquet into a directory and returns its path: one row
// for each unit that is there, in order.
func (m *Merged) Write(dir string) (string, error) {
	path := filepath.Join(dir, FileResults)
	return path, m.WriteFile(path)
}

// WriteFile writes the table into a file, whole or not at all.
func (m *Merged) WriteFile(path string) error { return trace.WriteFrame(path, m.Frame()) }

// Frame returns the table: the unit, point and seed, how the run ended, the
// values that were set, and the metrics. Values of one kind are numbers in SI
// units, others text.
func (m *Merged) Frame() []trace.FrameColumn {
	var rows []*Record
	for _, r := range m.Records {
		if r != nil {
			rows = append(rows, r)
		}
	}
	ints := func(name string, of func(r *Record) int64) trace.FrameColumn {
		c := trace.FrameColumn{Name: name, Ints: make([]int64, len(rows))}
		for i, r := range rows {
			c.Ints[i] = of(r)
		}
		return c
	}
	texts := func(name string, of func(r *Record) string) trace.FrameColumn {
		c := trace.FrameColumn{Name: name, Texts: make([]string, len(rows))}
		for i, r := range rows {
			c.Texts[i] = of(r)
		}
		return c
	}
	frame := []trace.FrameColumn{
		ints("unit", func(r *Record) int64 { return int64(r.Unit) }),
		ints("point", func(r *Record) int64 { return int64(m.Units[r.Unit].Point) }),
		ints("seed", func(r *Record) int64 { return int64(m.Units[r.Unit].Seed) }),
		texts("status", func(r *Record) string { return string(r.Status) }),
		texts("error", func(r *Record) string { return r.Error }),
		texts("fingerprint", func(r *Record) string { return r.Fingerprint }),
		texts("failed", func(r *Record) string { return strings.Join(r.Failed, "; ") }),
	}
	for k, path := range m.Plan.Columns() {
		text := func(r *Record) string { return m.Points[m.Units[r.Unit].Point].Values[k] }
		if m.numeric(k) {
			c := trace.FrameColumn{Name: path, Floats: make([]float64, len(rows))}
			for i, r := range rows {
				q, _ := ParseQuantity(text(r)) // numeric has parsed it
				c.Floats[i] = q.SI()
			}
			frame = append(frame, c)
		} else {
			frame = append(frame, texts(path, text))
		}
	}
	for k, name := range m.Metrics {
		c := trace.FrameColumn{Name: name, Floats: make([]float64, len(rows)), Null: make([]bool, len(rows))}
		for i, r := range rows {
			if c.Null[i] = len(r.Values) == 0 || r.Values[k] == nil; !c.Null[i] {
				c.Floats[i] = *r.Values[k]
			}
		}
		frame = append(frame, c)
	}
	return frame
}

// numeric reports whether all values of a column of the plan are quantities of
// one kind.
func (m *Merged) numeric(k int) bool {
	var kind Kind
	for i := range m.Points {
		q, err := ParseQuantity(m.Points[i].Values[k])
		if err != nil || i > 0 && q.Kind != kind && max(q.Kind, kind) > Ratio {
			return false
		}
		kind = q.Kind
	}
	return true
}
