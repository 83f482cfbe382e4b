package minarifile

import (
	"errors"
	"io"
	"os"
	"slices"

	"github.com/discreet-rl/discreet/internal/parquet"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfault"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
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

// parseParquet reads an episode; path stands for it in errors. A column that
// cannot be used spoils no other.
func parseParquet(r io.ReaderAt, size int64, path string) ([]leaf, error) {
	if size == 0 {
		return nil, fault(path, "the file is empty", "the dataset may be copied in part; copy it anew", trajectory.ErrFormat, nil)
	}
	f, err := parquet.Open(r, size)
	if err != nil {
		return nil, parquetfault.Error(path, err)
	}
	defer f.Close()
	var leaves []leaf
	for i, field := range f.Fields() {
		l := leaf{name: field.Name, list: field.List, width: 1}
		if err := parquetLeaf(&l, f, i); err != nil {
			var fault *parquet.Error
			if !errors.As(err, &fault) || errors.Is(err, parquet.ErrFormat) {
				return nil, parquetfault.Error(path, err)
			}
			l.bad, l.values = fault.What, nil
		}
		leaves = append(leaves, l)
	}
	return leaves, nil
}

// parquetLeaf reads the numbers of one column. Room for them is made as they
// come: not all rows that a file claims to have need be there.
func parquetLeaf(l *leaf, f *parquet.File, field int) error {
	if l.list {
		var err error
		if l.width, err = f.ListLength(field); err != nil {
			return err
		}
		if l.width < 1 {
			l.bad = "holds lists of no length"
			return nil
		}
	}
	c, err := f.Column(parquet.Want{Field: field, Length: l.width, Null: table.Null()})
	if err != nil {
		return err
	}
	defer c.Close()
	const most = 1 << 12
	for rows := f.Rows(); rows > 0; {
		n := int(min(rows, most))
		at := len(l.values)
		l.values = slices.Grow(l.values, n*l.width)[:at+n*l.width]
		if err := c.Read(l.values[at:], l.width, n); err != nil {
			return err
		}
		rows -= int64(n)
	}
	return nil
}
