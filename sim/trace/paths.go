package trace

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// Files of the ways that queue pairs take: one row per way, and one per queue
// pair that sends.
const (
	FilePaths = "paths.csv"
	FileQPs   = "qps.csv"
)

// QueuePair is a queue pair that sends, with its way through the fabric: the
// ports that transmit, from the host on. A row of qps.csv.
type QueuePair struct {
	Time        sim.Time
	Host        string
	QP          uint32
	Peer        string
	Prio        uint8
	SrcPort     uint16 // UDP source port
	There, Back []ObjectID
	Spread      bool // switches spread packets: the way is one of several
}

var (
	pathColumns = []string{"path", "ports"}
	qpColumns   = []string{"host", "qp", "peer", "priority", "source_port", "there", "back", "spread"}
)

// wayTable writes paths.csv and qps.csv.
type wayTable struct {
	paths, qps       *bufio.Writer
	pathFile, qpFile *os.File
	number           map[string]int
	line             []byte
	batch            []*QueuePair
	names            *Names
}

func newWayTable(paths, qps string, names *Names) (t *wayTable, err error) {
	t = &wayTable{number: map[string]int{}, names: names}
	if t.pathFile, err = os.Create(paths); err != nil {
		return nil, err
	}
	if t.qpFile, err = os.Create(qps); err != nil {
		return nil, errors.Join(err, t.pathFile.Close())
	}
	t.paths, t.qps = bufio.NewWriterSize(t.pathFile, 32*1024), bufio.NewWriterSize(t.qpFile, 32*1024)
	_, err = t.paths.WriteString(strings.Join(pathColumns, ",") + "\n")
	_, err2 := t.qps.WriteString(strings.Join(qpColumns, ",") + "\n")
	return t, errors.Join(err, err2)
}

func (t *wayTable) close() error {
	return errors.Join(t.paths.Flush(), t.qps.Flush(), t.pathFile.Close(), t.qpFile.Close())
}

// write appends the queue pairs of all sinks, in order of time, host and number.
func (t *wayTable) write(sinks []*Sink) error {
	t.batch = t.batch[:0]
	for _, s := range sinks {
		if s != nil {
			for i := range s.QPs {
				t.batch = append(t.batch, &s.QPs[i])
			}
		}
	}
	slices.SortStableFunc(t.batch, func(a, b *QueuePair) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), natural(a.Host, b.Host), cmp.Compare(a.QP, b.QP))
	})
	for _, q := range t.batch {
		there, err := t.way(q.There)
		if err != nil {
			return err
		}
		back, err := t.way(q.Back)
		if err != nil {
			return err
		}
		b := append(appendField(t.line[:0], q.Host), ',')
		b = append(strconv.AppendUint(b, uint64(q.QP), 10), ',')
		b = append(appendField(b, q.Peer), ',')
		b = append(strconv.AppendUint(b, uint64(q.Prio), 10), ',')
		b = append(strconv.AppendUint(b, uint64(q.SrcPort), 10), ',')
		b = append(strconv.AppendInt(b, int64(there), 10), ',')
		b = append(strconv.AppendInt(b, int64(back), 10), ',')
		b = append(strconv.AppendBool(b, q.Spread), '\n')
		t.line = b
		if _, err := t.qps.Write(b); err != nil {
			return fmt.Errorf("%s: %w", FileQPs, err)
		}
	}
	return nil
}

// way returns the number of a way and writes it when it is new.
func (t *wayTable) way(ports []ObjectID) (int, error) {
	b := t.line[:0]
	for i, p := range ports {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, clean(t.names.Name(p))...)
	}
	t.line = b
	if n, ok := t.number[string(b)]; ok {
		return n, nil
	}
	n := len(t.number) + 1
	text := string(b)
	t.number[text] = n
	row := append(strconv.AppendInt(nil, int64(n), 10), ',')
	row = append(appendField(row, text), '\n')
	if _, err := t.paths.Write(row); err != nil {
		return 0, fmt.Errorf("%s: %w", FilePaths, err)
	}
	return n, nil
}

// Way is a queue pair of qps.csv with its ways in words.
type Way struct {
	Host, Peer  string
	QP          uint32
	Prio        int8
	There, Back []Object // ports that transmit
	Spread      bool
}

// Ways yields the queue pairs of qps.csv. Queue pairs that take the same way
// share its slice. A run without the file has none.
func (r *Run) Ways() iter.Seq2[Way, error] {
	return func(yield func(Way, error) bool) {
		var ways [][]Object
		err := r.readCSV(FilePaths, pathColumns, func(row *row) (bool, error) {
			n := row.uint(0, 32)
			if row.err == nil && n != uint64(len(ways)+1) {
				row.fail(0, fmt.Sprintf("the number %d of the next way", len(ways)+1))
			}
			var way []Object
			for name := range strings.FieldsSeq(row.field(1)) {
				way = append(way, strings.Clone(name))
			}
			ways = append(ways, way)
			return true, row.err
		})
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err == nil {
			err = r.readCSV(FileQPs, qpColumns, func(row *row) (bool, error) {
				w := Way{Host: row.text(0), QP: uint32(row.uint(1, 32)), Peer: row.text(2), Prio: int8(row.uint(3, 3)), Spread: row.field(7) == "true"}
				w.There, w.Back = row.way(5, ways), row.way(6, ways)
				if row.err != nil {
					return false, row.err
				}
				return yield(w, nil), nil
			})
		}
		if err != nil && err != errStop && !errors.Is(err, fs.ErrNotExist) {
			yield(Way{}, err)
		}
	}
}

func (r *row) way(i int, ways [][]Object) []Object {
	n := r.uint(i, 32)
	if n < 1 || n > uint64(len(ways)) {
		r.fail(i, "the number of a way in "+FilePaths)
		return nil
	}
	return ways[n-1]
}
