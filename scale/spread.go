package scale

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// split is what workers know who make shards together. It is a private file: with the
// key, who knows a person's id knows their shard.
type split struct {
	Program string   `json:"program"`
	Key     string   `json:"key"`
	Files   []string `json:"files"`
	Format  string   `json:"format"`
	Shards  int      `json:"shards"`
	Options options  `json:"options"`

	path string
	key  [16]byte
}

// options are options without what is of a process.
type options struct {
	trajectory.Options
	Progress *bool `json:"Progress,omitempty"`
}

func (s *split) rows(name string) string { return filepath.Join(filepath.Dir(s.path), "rows", name) }

func (s *split) pack(i int) string { return s.rows(fmt.Sprintf("file-%d", i)) }

func (s *split) located(shard int) string { return s.rows(fmt.Sprintf("found-%d", shard)) }

// Spread is Write by workers, who may be many and elsewhere: run has them divide every
// file ([Worker.Divide]) and join every shard ([Worker.Join]), and may do so again for what
// was not done. Plan is a private file that tells them what to do; files and Dir must be
// theirs under the same absolute paths. The shards are those that Write makes with the key.
func (s Sharding) Spread(ctx context.Context, run func(ctx context.Context, plan string, files []string, shards int) error) ([]string, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	return s.spread(ctx, key, run)
}

func (s Sharding) spread(ctx context.Context, key [16]byte, run func(ctx context.Context, plan string, files []string, shards int) error) (names []string, err error) {
	if err := possible(s.Shards); err != nil {
		return nil, err
	}
	if s.Options.Repair {
		return nil, fmt.Errorf("%w: records that violate what is asked are left out by who reads the shards; leave Repair out", trajectory.ErrOptions)
	}
	given := s.Dir
	if s.Dir, err = filepath.Abs(s.Dir); err != nil {
		return nil, err
	}
	data := slices.Clone(s.Data)
	for i := range data {
		if data[i], err = source.Abs(data[i]); err != nil {
			return nil, err
		}
	}
	m, err := startMaking(s.Dir, s.tell)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.end()) }()
	o := s.Options
	o.Progress = nil
	in, err := file.Open(ctx, data, s.Format, o)
	if err != nil {
		return nil, err
	}
	if o.Arranges() && len(in.Files()) > 1 {
		return nil, fmt.Errorf("%w: workers read files apart, and to sort rows takes all of them; join the files, or have one process make the shards", trajectory.ErrOptions)
	}
	p := &split{Program: discreet.Version(), Key: hex.EncodeToString(key[:]), Files: in.Files(), Format: in.Format(), Shards: s.Shards, Options: options{Options: o}, path: filepath.Join(m.dir, "plan.json")}
	if err := p.write(); err != nil {
		return nil, err
	}
	if err := run(ctx, p.path, p.Files, s.Shards); err != nil {
		return nil, err
	}
	named, err := gather(in, p)
	if err != nil {
		return nil, err
	}
	s.Dir = given
	return s.finish(in, named, m)
}

// gather says what workers found, and whether persons have names.
func gather(in *file.Stream, p *split) (named bool, err error) {
	packs := make([]string, len(p.Files))
	for i := range packs {
		packs[i] = p.pack(i)
	}
	var unread error
	named, err = in.Gather(packs, p.Shards, func(yield func([]byte) bool) {
		for shard := range p.Shards {
			text, err := os.ReadFile(p.located(shard))
			if err != nil {
				unread = fmt.Errorf("%w: shard %d was joined by nobody: %w", ErrEngine, shard, err)
				return
			}
			if !yield(text) {
				return
			}
		}
	})
	return named, cmp.Or(unread, err)
}

// write writes the plan, and holds what workers will read against what was meant.
func (s *split) write() error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := atomicfile.Create(s.path, 0o600, writes(text)); err != nil {
		return err
	}
	again, err := readSplit(s.path)
	if err == nil && !reflect.DeepEqual(again.Options, s.Options) {
		err = fmt.Errorf("%w: they hold a number that is not finite, or an empty list; leave it out", trajectory.ErrOptions)
	}
	return err
}

func writes(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

func readSplit(path string) (*split, error) {
	text, err := bounded(path, mostTask)
	if err != nil {
		return nil, err
	}
	s := &split{path: path}
	if err := strict(text, s); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTask, path, err)
	}
	key, err := hex.DecodeString(s.Key)
	switch {
	case err != nil || len(key) != len(s.key) || possible(s.Shards) != nil:
		return nil, fmt.Errorf("%w: %s is not what the driver wrote", ErrTask, path)
	case s.Program != discreet.Version():
		return nil, fmt.Errorf("%w: %s is of %s, and this is %s; have one program everywhere", ErrTask, path, s.Program, discreet.Version())
	}
	s.key = [16]byte(key)
	return s, nil
}

// Divide puts the rows of one file by shard into a private file, whose path it returns. It
// may be done again, and by several at a time. What is wrong with the data is no error:
// it is in that file, for the driver.
func (w *Worker) Divide(ctx context.Context, plan, path string) (string, error) {
	s, err := readSplit(plan)
	if err != nil {
		return "", err
	}
	i := slices.Index(s.Files, path)
	if i < 0 {
		return "", fmt.Errorf("%w: %s is none of the files of %s", ErrTask, path, plan)
	}
	dir, err := os.MkdirTemp(s.rows(""), "split-")
	if err != nil {
		return "", err
	}
	err = s.divide(ctx, i, dir)
	return s.pack(i), errors.Join(err, os.RemoveAll(dir))
}

func (s *split) divide(ctx context.Context, i int, dir string) error {
	in, err := file.OpenOne(ctx, s.Files, i, s.Format, s.Options.Options)
	if err != nil {
		return err
	}
	rows, err := in.Spill(dir, s.Shards, shardPlace{Count: s.Shards, key: s.key}.of)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.pack(i), 0o600, func(w io.Writer) error { return rows.Pack(ctx, w) })
}

// Join makes one shard of what [Worker.Divide] made of all files, in any order. It may be
// done again. Where something is wrong with the data it makes none, and leaves what that
// is in a private file, for the driver.
func (w *Worker) Join(ctx context.Context, plan string, shard int, packs []string) error {
	s, err := readSplit(plan)
	if err != nil {
		return err
	}
	if shard < 0 || shard >= s.Shards {
		return fmt.Errorf("%w: shard %d of %d", ErrTask, shard, s.Shards)
	}
	given := map[string]bool{}
	for _, p := range packs {
		given[p] = true
	}
	all := make([]string, len(s.Files))
	for i := range all {
		if all[i] = s.pack(i); !given[all[i]] {
			return fmt.Errorf("%w: the rows of %s did not come to shard %d", ErrEngine, s.Files[i], shard)
		}
	}
	if len(given) != len(all) {
		return fmt.Errorf("%w: shard %d was given rows of other files", ErrEngine, shard)
	}
	return s.join(ctx, shard, all)
}

func (s *split) join(ctx context.Context, shard int, packs []string) error {
	in, err := file.OpenPacks(ctx, s.Files, s.Options.Options)
	if err != nil {
		return err
	}
	err = in.Unpack(ctx, s.rows(""), packs, s.Shards, shard, func(write func(io.Writer, map[string]string) error) error {
		_, err := writeShard(filepath.Join(filepath.Dir(s.path), "shards"), shardPlace{shard, s.Shards, s.key}, write)
		return err
	})
	if err != nil {
		return err
	}
	found, err := in.Found()
	if err != nil {
		return err
	}
	return atomicfile.Write(s.located(shard), 0o600, writes(found))
}
