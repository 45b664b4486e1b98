package tune

import (
	"math"
	"path/filepath"

	"rdmasim/sim/trace"
)

// FileTable holds every run of a search as a table, for pandas, DuckDB and the
// like: the point with its values in SI units, workload, seed, figures.
const FileTable = "runs.parquet"

// tableColumns are those that are there whatever is searched and measured, and
// setPrefix begins those of parameters.
var tableColumns = []string{"point", "kind", "name", "workload", "seed", "failed"}

const setPrefix = "set:"

// row is a run of a point.
type row struct {
	e *entry
	c cell
}

// rows lists the runs in the order of points, workloads, seeds.
func (t *Tuning) rows(s *search) (list []row) {
	for _, e := range s.store.list {
		for w := range t.Workloads {
			for _, seeds := range [][]uint64{s.seeds, s.fresh} {
				for _, seed := range seeds {
					if _, ok := e.obs[cell{w, seed}]; ok {
						list = append(list, row{e, cell{w, seed}})
					}
				}
			}
		}
	}
	return list
}

// writeTable writes FileTable. Rows are in the order of points, workloads, seeds.
func (t *Tuning) writeTable(s *search, dir string) error {
	rows := t.rows(s)
	texts := func(name string, of func(r row) string) trace.FrameColumn {
		c := trace.FrameColumn{Name: name, Texts: make([]string, len(rows))}
		for i, r := range rows {
			c.Texts[i] = of(r)
		}
		return c
	}
	ints := func(name string, of func(r row) int64) trace.FrameColumn {
		c := trace.FrameColumn{Name: name, Ints: make([]int64, len(rows))}
		for i, r := range rows {
			c.Ints[i] = of(r)
		}
		return c
	}
	floats := func(name string, of func(r row) float64) trace.FrameColumn {
		c := trace.FrameColumn{Name: name, Floats: make([]float64, len(rows)), Null: make([]bool, len(rows))}
		for i, r := range rows {
			v := of(r)
			if c.Null[i] = math.IsNaN(v) || math.IsInf(v, 0); !c.Null[i] {
				c.Floats[i] = v
			}
		}
		return c
	}
	frame := []trace.FrameColumn{
		ints("point", func(r row) int64 { return int64(r.e.id) }),
		texts("kind", func(r row) string { return r.e.kind }),
		texts("name", func(r row) string { return r.e.name }),
		texts("workload", func(r row) string { return t.Workloads[r.c.workload].Name }),
		ints("seed", func(r row) int64 { return int64(r.c.seed) }),
	}
	for i := range t.space {
		d := &t.space[i]
		if d.values != nil {
			frame = append(frame, texts(setPrefix+d.name, func(r row) string { return d.text(r.e.p[i]) }))
			continue
		}
		frame = append(frame, floats(setPrefix+d.name, func(r row) float64 { return si(d.kind, r.e.p[i]) }))
	}
	for i := range t.Figures {
		frame = append(frame, floats(t.Figures[i].Name, func(r row) float64 {
			if o := r.e.obs[r.c]; o.Failed == "" {
				return o.Figures[i]
			}
			return math.NaN()
		}))
	}
	frame = append(frame, texts("failed", func(r row) string { return r.e.obs[r.c].Failed }))
	return trace.WriteFrame(filepath.Join(dir, FileTable), frame)
}
