package file

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// mostCounted bounds the rows whose values are told apart.
const mostCounted = 1 << 20

// Distinct tells how many values a column of ids has, and in how many rows: in the first
// million of the first file with rows. It is for whoever holds the data alone.
func (d *Description) Distinct(ctx context.Context, column string) (values, rows int, err error) {
	t, err := d.format.Open(ctx, d.path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	field := -1
	for i, f := range t.Fields() {
		if f.Name == column && !f.List {
			field = i
		}
	}
	if field < 0 {
		return 0, 0, fmt.Errorf("%w: there is no column %s of ids", trajectory.ErrOptions, column)
	}
	if err := t.Select([]table.Pick{{Field: field, Kind: table.Key}}); err != nil {
		return 0, 0, err
	}
	b, seen, seed := table.NewBatch(nil, 1), map[uint64]struct{}{}, maphash.MakeSeed()
	for rows < mostCounted {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		b.Reset()
		switch err := t.Read(b); {
		case errors.Is(err, io.EOF):
			return len(seen), rows, nil
		case err != nil:
			return 0, 0, err
		}
		for run, from := 0, 0; from < b.Rows; run++ {
			if key := b.Keys[0].Key(run); len(key) > 0 {
				seen[maphash.Bytes(seed, key)] = struct{}{}
			}
			from = b.Keys[0].End(run)
		}
		rows += b.Rows
	}
	return len(seen), rows, nil
}
