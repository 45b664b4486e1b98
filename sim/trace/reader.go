package trace

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// Run is a run directory that is read. Everything that it returns comes from
// files that anybody may have cut or changed: what does not fit is an error
// that begins with the path of the file.
type Run struct {
	Dir      string
	Manifest Manifest
	Topology TopologyFile
	Resolved map[string]any // the scenario, from resolved.json; nil if there is none

	counters []Counter
	checked  map[string]bool // files whose sum was compared
}

// Open reads the small files of a run directory; tables are read when asked for.
func Open(dir string) (*Run, error) {
	r := &Run{Dir: dir, checked: map[string]bool{}}
	p, err := os.ReadFile(r.Path(FileManifest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a run directory: it has no %s", dir, FileManifest)
	}
	if err == nil {
		r.Manifest, err = parseManifest(p)
	}
	if err != nil {
		return nil, r.fail(FileManifest, err)
	}
	if _, err := r.ReadJSON(FileTopology, &r.Topology); err != nil {
		return nil, err
	}
	if err := r.Topology.check(); err != nil {
		return nil, r.fail(FileTopology, err)
	}
	if _, err := r.ReadJSON(FileResolved, &r.Resolved); err != nil {
		return nil, err
	}
	return r, nil
}

// Path returns the path of a file of the run.
func (r *Run) Path(name string) string { return filepath.Join(r.Dir, filepath.FromSlash(name)) }

func (r *Run) fail(name string, err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return err // names the file already
	}
	return fmt.Errorf("%s: %w", r.Path(name), err)
}

// ReadJSON decodes a file of the run; ok is false if there is no such file.
func (r *Run) ReadJSON(name string, v any) (ok bool, err error) {
	p, err := os.ReadFile(r.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && string(bytes.TrimSpace(p)) == "null" {
		err = errors.New("is null: want an object")
	}
	if err == nil {
		err = json.Unmarshal(p, v)
	}
	if err != nil {
		return false, r.fail(name, err)
	}
	return true, nil
}

// Whole says what is missing of the tables of which the manifest has rows: such
// a run directory is damaged. A table without rows may be absent.
func (r *Run) Whole() error {
	rows := r.Manifest.Rows
	for _, t := range []struct {
		name string
		rows int64
	}{{FileFlows, rows.Flows}, {FileSeries, rows.Points}, {FileEvents, rows.Events}, {FileCounters, rows.Counters}} {
		if _, err := os.Stat(r.Path(t.name)); t.rows > 0 && errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is missing, and %s says that it has %d rows: the run directory is damaged", r.Path(t.name), FileManifest, t.rows)
		}
	}
	return nil
}

// Perf reads perf.json; ok is false if the run has none.
func (r *Run) Perf() (p Perf, ok bool, err error) {
	ok, err = r.ReadJSON(FilePerf, &p)
	return p, ok, err
}

// check makes sure that every link joins nodes that exist.
func (t *TopologyFile) check() error {
	for i, l := range t.Links {
		if l.A < 0 || l.A >= len(t.Nodes) || l.B < 0 || l.B >= len(t.Nodes) {
			return fmt.Errorf("link %d joins nodes %d and %d: there are %d nodes", i, l.A, l.B, len(t.Nodes))
		}
	}
	return nil
}

// Flows yields the rows of flows.csv in the order of completion, unfinished
// messages last. After an error there is nothing more.
func (r *Run) Flows() iter.Seq2[Flow, error] {
	return func(yield func(Flow, error) bool) {
		n := int64(0)
		err := r.readCSV(FileFlows, flowColumns, func(row *row) (bool, error) {
			f, err := row.flow()
			if err != nil {
				return false, err
			}
			n++
			return yield(f, nil), nil
		})
		if err == errStop {
			return
		}
		if err == nil && n != r.Manifest.Rows.Flows {
			err = r.fail(FileFlows, countMismatch(n, r.Manifest.Rows.Flows))
		}
		if err != nil {
			yield(Flow{}, err)
		}
	}
}

// Counters returns the counters of the run, sorted by object, priority and
// name, without the names of operators that are derived from them.
func (r *Run) Counters() ([]Counter, error) {
	if r.counters != nil {
		return r.counters, nil
	}
	list, n := []Counter{}, int64(0)
	err := r.readCSV(FileCounters, counterColumns, func(row *row) (bool, error) {
		n++
		c, derived, err := row.counter()
		if err == nil && !derived {
			list = append(list, c)
		}
		return true, err
	})
	if err != nil {
		return nil, err
	}
	if n != r.Manifest.Rows.Counters {
		return nil, r.fail(FileCounters, countMismatch(n, r.Manifest.Rows.Counters))
	}
	r.counters = list
	return list, nil
}

func countMismatch(have, want int64) error {
	return fmt.Errorf("%d rows where %s says %d: the file is truncated, or not of this run", have, FileManifest, want)
}

// errStop ends a scan whose reader wants no more.
var errStop = errors.New("stop")

// readCSV calls each for every record until it returns false or an error.
func (r *Run) readCSV(name string, columns []string, each func(*row) (bool, error)) error {
	f, err := os.Open(r.Path(name))
	if err != nil {
		return r.fail(name, err)
	}
	defer f.Close()
	err = scanCSV(f, columns, each)
	if err != nil && err != errStop {
		err = r.fail(name, err)
	}
	return err
}

func scanCSV(in io.Reader, columns []string, each func(*row) (bool, error)) error {
	end := &lastByte{r: in}
	c := csv.NewReader(bufio.NewReaderSize(end, 64*1024))
	at, err := header(c, columns)
	if err != nil {
		return err
	}
	row := &row{at: at, name: columns, keep: map[string]string{}}
	for {
		row.rec, err = c.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		ok, err := each(row)
		if err != nil {
			line, _ := c.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
		if !ok {
			return errStop
		}
	}
	if end.b != '\n' {
		return errors.New("the last line has no end: the file is truncated")
	}
	return nil
}

// lastByte remembers the last byte that went through.
type lastByte struct {
	r io.Reader
	b byte
}

func (l *lastByte) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if n > 0 {
		l.b = p[n-1]
	}
	return n, err
}

// Verify reads all tables and compares their fingerprint with the manifest's.
func (r *Run) Verify() error {
	print := newFingerprint()
	for f, err := range r.Flows() {
		if err != nil {
			return err
		}
		print.flow(&f)
	}
	for e, err := range r.Events() {
		if err != nil {
			return err
		}
		print.event(&e)
	}
	counters, err := r.Counters()
	if err != nil {
		return err
	}
	for i := range counters {
		print.counter(&counters[i])
	}
	if got := print.hex(); got != r.Manifest.Fingerprint {
		return fmt.Errorf("%s: the rows have fingerprint %s, %s says %s: files were changed", r.Dir, got, FileManifest, r.Manifest.Fingerprint)
	}
	return nil
}
