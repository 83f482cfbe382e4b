package scale

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/discreet-rl/discreet/internal/scan"

	"github.com/discreet-rl/discreet/internal/shards"
)

// mostKept bounds how many persons a worker keeps numbers of, 16 bytes each. The shards of
// others are read in every round.
const mostKept = 1 << 24

// memory is what a worker keeps between the tasks of one question.
type memory struct {
	of   subject
	read shards.Read

	mutex   sync.Mutex
	persons int
	shards  map[[sha256.Size]byte]*shards.Part
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
	w.last = &memory{of: of, read: read, shards: map[[sha256.Size]byte]*shards.Part{}}
	return w.last, nil
}

// recall is the shard with this digest, nil where it has to be read.
func (m *memory) recall(file [sha256.Size]byte) *shards.Part {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.shards[file]
}

// keep keeps a shard that passed its check, without the names of its persons, where its
// file is still the one with this digest.
func (m *memory) keep(ctx context.Context, shard string, file [sha256.Size]byte, part *shards.Part) error {
	if !part.Again {
		return nil
	}
	part.Persons = nil
	if after, err := digestOf(ctx, shard); err != nil || after != file {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.shards[file] == nil && m.persons+part.Count <= mostKept {
		m.persons += part.Count
		m.shards[file] = part
	}
	return nil
}
