package scale

import (
	"context"
	"fmt"

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
