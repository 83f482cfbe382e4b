package scale

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

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
	rows, err := in.Spill(m.rows(), s.Shards, shardPlace{Count: s.Shards, key: key}.of)
	if err != nil {
		return nil, err
	}
	done := 0
	var progress sync.Mutex
	err = rows.Each(ctx, func(shard int, write func(io.Writer, map[string]string) error) error {
		progress.Lock()
		s.progress(in, done)
		done++
		progress.Unlock()
		_, err := writeShard(m.shards(), shardPlace{shard, s.Shards, key}, write)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.finish(in, rows.Named(), m)
}

// finish says what was found, and gives the shards their directory and names.
func (s Sharding) finish(in *file.Stream, named bool, m making) (names []string, err error) {
	for _, n := range in.Notices() {
		s.tell(n)
	}
	if !named {
		return nil, errNobodyNamed
	}
	for shard := range s.Shards {
		name := shardName(shard, s.Shards)
		if _, err := os.Stat(filepath.Join(m.shards(), name)); errors.Is(err, fs.ErrNotExist) {
			return nil, tooMany(s.Shards)
		} else if err != nil {
			return nil, err
		}
		names = append(names, filepath.Join(s.Dir, name))
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
