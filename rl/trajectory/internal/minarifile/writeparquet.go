package minarifile

import (
	"errors"
	"os"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// parquetWriter writes episodes of the given columns in the Parquet layout.
func parquetWriter(columns []written) func(*os.File, int, []written) error {
	schema := parquetSchema(columns)
	return func(f *os.File, rows int, columns []written) error {
		w := parquet.NewWriter(f, schema, parquet.Compression(&parquet.Snappy))
		all := make([]parquet.Row, rows)
		for i := range all {
			for at, c := range columns {
				all[i] = c.parquetRow(all[i], i, at)
			}
		}
		_, err := w.WriteRows(all)
		return errors.Join(err, w.Close())
	}
}

// parquetSchema groups the columns. A group sorts its columns by name, as the
// columns are.
func parquetSchema(columns []written) *parquet.Schema {
	top, infos := parquet.Group{}, parquet.Group{}
	for _, c := range columns {
		node := parquet.Leaf([...]parquet.Type{double: parquet.DoubleType, int64s: parquet.Int64Type, boolean: parquet.BooleanType}[c.kind])
		if c.list {
			node = parquet.List(node)
		}
		if name, ok := strings.CutPrefix(c.path, "infos."); ok {
			infos[name] = node
		} else {
			top[c.path] = node
		}
	}
	if len(infos) > 0 {
		top["infos"] = infos
	}
	return parquet.NewSchema("schema", top)
}

// parquetRow appends the numbers of a row; at is the place among the columns.
func (c *written) parquetRow(dst parquet.Row, row, at int) parquet.Row {
	for i, v := range c.values[row*c.width : (row+1)*c.width] {
		var out parquet.Value
		switch c.kind {
		case int64s:
			out = parquet.Int64Value(int64(v))
		case boolean:
			out = parquet.BooleanValue(v != 0)
		default:
			out = parquet.DoubleValue(v)
		}
		repetition, definition := 0, 0
		if c.list {
			repetition, definition = min(i, 1), 1
		}
		dst = append(dst, out.Level(repetition, definition, at))
	}
	return dst
}
