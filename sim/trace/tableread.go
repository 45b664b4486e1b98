package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/parquet-go/parquet-go"

	"rdmasim/sim"
)

// Points yields the rows of series.parquet with the given metric ("" = all) of
// the objects that keep wants (nil = all). Rows of one object and metric come
// in the order of time. After an error there is nothing more.
func (r *Run) Points(metric string, keep func(Object) bool) iter.Seq2[PointRow, error] {
	return func(yield func(PointRow, error) bool) {
		wanted := map[Object]bool{}
		err := scanTable(r, FileSeries, r.Manifest.Series, r.Manifest.Rows.Points, func(p *pointRow) bool {
			if metric != "" && p.Metric != metric {
				return true
			}
			if keep != nil {
				w, ok := wanted[p.Object]
				if !ok {
					w = keep(p.Object)
					wanted[p.Object] = w
				}
				if !w {
					return true
				}
			}
			return yield(PointRow{Time: sim.Time(p.TimePS), Object: p.Object, Metric: p.Metric, Mean: p.Value, Min: p.Min, Max: p.Max}, nil)
		})
		if err != nil && err != errStop {
			yield(PointRow{}, err)
		}
	}
}

// Events yields the rows of events.parquet of the given kinds (none = all) in
// the order of time, node and sequence. After an error there is nothing more.
func (r *Run) Events(kinds ...EventKind) iter.Seq2[EventRow, error] {
	return func(yield func(EventRow, error) bool) {
		err := scanTable(r, FileEvents, r.Manifest.Events, r.Manifest.Rows.Events, func(e *eventRow) bool {
			wanted := len(kinds) == 0
			for _, k := range kinds {
				wanted = wanted || e.Kind == string(k)
			}
			if !wanted {
				return true
			}
			return yield(EventRow{Time: sim.Time(e.TimePS), Node: e.Node, Seq: e.Seq, Kind: EventKind(e.Kind), Object: e.Object,
				Peer: e.Peer, Prio: int8(e.Prio), Value: e.Value, Cause: e.Cause}, nil)
		})
		if err != nil && err != errStop {
			yield(EventRow{}, err)
		}
	}
}

// scanTable calls each for the rows of a parquet file until it returns false,
// which gives errStop.
func scanTable[T any](r *Run, name string, sum FileSum, want int64, each func(*T) bool) error {
	f, err := os.Open(r.Path(name))
	if err != nil {
		return r.fail(name, err)
	}
	defer f.Close()
	if !r.checked[name] {
		if err := sum.check(f); err != nil {
			return r.fail(name, err)
		}
		r.checked[name] = true
	}
	err = scanParquet(f, sum.Bytes, want, each)
	if err != nil && err != errStop {
		err = r.fail(name, err)
	}
	return err
}

// check compares a file with the sum that it had when it was written.
func (s FileSum) check(in io.Reader) error {
	h := sha256.New()
	n, err := io.Copy(h, in)
	switch {
	case err != nil:
		return err
	case n < s.Bytes:
		return fmt.Errorf("%d of %d bytes: the file is truncated", n, s.Bytes)
	case n > s.Bytes || hex.EncodeToString(h.Sum(nil)) != s.SHA256:
		return fmt.Errorf("the file is not the one that %s describes: it was changed or damaged", FileManifest)
	}
	return nil
}

// scanParquet reads rows in chunks. The library panics on some corrupt input:
// that becomes an error, while a panic of each stays a panic.
func scanParquet[T any](in io.ReaderAt, size, want int64, each func(*T) bool) error {
	t, err := openTable[T](in, size)
	if err != nil {
		return err
	}
	defer t.Close()
	if have := t.NumRows(); have != want {
		return countMismatch(have, want)
	}
	rows := make([]T, 1024)
	for left := want; left > 0; {
		n, err := readRows(t, rows)
		for i := range rows[:n] {
			if !each(&rows[i]) {
				return errStop
			}
		}
		left -= int64(n)
		if err == nil && n == 0 {
			err = io.ErrNoProgress
		}
		if err != nil && (err != io.EOF || left > 0) {
			return fmt.Errorf("corrupt: %w", err)
		}
	}
	return nil
}

func openTable[T any](in io.ReaderAt, size int64) (t *parquet.GenericReader[T], err error) {
	defer rescue(&err)
	f, err := parquet.OpenFile(in, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("corrupt: %w", err)
	}
	want := parquet.SchemaOf(new(T))
	for _, path := range want.Columns() {
		have, ok := f.Schema().Lookup(path...)
		need, _ := want.Lookup(path...)
		if !ok || have.Node.Type().Kind() != need.Node.Type().Kind() || have.MaxRepetitionLevel != 0 {
			return nil, fmt.Errorf("no column %q of type %v", path[0], need.Node.Type())
		}
	}
	return parquet.NewGenericReader[T](f), nil
}

func readRows[T any](t *parquet.GenericReader[T], rows []T) (n int, err error) {
	defer rescue(&err)
	return t.Read(rows)
}

// rescue turns a panic of the parquet library into an error.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("corrupt: %v", p)
	}
}
