package minarifile

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// readParquet reads an episode of the Parquet layout.
func readParquet(path string) ([]leaf, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return parseParquet(f, info.Size(), path)
}

// parseParquet reads an episode; path stands for it in errors.
func parseParquet(r io.ReaderAt, size int64, path string) (leaves []leaf, err error) {
	defer rescue(path, &err)
	file, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, damaged(path, err)
	}
	if n := file.NumRows(); n < 1 || n > maxValues {
		return nil, damaged(path, fmt.Errorf("%d rows", n))
	}
	x := parquetReader{path: path, file: file}
	for _, c := range file.Root().Columns() {
		if err := x.walk(c, c.Name(), 0); err != nil {
			return nil, err
		}
	}
	return x.leaves, nil
}

type parquetReader struct {
	path   string
	file   *parquet.File
	leaves []leaf
}

// walk reads a column, or the columns of a struct.
func (x *parquetReader) walk(c *parquet.Column, name string, depth int) error {
	if depth > maxDepth {
		return damaged(x.path, errors.New("columns nested too deep"))
	}
	if c.Leaf() && !c.Repeated() {
		return x.leaf(c, name, false)
	}
	if elements := listOf(c); elements != nil {
		return x.leaf(elements, name, true)
	}
	if c.Leaf() || c.Repeated() || len(c.Columns()) == 0 {
		x.leaves = append(x.leaves, leaf{name: name, bad: "has a nested type"})
		return nil
	}
	for _, below := range c.Columns() {
		if err := x.walk(below, name+"."+below.Name(), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// listOf is the leaf of a list's elements, nil for what is no list of leaves.
func listOf(c *parquet.Column) *parquet.Column {
	if c.Leaf() || c.Repeated() || len(c.Columns()) != 1 {
		return nil
	}
	middle := c.Columns()[0]
	if !middle.Repeated() || middle.Leaf() || len(middle.Columns()) != 1 {
		return nil
	}
	if e := middle.Columns()[0]; e.Leaf() && e.MaxRepetitionLevel() == 1 {
		return e
	}
	return nil
}

// leaf reads the numbers of one leaf over all row groups.
func (x *parquetReader) leaf(c *parquet.Column, name string, list bool) error {
	l := leaf{name: name, list: list, width: 1}
	switch c.Type().Kind() {
	case parquet.Boolean, parquet.Int32, parquet.Int64, parquet.Float, parquet.Double:
		if t := c.Type().LogicalType(); t != nil {
			if _, ok := t.Value.(*format.IntType); !ok {
				l.bad = "has a type that is not a number"
			}
		}
	default:
		l.bad = "has a type that is not a number"
	}
	for _, g := range x.file.Metadata().RowGroups {
		// The module's decoder of damaged LZ4 blocks asks for ever more memory.
		switch g.Columns[c.Index()].MetaData.Codec {
		case format.Lz4, format.Lz4Raw:
			l.bad = "is compressed by LZ4, which is not supported"
		}
	}
	rows := 0
	for _, g := range x.file.RowGroups() {
		if l.bad != "" {
			break
		}
		n, err := x.chunk(&l, g.ColumnChunks()[c.Index()], c)
		if err != nil {
			return err
		}
		rows += n
	}
	if l.bad == "" {
		if rows != int(x.file.NumRows()) {
			return damaged(x.path, fmt.Errorf("%s has %d rows of %d", name, rows, x.file.NumRows()))
		}
		if list {
			l.width = len(l.values) / rows
			if l.width == 0 || l.width > maxWidth || l.width*rows != len(l.values) {
				l.bad = "holds lists of different lengths"
			}
		}
	}
	x.leaves = append(x.leaves, l)
	return nil
}

// chunk reads the values of one row group, and counts its rows. A list that is
// null or of another length than its neighbours makes the leaf bad.
func (x *parquetReader) chunk(l *leaf, chunk parquet.ColumnChunk, c *parquet.Column) (rows int, err error) {
	pages := chunk.Pages()
	defer pages.Close()
	buffer := make([]parquet.Value, 1024)
	length, width := 0, -1
	ended := func() {
		if rows > 0 && l.list {
			if width >= 0 && width != length {
				l.bad = "holds lists of different lengths"
			}
			width = length
		}
	}
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			ended()
			return rows, nil
		}
		if err != nil {
			return rows, damaged(x.path, err)
		}
		for values := page.Values(); ; {
			n, err := values.ReadValues(buffer)
			if len(l.values)+n > maxValues {
				parquet.Release(page)
				return rows, damaged(x.path, errors.New("too many values"))
			}
			for _, v := range buffer[:n] {
				if v.RepetitionLevel() == 0 {
					ended()
					rows++
					length = 0
				}
				length++
				l.values = append(l.values, numberOf(v, c))
			}
			if err == io.EOF {
				break
			}
			if err != nil || n == 0 {
				parquet.Release(page)
				return rows, damaged(x.path, err)
			}
		}
		parquet.Release(page)
	}
}

func numberOf(v parquet.Value, c *parquet.Column) float64 {
	if v.IsNull() || v.DefinitionLevel() != c.MaxDefinitionLevel() {
		return trajectory.Null()
	}
	unsigned := false
	if t := c.Type().LogicalType(); t != nil {
		if i, ok := t.Value.(*format.IntType); ok {
			unsigned = !i.IsSigned
		}
	}
	switch v.Kind() {
	case parquet.Boolean:
		if v.Boolean() {
			return 1
		}
		return 0
	case parquet.Int32:
		if unsigned {
			return float64(v.Uint32())
		}
		return float64(v.Int32())
	case parquet.Int64:
		if unsigned {
			return float64(v.Uint64())
		}
		return float64(v.Int64())
	case parquet.Float:
		return own(float64(v.Float()))
	}
	return own(v.Double())
}
