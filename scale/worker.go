package scale

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/internal/shards"
	"github.com/discreet-rl/discreet/internal/source"
)

// Worker answers tasks, several at a time where it is asked to. The zero value is ready.
//
// Between tasks of one question it keeps the plan, which can take as long as a small shard,
// and, up to a bound, what the method needs of each shard, by the SHA-256 of that: later
// rounds read the file for that alone. It is as private as the shard.
type Worker struct {
	mutex sync.Mutex
	last  *memory
}

// Answer is a worker's whole life: it reads a shard, checks it, replays the task's
// question on its persons, and returns the masked sum that the task asks for, the first one for the check. What is
// wrong with the data, and in round 0 what is doubtful, goes to a file beside the shard
// that its owner alone may read, and never into an error.
func Answer(ctx context.Context, t Task, task Hash, shard string, key RunKey) (Partial, error) {
	return new(Worker).Answer(ctx, t, task, shard, key)
}

// Answer is [Answer] with what the worker keeps.
func (w *Worker) Answer(ctx context.Context, t Task, task Hash, shard string, key RunKey) (Partial, error) {
	return w.answer(ctx, t, task, part{path: shard, format: shardFormat, beside: shard}, key)
}

// part is a shard, or the rows of a partition that an engine made.
type part struct {
	path, format string // as [shards.Read] has it
	// beside is what the names of the curator's files begin with.
	beside string
	// place is that of rows; nil of a shard, which says its own.
	place *shardPlace
	// names, if not nil, gives files their names in what the curator is told.
	names *strings.Replacer
}

func (p part) named(text string) string {
	if p.names == nil {
		return text
	}
	return p.names.Replace(text)
}

func (p part) placed(ctx context.Context) (shardPlace, error) {
	if p.place != nil {
		return *p.place, nil
	}
	return placeOf(ctx, p.path)
}

func (w *Worker) answer(ctx context.Context, t Task, task Hash, of part, key RunKey) (Partial, error) {
	shard := of.path
	if err := t.ours(); err != nil {
		return Partial{}, err
	}
	m, err := w.memory(t)
	if err != nil {
		return Partial{}, err
	}
	file, err := digestOf(ctx, shard)
	if err != nil {
		return Partial{}, err
	}
	place, part := m.recall(file)
	if part == nil {
		if place, err = of.placed(ctx); err != nil {
			return Partial{}, err
		}
	}
	if place.Count != t.Shards {
		return Partial{}, fmt.Errorf("%w: %s is one of %d shards, and the task is about %d", ErrShard, shard, place.Count, t.Shards)
	}
	if part == nil || t.Round == 0 { // the check tells the curator of the shard that is there now
		part, err = m.read(ctx, shard, of.format, t.Round == 0)
		if err == nil && of.place != nil {
			err = place.owns(ctx, t, shard)
		} else if err == nil {
			err = place.check(shard, part.Persons)
		}
		if e, ok := errors.AsType[*source.StoreError](err); ok {
			return Partial{}, e
		}
		if err != nil {
			return Partial{}, faulty(ctx, place.Shard, of.beside, of.place != nil, errors.New(of.named(err.Error())))
		}
		if err := m.keep(ctx, shard, file, place, part); err != nil {
			return Partial{}, err
		}
	}
	if t.Round == 0 {
		for i, line := range part.Remarks {
			part.Remarks[i] = of.named(line)
		}
		if err := remark(ctx, of.beside, part.Remarks); err != nil {
			return Partial{}, err
		}
	}
	sum, err := next(ctx, t, part)
	if err != nil {
		return Partial{}, err
	}
	var n nonce
	if _, err := io.ReadFull(rand.Reader, n[:]); err != nil {
		return Partial{}, err
	}
	told := counts{persons: int64(part.Count), episodes: int64(part.Episodes), rows: int64(part.Rows), data: key.digestWord(file, place.Shard), sizes: part.Sizes}
	out := seal(t, task, place, told, sum, key, n)
	if of.place != nil && t.Round == 0 {
		out.Columns = part.Nobody
	}
	return out, nil
}

// next replays the transcript and returns the sum after it.
func next(ctx context.Context, t Task, part *shards.Part) (hook.Sum, error) {
	r := &replay{task: t}
	err := part.Ready.Replay(ctx, r)
	if errors.Is(err, errAnswered) {
		return r.sum, nil
	}
	if err == nil {
		err = fmt.Errorf("%w: the method has no sum of round %d", ErrTask, max(t.Round, 1))
	}
	return r.sum, err
}

// errAnswered ends a replay once its sum is known.
var errAnswered = errors.New("the sum of this round is known")

// replay answers from the transcript, and keeps the sum after it.
type replay struct {
	task Task
	at   int
	sum  hook.Sum
}

// Gather implements [hook.Sums].
func (r *replay) Gather(own hook.Sum) (hook.Sum, []int64, error) {
	if r.at == len(r.task.Transcript) {
		r.sum = own
		r.sum.Values = slices.Clone(own.Values)
		return own, nil, errAnswered
	}
	n := r.task.Transcript[r.at]
	r.at++
	return hook.Sum{Persons: r.task.Persons}, n.Sum, n.fits(own)
}

// Keep implements [hook.Sums]: a replay draws nothing.
func (r *replay) Keep([]int64) ([]int64, error) { return nil, errAnswered }

// fits tells whether a noisy sum is of the sum that a run makes.
func (n noisySum) fits(own hook.Sum) error {
	if n.Step != own.Step || n.Sigma != own.Sigma || len(n.Sum) != own.Released() {
		return fmt.Errorf("%w: the transcript is of another method, or of another program", ErrTask)
	}
	return nil
}

// digestOf is the SHA-256 of a file, and of an object that of its name and version: it is not
// read for that.
func digestOf(ctx context.Context, path string) (sum [sha256.Size]byte, err error) {
	if info, err := source.Stat(ctx, path); err != nil {
		return sum, err
	} else if v, ok := info.Sys().(source.Version); ok {
		return sha256.Sum256(fmt.Appendf(nil, "object %q %q %d", path, v, info.Size())), nil
	}
	text, err := scan.FileDigest(ctx, path)
	copy(sum[:], text)
	return sum, err
}

// The names of the curator's files beside a shard.
const (
	faultsSuffix  = ".faults.txt"
	remarksSuffix = ".remarks.txt"
)

// faulty tells the curator what is wrong with a shard, and everybody else that something
// is. What is said of a partition is moved by the driver.
func faulty(ctx context.Context, number int, shard string, moved bool, found error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	beside := shard + faultsSuffix
	if err := absent(ctx, shard+remarksSuffix); err != nil {
		return err
	}
	if err := forCurator(ctx, beside, found.Error()+"\n"); err != nil {
		return fmt.Errorf("%w: shard %d did not pass its check, and %s, which would tell its curator why, cannot be written: %w", ErrShard, number, beside, err)
	}
	if moved { // and the driver says whereto
		beside = filepath.Base(beside)
	}
	return fmt.Errorf("%w: shard %d did not pass its check; %s tells its curator why", ErrShard, number, beside)
}

// remark leaves the curator what is to be said of a shard that passed.
func remark(ctx context.Context, shard string, remarks []string) error {
	if err := absent(ctx, shard+faultsSuffix); err != nil {
		return err
	}
	if len(remarks) == 0 {
		return absent(ctx, shard+remarksSuffix)
	}
	return forCurator(ctx, shard+remarksSuffix, strings.Join(remarks, "\n")+"\n")
}

// absent removes a file that an earlier check may have left. It looks first: on a medium
// that is read-only the removal of a file that is not there fails too.
func absent(ctx context.Context, path string) error {
	if source.Remote(path) {
		s, err := source.StoreOf(ctx, path)
		if err == nil {
			_, err = s.Stat(ctx, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.Remove(ctx, path)
	}
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func forCurator(ctx context.Context, path, text string) error {
	if source.Remote(path) {
		s, err := source.StoreOf(ctx, path)
		if err != nil {
			return err
		}
		return s.Write(ctx, path, []byte(text))
	}
	return atomicfile.Write(path, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
