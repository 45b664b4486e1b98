package trace

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// batchRows is how many rows of a table are decoded at once.
const batchRows = 1024

// column is one column of a parquet file that is read. Of ints, floats and
// texts the one of its kind holds the rows of the present batch.
type column struct {
	name   string
	kind   parquet.Kind
	ints   []int64
	floats []float64
	texts  []string

	leaf  int // index in the file
	pages parquet.Pages
	page  parquet.Page
	rest  parquet.ValueReader // of the page
	buf   []parquet.Value
	keep  map[string]string // texts seen before, so that rows share their memory
}

func intColumn(name string) *column {
	return &column{name: name, kind: parquet.Int64, ints: make([]int64, batchRows)}
}

// smallColumn is an intColumn whose numbers take 32 bits in the file.
func smallColumn(name string) *column {
	return &column{name: name, kind: parquet.Int32, ints: make([]int64, batchRows)}
}

func floatColumn(name string) *column {
	return &column{name: name, kind: parquet.Double, floats: make([]float64, batchRows)}
}

func textColumn(name string) *column {
	return &column{name: name, kind: parquet.ByteArray, texts: make([]string, batchRows), keep: map[string]string{}}
}

// scanParquet decodes the given columns of a file that must have want rows, and
// calls each with the index in the batch of every row, until it returns false,
// which gives errStop. Other columns are left alone.
func scanParquet(in io.ReaderAt, size, want int64, columns []*column, each func(i int) bool) error {
	f, err := openTable(in, size, columns)
	if err != nil {
		return err
	}
	if have := f.NumRows(); have != want {
		return countMismatch(have, want)
	}
	for _, g := range f.RowGroups() {
		if err := scanRowGroup(g, columns, each); err != nil {
			return err
		}
	}
	return nil
}

// openTable opens a file and finds the columns in it.
func openTable(in io.ReaderAt, size int64, columns []*column) (f *parquet.File, err error) {
	defer rescue(&err)
	f, err = parquet.OpenFile(in, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("corrupt: %w", err)
	}
	for _, c := range columns {
		leaf, ok := f.Schema().Lookup(c.name)
		if !ok || leaf.Node.Type().Kind() != c.kind || leaf.MaxRepetitionLevel != 0 || leaf.MaxDefinitionLevel != 0 {
			return nil, fmt.Errorf("no column %q of type %v", c.name, c.kind)
		}
		c.leaf = leaf.ColumnIndex
	}
	return f, nil
}

func scanRowGroup(g parquet.RowGroup, columns []*column, each func(i int) bool) error {
	defer func() {
		for _, c := range columns {
			c.close()
		}
	}()
	for _, c := range columns {
		if err := c.open(g); err != nil {
			return err
		}
	}
	for left := g.NumRows(); left > 0; {
		n := int(min(left, batchRows))
		for _, c := range columns {
			if err := c.read(n); err != nil {
				return fmt.Errorf("corrupt: column %s: %w", c.name, err)
			}
		}
		for i := range n {
			if !each(i) {
				return errStop
			}
		}
		left -= int64(n)
	}
	return nil
}

func (c *column) open(g parquet.RowGroup) (err error) {
	defer rescue(&err)
	if c.buf == nil {
		c.buf = make([]parquet.Value, batchRows)
	}
	c.pages = g.ColumnChunks()[c.leaf].Pages()
	return nil
}

// close gives the memory of pages back to the library.
func (c *column) close() {
	if c.pages != nil {
		c.endPage()
		_ = c.pages.Close()
	}
	c.pages = nil
}

func (c *column) endPage() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.page, c.rest = nil, nil
}

// read decodes the next n values.
func (c *column) read(n int) (err error) {
	defer rescue(&err)
	for at := 0; at < n; {
		if c.rest == nil {
			if c.page, err = c.pages.ReadPage(); err != nil {
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return err
			}
			c.rest = c.page.Values()
		}
		k, err := c.rest.ReadValues(c.buf[:n-at])
		c.store(at, c.buf[:k])
		at += k
		if err == io.EOF {
			c.endPage()
		} else if err != nil {
			return err
		} else if k == 0 {
			return io.ErrNoProgress
		}
	}
	return nil
}

func (c *column) store(at int, values []parquet.Value) {
	switch c.kind {
	case parquet.Int64:
		for i, v := range values {
			c.ints[at+i] = v.Int64()
		}
	case parquet.Int32:
		for i, v := range values {
			c.ints[at+i] = int64(v.Int32())
		}
	case parquet.Double:
		for i, v := range values {
			c.floats[at+i] = v.Double()
		}
	default:
		for i, v := range values {
			c.texts[at+i] = c.text(v.ByteArray())
		}
	}
}

// text returns b as a string, the same one for the same bytes.
func (c *column) text(b []byte) string {
	if s, ok := c.keep[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(c.keep) < 1<<16 {
		c.keep[s] = s
	}
	return s
}

// rescue turns a panic of the parquet library into an error.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("corrupt: %v", p)
	}
}
