package scale

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/discreet-rl/discreet/internal/scan"
)

// Places tells of each row of a file, of the format of the task's question, in which partition
// it has to be: by the keyed hash of its person's id, in its plain spelling, so that rows of
// one person, and of ids that may be one, are in one. A row without an id is in the first.
func (w *Worker) Places(ctx context.Context, t Task, path string, key RunKey) ([]uint32, error) {
	var all []uint32
	err := places(ctx, t, key.partition(0, t.Shards), path, func(place, rows int) error {
		for range rows {
			all = append(all, uint32(place))
		}
		return nil
	})
	return all, err
}

func places(ctx context.Context, t Task, of shardPlace, path string, each func(place, rows int) error) error {
	c, err := t.config()
	if err != nil {
		return err
	}
	return scan.Owners(ctx, c, path, func(plain []byte, rows int) error {
		if len(plain) == 0 {
			return each(0, rows)
		}
		return each(of.of(string(plain)), rows)
	})
}

// Partition is [Worker.Answer] for the rows of a partition, which stand in a file in the format
// of the question, those of an episode together and in an order that follows from the rows. What is wrong or
// doubtful with them goes to a file whose name begins with beside.
func (w *Worker) Partition(ctx context.Context, t Task, task Hash, number int, path, beside string, key RunKey) (Partial, error) {
	if number < 0 || number >= t.Shards {
		return Partial{}, fmt.Errorf("%w: partition %d of %d", ErrTask, number, t.Shards)
	}
	place := key.partition(number, t.Shards)
	return w.answer(ctx, t, task, part{path: path, beside: beside, place: &place}, key)
}

// owns refuses rows that belong into another partition, so that no two have one person.
// Reading has made sure that nobody is there twice.
func (p shardPlace) owns(ctx context.Context, t Task, path string) error {
	at := 0
	return places(ctx, t, p, path, func(place, rows int) error {
		if at += rows; place != p.Shard {
			return fmt.Errorf("%w: %s: row %d of it belongs into another partition: group rows by what discreet partial --places says of them", ErrShard, path, at-rows+1)
		}
		return nil
	})
}

// told moves what workers left for the curator beside partials into the directory of the run, where that of a check
// takes the place of an earlier one's, and says of a failed round where it is.
func (s store) told(from string, round int, failed error) error {
	old, err := forCurators(s.dir)
	if err != nil {
		return errors.Join(failed, err)
	}
	for _, name := range old {
		if round == 0 {
			err = errors.Join(err, os.Remove(filepath.Join(s.dir, name)))
		}
	}
	found, more := forCurators(from)
	err = errors.Join(err, more)
	for _, name := range found {
		to := filepath.Join(s.dir, name)
		err = errors.Join(err, os.Rename(filepath.Join(from, name), to))
		if failed != nil && strings.HasSuffix(name, faultsSuffix) {
			failed = fmt.Errorf("%w; %s tells the curator why", failed, to)
		}
	}
	return errors.Join(failed, err)
}

// forCurators are the names of such files in a directory.
func forCurators(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), faultsSuffix) || strings.HasSuffix(e.Name(), remarksSuffix) {
			names = append(names, e.Name())
		}
	}
	return names, err
}
