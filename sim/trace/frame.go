package trace

import (
	"bytes"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
)

// FrameColumn is a column of a table whose columns are known only when it is
// made, such as the results of many runs. Of Texts, Ints and Floats the one
// that is not nil holds its values.
type FrameColumn struct {
	Name   string
	Texts  []string
	Ints   []int64
	Floats []float64
	Null   []bool // rows without a value; nil = none, and the column cannot have any
}

// len is the number of rows.
func (c *FrameColumn) len() int { return max(len(c.Texts), len(c.Ints), len(c.Floats)) }

// value returns a row for the column numbered leaf.
func (c *FrameColumn) value(row, leaf int) parquet.Value {
	level := 0
	if c.Null != nil {
		if c.Null[row] {
			return parquet.NullValue().Level(0, 0, leaf)
		}
		level = 1
	}
	switch {
	case c.Texts != nil:
		return parquet.ByteArrayValue([]byte(c.Texts[row])).Level(0, level, leaf)
	case c.Ints != nil:
		return parquet.Int64Value(c.Ints[row]).Level(0, level, leaf)
	}
	return parquet.DoubleValue(c.Floats[row]).Level(0, level, leaf)
}

func (c *FrameColumn) node() parquet.Node {
	var n parquet.Node
	switch {
	case c.Texts != nil:
		n = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case c.Ints != nil:
		n = parquet.Leaf(parquet.Int64Type)
	default:
		n = parquet.Leaf(parquet.DoubleType)
	}
	if c.Null != nil {
		n = parquet.Optional(n)
	}
	return n
}

// ordered is a group of columns that keeps the order in which they are given.
type ordered struct {
	parquet.Group
	names []string
}

func (o ordered) Fields() []parquet.Field {
	byName := map[string]parquet.Field{}
	for _, f := range o.Group.Fields() {
		byName[f.Name()] = f
	}
	list := make([]parquet.Field, len(o.names))
	for i, name := range o.names {
		list[i] = byName[name]
	}
	return list
}

// WriteFrame writes a table as one Parquet file, whole or not at all. The same
// table gives the same bytes.
func WriteFrame(path string, columns []FrameColumn) error {
	data, err := encodeFrame(columns)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return WriteSynced(path, data)
}

func encodeFrame(columns []FrameColumn) ([]byte, error) {
	group := ordered{Group: parquet.Group{}}
	rows := 0
	for i := range columns {
		c := &columns[i]
		if _, twice := group.Group[c.Name]; twice {
			return nil, fmt.Errorf("two columns are called %s", c.Name)
		}
		if i > 0 && c.len() != rows || c.Null != nil && len(c.Null) != c.len() {
			return nil, fmt.Errorf("column %s has %d rows, others have %d", c.Name, c.len(), rows)
		}
		rows = c.len()
		group.Group[c.Name], group.names = c.node(), append(group.names, c.Name)
	}
	var out bytes.Buffer
	w := parquet.NewWriter(&out, parquet.NewSchema("results", group),
		parquet.CreatedBy("rdmasim", "1", "0"),
		parquet.Compression(&snappy.Codec{}),
		parquet.MaxRowsPerRowGroup(rowGroupRows),
		parquet.PageBufferSize(pageBytes),
		parquet.DataPageVersion(1))
	row := make(parquet.Row, len(columns))
	for i := range rows {
		for k := range columns {
			row[k] = columns[k].value(i, k)
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
