package trace

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
)

// pointRow is a row of series.parquet. time_ps carries the time exactly;
// time_s is the same for people and data frames.
type pointRow struct {
	TimeS  float64 `parquet:"time_s,dict"`
	Object string  `parquet:"object,dict"`
	Metric string  `parquet:"metric,dict"`
	Value  float64 `parquet:"value"`
	Min    float64 `parquet:"min"`
	Max    float64 `parquet:"max"`
	TimePS int64   `parquet:"time_ps,delta"`
}

// eventRow is a row of events.parquet.
type eventRow struct {
	TimeS  float64 `parquet:"time_s"`
	Node   int32   `parquet:"node"`
	Seq    uint64  `parquet:"seq,delta"`
	Kind   string  `parquet:"kind,dict"`
	Object string  `parquet:"object,dict"`
	Peer   string  `parquet:"peer,dict"`
	Prio   int32   `parquet:"prio"`
	Value  float64 `parquet:"value"`
	Cause  string  `parquet:"cause,dict"`
	TimePS int64   `parquet:"time_ps,delta"`
}

// What a row takes on disk, for predictions: measured by the benchmarks of this
// package with values that compress badly. Rows of one quiet fabric take less.
const (
	BytesPerPoint = 12  // series.parquet
	BytesPerEvent = 12  // events.parquet
	BytesPerFlow  = 150 // flows.csv
	BytesPerQP    = 32  // qps.csv
	BytesPerDelay = 90  // delays.csv, which has a row for each of flows.csv
)

const (
	chunkRows    = 2048      // rows handed to the encoder at once
	rowGroupRows = 64 * 1024 // rows held (encoded) before they reach the file
	pageBytes    = 64 * 1024
)

// table writes rows of one type to one parquet file. Where pages and row
// groups end depends on the number of rows alone, so that the bytes of the
// file do not depend on how rows were batched.
type table[T any] struct {
	file *os.File
	sum  hash.Hash
	size int64
	buf  *bufio.Writer
	w    *parquet.GenericWriter[T]
	rows []T
	n    int64
}

func newTable[T any](path string) (*table[T], error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	t := &table[T]{file: f, sum: sha256.New(), rows: make([]T, 0, chunkRows)}
	t.buf = bufio.NewWriterSize(t, 128*1024)
	t.w = parquet.NewGenericWriter[T](t.buf,
		parquet.CreatedBy("rdmasim", "1", "0"),
		parquet.Compression(&snappy.Codec{}), // zstd holds 16 MiB for every open file
		parquet.MaxRowsPerRowGroup(rowGroupRows),
		parquet.PageBufferSize(pageBytes),
		parquet.DataPageStatistics(false),
		parquet.DataPageVersion(1))
	return t, nil
}

// Write passes encoded bytes on to the file.
func (t *table[T]) Write(p []byte) (int, error) {
	_, _ = t.sum.Write(p) // never fails
	t.size += int64(len(p))
	return t.file.Write(p)
}

// fileSum describes the file; the table is closed.
func (t *table[T]) fileSum() FileSum {
	return FileSum{Bytes: t.size, SHA256: hex.EncodeToString(t.sum.Sum(nil))}
}

func (t *table[T]) add(row T) error {
	t.rows = append(t.rows, row)
	t.n++
	if len(t.rows) < cap(t.rows) {
		return nil
	}
	return t.flush()
}

func (t *table[T]) flush() error {
	_, err := t.w.Write(t.rows)
	t.rows = t.rows[:0]
	return err
}

func (t *table[T]) close() error {
	defer t.file.Close()
	if err := t.flush(); err != nil {
		return err
	}
	if err := t.w.Close(); err != nil {
		return err
	}
	if err := t.buf.Flush(); err != nil {
		return err
	}
	return t.file.Close()
}
