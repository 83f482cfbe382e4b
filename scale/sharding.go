package scale

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Sharding makes shards of data in files. It holds some MB of rows and the names of one
// shard in memory at a time: the rows are kept on disk meanwhile, beside the shards, where
// nobody but their owner may read them.
type Sharding struct {
	// Data, Format and Options are those of [file.Read], which reads the same.
	Data    []string
	Format  string
	Options trajectory.Options
	// Dir is the directory of the shards, which must not be there yet, and Shards how many
	// there are to be.
	Dir    string
	Shards int
	// Tell, if not nil, is told in a line what the curator should know.
	Tell func(string)
}

// Write writes the shards that [Write] makes of the dataset of [file.Read], and returns
// their names. Their directory appears when all of them are in it.
func (s Sharding) Write(ctx context.Context) ([]string, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	return s.write(ctx, key)
}

func (s Sharding) write(ctx context.Context, key [16]byte) (names []string, err error) {
	if err := possible(s.Shards); err != nil {
		return nil, err
	}
	m, err := startMaking(s.Dir, s.tell)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.end()) }()
	in, err := file.Open(ctx, s.Data, s.Format, s.Options)
	if err != nil {
		return nil, err
	}
	at := shardPlace{Count: s.Shards, key: key}
	rows, err := in.Spill(m.rows(), s.Shards, at.of)
	if err != nil {
		return nil, err
	}
	nobody := false
	err = rows.Each(ctx, func(shard, persons int, write func(io.Writer, map[string]string) error) error {
		s.progress(in, shard)
		nobody = nobody || persons == 0
		if nobody || !rows.Named() {
			return nil // what is wrong with other persons comes first
		}
		at.Shard = shard
		_, err := writeShard(m.shards(), at, write)
		names = append(names, filepath.Join(s.Dir, shardName(shard, s.Shards)))
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, n := range in.Notices() {
		s.tell(n)
	}
	switch {
	case !rows.Named():
		return nil, errNobodyNamed
	case nobody:
		return nil, tooMany(s.Shards)
	}
	return names, m.done()
}

func (s Sharding) tell(line string) {
	if s.Tell != nil {
		s.Tell(line)
	}
}

// progress tells how far the rows that were kept have been read again.
func (s Sharding) progress(in *file.Stream, shard int) {
	if n := len(in.Files()); s.Options.Progress != nil {
		s.Options.Progress(trajectory.Progress{File: s.Dir, Index: n, Files: n + 1, Bytes: int64(shard), Size: int64(s.Shards)})
	}
}

// everyone lists the persons of a dataset.
func everyone(d *trajectory.Dataset) []int {
	all := make([]int, d.Persons())
	for i := range all {
		all[i] = i
	}
	return all
}
