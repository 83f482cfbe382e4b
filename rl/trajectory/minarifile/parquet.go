package minarifile

import (
	"errors"
	"io"
	"os"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/parquetfile"
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

// parseParquet reads an episode; path stands for it in errors. Every column is
// read by a table of its own, so that one that cannot be used spoils no other.
func parseParquet(r io.ReaderAt, size int64, path string) ([]leaf, error) {
	t, err := parquetfile.New(r, size, path)
	if err != nil {
		return nil, damaged(path, err)
	}
	fields := t.Fields()
	if err := t.Close(); err != nil {
		return nil, err
	}
	leaves := make([]leaf, len(fields))
	room := int(min(1<<22+256*size, maxValues))
	for i, f := range fields {
		leaves[i] = leaf{name: f.Name, list: f.List, width: 1}
		err := parquetLeaf(&leaves[i], r, size, i, room)
		room -= len(leaves[i].values)
		if err != nil {
			var fault *trajectory.InputError
			if !errors.As(err, &fault) || errors.Is(err, trajectory.ErrFormat) {
				return nil, damaged(path, err)
			}
			leaves[i].bad, leaves[i].values = fault.What, nil
		}
	}
	return leaves, nil
}

// parquetLeaf reads the numbers of one column, at most so many as there is room
// for: bytes that claim to stand for billions of values are not believed.
func parquetLeaf(l *leaf, r io.ReaderAt, size int64, field, room int) error {
	t, err := parquetfile.New(r, size, l.name)
	if err != nil {
		return err
	}
	defer t.Close()
	pick := trajectory.Pick{Field: field}
	if l.list {
		if l.width, err = t.Width(field); err != nil {
			return err
		}
		if l.width < 1 || l.width > maxWidth {
			l.bad = "holds lists of no length, or too long"
			return nil
		}
		pick.List = l.width
	}
	if err := t.Select([]trajectory.Pick{pick}); err != nil {
		return err
	}
	for batch := trajectory.NewBatch([]int{l.width}, 0); ; {
		batch.Reset()
		if err := t.Read(batch); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if len(l.values)+batch.Rows*l.width > room {
			return errors.New("more values than a file of this size can be trusted with")
		}
		l.values = append(l.values, batch.Blocks[0].Values[:batch.Rows*l.width]...)
	}
}
