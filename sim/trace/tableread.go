package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"rdmasim/sim"
)

// PointRow is a row of series.parquet: a Point with its name.
type PointRow struct {
	Time           sim.Time // start of the bin
	Object         Object
	Metric         string
	Mean, Min, Max float64
}

// EventRow is a row of events.parquet: an Event with its names.
type EventRow struct {
	Time   sim.Time
	Node   int32
	Seq    uint64
	Kind   EventKind
	Object Object
	Peer   Object // "" = none
	Prio   int8
	Value  float64
	Cause  string
}

// Points yields the rows of series.parquet with the given metric ("" = all) of
// the objects that keep wants (nil = all). Rows of one object and metric come
// in the order of time. After an error there is nothing more.
func (r *Run) Points(metric string, keep func(Object) bool) iter.Seq2[PointRow, error] {
	return func(yield func(PointRow, error) bool) {
		time, object, name := intColumn("time_ps"), textColumn("object"), textColumn("metric")
		value, low, high := floatColumn("value"), floatColumn("min"), floatColumn("max")
		wanted := map[Object]bool{}
		err := r.scanTable(FileSeries, r.Manifest.Series, r.Manifest.Rows.Points, []*column{time, object, name, value, low, high}, func(i int) bool {
			if metric != "" && name.texts[i] != metric {
				return true
			}
			if keep != nil {
				w, ok := wanted[object.texts[i]]
				if !ok {
					w = keep(object.texts[i])
					wanted[object.texts[i]] = w
				}
				if !w {
					return true
				}
			}
			return yield(PointRow{Time: sim.Time(time.ints[i]), Object: object.texts[i], Metric: name.texts[i], Mean: value.floats[i],
				Min: low.floats[i], Max: high.floats[i]}, nil)
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
		time, node, seq := intColumn("time_ps"), smallColumn("node"), intColumn("seq")
		kind, object, peer := textColumn("kind"), textColumn("object"), textColumn("peer")
		prio, value, cause := smallColumn("prio"), floatColumn("value"), textColumn("cause")
		columns := []*column{time, node, seq, kind, object, peer, prio, value, cause}
		err := r.scanTable(FileEvents, r.Manifest.Events, r.Manifest.Rows.Events, columns, func(i int) bool {
			k := EventKind(kind.texts[i])
			if len(kinds) > 0 && !slices.Contains(kinds, k) {
				return true
			}
			return yield(EventRow{Time: sim.Time(time.ints[i]), Node: int32(node.ints[i]), Seq: uint64(seq.ints[i]), Kind: k, Object: object.texts[i],
				Peer: peer.texts[i], Prio: int8(prio.ints[i]), Value: value.floats[i], Cause: cause.texts[i]}, nil)
		})
		if err != nil && err != errStop {
			yield(EventRow{}, err)
		}
	}
}

// scanTable calls each for the rows of a parquet file until it returns false,
// which gives errStop.
func (r *Run) scanTable(name string, sum FileSum, want int64, columns []*column, each func(i int) bool) error {
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
	err = scanParquet(f, sum.Bytes, want, columns, each)
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
