package scale

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/discreet-rl/discreet/internal/scan"

	"github.com/discreet-rl/discreet/internal/shards"
)

// mostKept bounds what a worker keeps of shards, in bytes. Others are read in every round.
const mostKept = 512 << 20

// memory is what a worker keeps between the tasks of one question.
type memory struct {
	of   subject
	read shards.Read

	mutex  sync.Mutex
	bytes  int64
	shards map[[sha256.Size]byte]kept
}

// kept is what is kept of a shard.
type kept struct {
	place shardPlace
	part  *shards.Part
}

// subject tells questions apart. The hash covers the content of policy files.
type subject struct{ question, dir, hash string }

// memory is that of the task's question. What was kept of another one is gone.
func (w *Worker) memory(t Task) (*memory, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	of := subject{t.Question, t.Dir, t.ConfigHash}
	if w.last != nil && w.last.of == of {
		return w.last, nil
	}
	c, err := t.config()
	if err != nil {
		return nil, err
	}
	read, err := scan.Shards(c)
	if err != nil {
		return nil, err
	}
	w.last = &memory{of: of, read: read, shards: map[[sha256.Size]byte]kept{}}
	return w.last, nil
}

// recall is the shard with this digest, nil where it has to be read.
func (m *memory) recall(file [sha256.Size]byte) (shardPlace, *shards.Part) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	of := m.shards[file]
	return of.place, of.part
}

// keep keeps a shard that passed its check, without the names of its persons, where its
// file is still the one with this digest.
func (m *memory) keep(ctx context.Context, shard string, file [sha256.Size]byte, place shardPlace, part *shards.Part) error {
	part.Persons = nil
	if after, err := digestOf(ctx, shard); err != nil || after != file {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.shards[file].part == nil && part.Kept <= mostKept-m.bytes {
		m.bytes += part.Kept
		m.shards[file] = kept{place, part}
	}
	return nil
}
