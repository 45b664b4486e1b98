package trace

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A table comes back as it was written, columns in order, and twice the same
// table is twice the same file.
func TestFrame(t *testing.T) {
	dir := t.TempDir()
	const n = 3000 // more than one batch
	columns := []FrameColumn{
		{Name: "unit", Ints: make([]int64, n)},
		{Name: "status", Texts: make([]string, n)},
		{Name: "max(queue_bytes, switch=sw0)", Floats: make([]float64, n), Null: make([]bool, n)},
		{Name: "a.b.c", Texts: make([]string, n), Null: make([]bool, n)},
		{Name: "count", Ints: make([]int64, n), Null: make([]bool, n)},
	}
	for i := range n {
		columns[0].Ints[i] = int64(i)
		columns[1].Texts[i] = []string{"ok", "invalid", "\x00 ä"}[i%3]
		if columns[2].Null[i] = i%5 == 0; i%5 != 0 {
			columns[2].Floats[i] = float64(i) / 3
		}
		if columns[3].Null[i] = i%2 == 0; i%2 != 0 {
			columns[3].Texts[i] = "x"
		}
		if columns[4].Null[i] = i%7 == 0; i%7 != 0 {
			columns[4].Ints[i] = -int64(i)
		}
	}
	a, b := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "b.parquet")
	require.NoError(t, WriteFrame(a, columns))
	require.NoError(t, WriteFrame(b, columns))
	back, err := readFrame(a)
	require.NoError(t, err)
	assert.Equal(t, columns, back)
	x, err := os.ReadFile(a)
	require.NoError(t, err)
	y, err := os.ReadFile(b)
	require.NoError(t, err)
	assert.Equal(t, x, y)

	empty := []FrameColumn{{Name: "x", Ints: []int64{}}}
	require.NoError(t, WriteFrame(a, empty))
	back, err = readFrame(a)
	require.NoError(t, err)
	assert.Equal(t, empty, back)

	assert.ErrorContains(t, WriteFrame(a, []FrameColumn{{Name: "x", Ints: []int64{1}}, {Name: "x", Ints: []int64{1}}}), "two columns are called x")
	assert.ErrorContains(t, WriteFrame(a, []FrameColumn{{Name: "x", Ints: []int64{1}}, {Name: "y", Ints: []int64{}}}), "column y has 0 rows")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 2, "nothing half written")
}

// readFrame reads what WriteFrame wrote.
func readFrame(path string) (columns []FrameColumn, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("corrupt: %w", err)
	}
	for _, field := range f.Schema().Fields() {
		c := FrameColumn{Name: field.Name()}
		if !field.Leaf() || field.Repeated() {
			return nil, fmt.Errorf("column %s is not a plain one", c.Name)
		}
		switch field.Type().Kind() {
		case parquet.ByteArray:
			c.Texts = []string{}
		case parquet.Int64:
			c.Ints = []int64{}
		case parquet.Double:
			c.Floats = []float64{}
		default:
			return nil, fmt.Errorf("column %s is of type %v", c.Name, field.Type())
		}
		if field.Optional() {
			c.Null = []bool{}
		}
		columns = append(columns, c)
	}
	for _, g := range f.RowGroups() {
		if err := readRows(g, columns); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

func readRows(g parquet.RowGroup, columns []FrameColumn) error {
	rows := g.Rows()
	defer rows.Close()
	batch := make([]parquet.Row, batchRows)
	for {
		n, err := rows.ReadRows(batch)
		for _, row := range batch[:n] {
			if len(row) != len(columns) {
				return fmt.Errorf("corrupt: a row of %d values", len(row))
			}
			for k, v := range row {
				columns[k].add(v)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("corrupt: %w", err)
		}
		if n == 0 {
			return io.ErrNoProgress
		}
	}
}

func (c *FrameColumn) add(v parquet.Value) {
	if c.Null != nil {
		c.Null = append(c.Null, v.IsNull())
	}
	switch {
	case c.Texts != nil && v.IsNull():
		c.Texts = append(c.Texts, "")
	case c.Texts != nil:
		c.Texts = append(c.Texts, string(v.ByteArray()))
	case c.Ints != nil && v.IsNull():
		c.Ints = append(c.Ints, 0)
	case c.Ints != nil:
		c.Ints = append(c.Ints, v.Int64())
	case v.IsNull():
		c.Floats = append(c.Floats, 0)
	default:
		c.Floats = append(c.Floats, v.Double())
	}
}
