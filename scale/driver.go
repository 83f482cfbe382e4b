package scale

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/internal/evaluation"
	"github.com/discreet-rl/discreet/internal/source"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/scan"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/internal/filelock"
	"github.com/discreet-rl/discreet/internal/shards"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Driver evaluates data in shards.
type Driver struct {
	// Config is the whole configuration; its data.path names the shards.
	Config config.Config
	// Question is what workers get of it: [discreet.Question].
	Question []byte
	// Shards are the files of all shards. Workers need not find them under these names.
	Shards []string
	// Partitions, in place of Shards, has the engine group rows by person into so many, by
	// [Worker.Places], and bring each to a worker, for [Worker.Partition].
	Partitions int
	// Dir is the directory of the run: its transcript is in it. It is made if need be; one
	// that holds anything and is no run is refused.
	// A driver that is started again over it goes on; a run that ended gives its release
	// again.
	Dir string
	// Key masks partials, and the files of the run have MACs under it. A driver that goes
	// on needs the key that it began with.
	Key RunKey
	// Engine has the workers run.
	Engine Engine
	// Progress, if not nil, is called before each round.
	Progress func(round int)
}

// Round is what an engine gets: workers are to answer the task for every shard.
type Round struct {
	Task Task
	Hash Hash
	// Path is the file of the task, and Dir an empty directory for partials.
	Path, Dir string
	Shards    []string // none where the engine groups rows
	Key       RunKey
}

// Engine has the workers of a round run and returns their partials, in any order, merged
// or not.
type Engine interface {
	Round(ctx context.Context, r Round) ([]Partial, error)
}

// Evaluate plans, has all shards checked, charges, runs round after round, records and
// writes the release, as [discreet.Evaluate] does for data in one process and with the
// same options. Nothing is charged before all shards passed.
func (d Driver) Evaluate(ctx context.Context, options ...discreet.Option) (*discreet.Result, error) {
	if d.Engine == nil || d.Dir == "" {
		return nil, fmt.Errorf("%w: a driver needs an engine and a run directory", ErrRun)
	}
	shards, one, err := d.places(ctx)
	if err != nil {
		return nil, err
	}
	hash, err := d.Config.Hash()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(d.Config.Dir)
	if err != nil {
		return nil, err
	}
	if err := claim(d.Dir); err != nil {
		return nil, err
	}
	lock, err := filelock.Take(filepath.Join(d.Dir, ".lock"))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w; another driver is at this run", ErrRun, d.Dir, err)
	}
	defer func() { _ = lock.Release() }() // what is left of a lock stops nobody
	if l, ok := d.Engine.(Local); ok && l.worker == nil {
		l.worker = new(Worker)
		d.Engine = l
	}
	r := &run{driver: d, shards: shards, one: one, store: store{dir: d.Dir, key: d.Key}, question: Task{
		Schema: taskSchema, Shards: one.Count, Program: discreet.Version(), Question: string(d.Question), Dir: dir, ConfigHash: hash, Transcript: []noisySum{},
	}}
	if _, err := r.question.config(); err != nil {
		return nil, err
	}
	s := discreet.Apply(options)
	result, err := evaluation.Evaluate(ctx, d.Config, evaluation.Settings{Progress: s.Progress, Source: s.Source, Key: s.Key, Retry: s.Retry, Shards: r})
	return (*discreet.Result)(result), err
}

// places lists the shards, of which one says what they are.
func (d Driver) places(ctx context.Context) (shards []string, one shardPlace, err error) {
	if d.Partitions == 0 {
		if shards, err = Set(ctx, d.Shards); err != nil {
			return nil, one, err
		}
		one, err = placeOf(ctx, shards[0])
		return shards, one, err
	}
	if len(d.Shards) > 0 {
		return nil, one, fmt.Errorf("%w: shards and partitions; give one of them", ErrRun)
	}
	return nil, d.Key.partition(0, d.Partitions), possible(d.Partitions)
}

// run is a run of a driver.
type run struct {
	driver     Driver
	shards     []string
	one        shardPlace // of one of them
	store      store
	question   Task // without run, round and transcript
	checked    counts
	columns    *trajectory.Dataset // as the check of rows told
	transcript []noisySum
	first      *hook.Sum // of the check, until it is used
}

// Files implements [shards.Source].
func (r *run) Files() bool { return len(r.shards) > 0 }

// Begin implements [shards.Source].
func (r *run) Begin(hash, key string) (*shards.Begun, error) {
	b, transcript, err := r.store.load()
	if err != nil {
		return nil, err
	}
	if err := r.store.tidy(); err != nil {
		return nil, err
	}
	if b == nil {
		_, err := io.ReadFull(rand.Reader, r.question.Run[:])
		r.store.run = r.question.Run
		return nil, err
	}
	switch {
	case b.Hash != hash:
		return nil, fmt.Errorf("%w: %s is of a run of another configuration; take another directory", ErrRun, r.store.dir)
	case key != "" && b.Key != key:
		return nil, fmt.Errorf("%w: %s is of the run with key %s; go on with that one, or take another directory", ErrRun, r.store.dir, b.Key)
	case b.Set != Hash{} && b.Set != r.driver.Key.set(r.one):
		return nil, fmt.Errorf("%w: %s is of a run of another set of shards; bring those back, or take another directory", ErrRun, r.store.dir)
	}
	r.question.Run, r.store.run, r.transcript = b.Run, b.Run, transcript
	r.checked = counts{persons: b.Persons, data: b.Data}
	return &b.Begun, nil
}

// Check implements [shards.Source].
func (r *run) Check(ctx context.Context) (*shards.Checked, error) {
	c, first, err := r.round(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	if c.persons < 0 {
		return nil, fmt.Errorf("%w: the shards say that they hold fewer than no persons", ErrPartial)
	}
	r.checked, r.first = c, &first
	nobody, err := r.nobody(ctx)
	return &shards.Checked{Persons: c.persons, Episodes: c.episodes, Sizes: c.sizes, Nobody: nobody}, err
}

// nobody has the columns of the data.
func (r *run) nobody(ctx context.Context) (*trajectory.Dataset, error) {
	if !r.Files() {
		if r.columns == nil {
			return nil, fmt.Errorf("%w: it does not say what the columns are", ErrPartial)
		}
		return r.columns.Nobody(), nil
	}
	smallest, err := smallestOf(ctx, r.shards)
	if err != nil {
		return nil, err
	}
	config, err := r.question.config()
	if err != nil {
		return nil, err
	}
	read, err := scan.Shards(config)
	if err != nil {
		return nil, err
	}
	part, err := read(ctx, smallest, shardFormat, false)
	if err != nil {
		return nil, err
	}
	return part.Nobody, nil
}

// smallestOf finds the file that is read for its columns.
func smallestOf(ctx context.Context, paths []string) (string, error) {
	var best string
	least := int64(-1)
	for _, path := range paths {
		info, err := source.Stat(ctx, path)
		if err != nil {
			return "", err
		}
		if least < 0 || info.Size() < least {
			best, least = path, info.Size()
		}
	}
	return best, nil
}

// Paid implements [shards.Source].
func (r *run) Paid(b shards.Begun) error {
	return r.store.create(r.store.started(), begun{Schema: runSchema, Run: r.question.Run, Begun: b, Persons: r.checked.persons, Data: r.checked.data, Set: r.driver.Key.set(r.one)})
}

// Sums implements [shards.Source].
func (r *run) Sums(ctx context.Context, persons int64, rounds *ledger.Rounds) hook.Sums {
	return &sums{ctx: ctx, run: r, persons: persons, rounds: rounds}
}

// sums makes the sums of the run one after the other. A method asks for them so deep
// inside that the context comes with it.
type sums struct {
	ctx     context.Context
	run     *run
	persons int64
	rounds  *ledger.Rounds // nil without a ledger
	at      int
	of      hook.Sum // that was gathered last
}

// Gather implements [hook.Sums]: an earlier draw where the transcript has one, else the
// sum of all shards, which the check brought if it is the first and no driver was stopped since.
func (s *sums) Gather(own hook.Sum) (hook.Sum, []int64, error) {
	s.at++
	if s.at > mostRounds {
		return own, nil, fmt.Errorf("%w: more than %d rounds", ErrRun, mostRounds)
	}
	if err := s.agree(); err != nil {
		return own, nil, err
	}
	if s.at <= len(s.run.transcript) {
		n := s.run.transcript[s.at-1]
		err := n.fits(own)
		if err == nil {
			err = s.bind(n)
		}
		return hook.Sum{Persons: s.persons}, n.Sum, err
	}
	all, err := s.total()
	if err == nil && (all.Step != own.Step || all.Sigma != own.Sigma || len(all.Values) != len(own.Values)) {
		err = fmt.Errorf("%w: the sum of the shards is of another method, or of another program", ErrPartial)
	}
	s.of = all
	return all, nil, err
}

// total is the sum of all shards.
func (s *sums) total() (all hook.Sum, err error) {
	if first := s.run.first; first != nil && s.at == 1 {
		s.run.first = nil
		return *first, nil
	}
	_, all, err = s.run.round(s.ctx, s.at, s.persons)
	return all, err
}

// agree holds the transcript that the run begins with against the ledger: the driver is
// killed between a sum and its entry, and never between an entry and its sum.
func (s *sums) agree() error {
	if s.rounds == nil || s.at != 1 {
		return nil
	}
	switch there, known := len(s.run.transcript), s.rounds.Len(); {
	case known > there:
		return fmt.Errorf("%w: %s has %d noisy sums and the ledger knows of %d: it is an earlier state of the run, or a copy; to go on would give two answers for one charge: put the directory back as it was last, or take a new one, which is charged anew", ErrRun, s.run.store.dir, there, known)
	case there > known+1:
		return fmt.Errorf("%w: %s has %d noisy sums and the ledger knows of %d: the ledger is an earlier one; put it back as it was last, or take a new directory, which is charged anew", ErrRun, s.run.store.dir, there, known)
	}
	return nil
}

// bind has the ledger know of a noisy sum that is durable, before it is used.
func (s *sums) bind(n noisySum) error {
	if s.rounds == nil {
		return nil
	}
	text, err := json.Marshal(sumFile{s.run.store.run, n})
	if err != nil {
		return err
	}
	return s.rounds.Add(s.ctx, s.at, sha256.Sum256(text))
}

// Keep implements [hook.Sums].
func (s *sums) Keep(noisy []int64) ([]int64, error) {
	n, err := s.run.store.keep(s.at, noisySum{Step: s.of.Step, Sigma: s.of.Sigma, Sum: noisy})
	if err != nil {
		return nil, err
	}
	if err := s.bind(n); err != nil {
		return nil, err
	}
	s.run.transcript = append(s.run.transcript, n)
	return n.Sum, nil
}

// round has every shard answer and adds up.
func (r *run) round(ctx context.Context, k int, persons int64) (counts, hook.Sum, error) {
	if f := r.driver.Progress; f != nil {
		f(k)
	}
	t := r.question
	t.Round, t.Persons, t.Transcript = k, persons, append([]noisySum{}, r.transcript...)
	text, err := t.Encode()
	if err != nil {
		return counts{}, hook.Sum{}, err
	}
	if len(text) > mostTask {
		return counts{}, hook.Sum{}, fmt.Errorf("%w: the transcript is longer than %d bytes", ErrTask, mostTask)
	}
	path := r.store.taskOf(k)
	err = atomicfile.Write(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return counts{}, hook.Sum{}, err
	}
	dir, err := os.MkdirTemp(r.store.dir, fmt.Sprintf("parts-%04d-", k))
	if err != nil {
		return counts{}, hook.Sum{}, err
	}
	hash := Hash(sha256.Sum256(text))
	parts, err := r.driver.Engine.Round(ctx, Round{Task: t, Hash: hash, Path: path, Dir: dir, Shards: r.shards, Key: r.driver.Key})
	if !r.Files() {
		err = r.store.told(dir, k, err)
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return counts{}, hook.Sum{}, err
	}
	all, err := Merge(parts...)
	if err != nil {
		return counts{}, hook.Sum{}, err
	}
	if k == 0 {
		r.columns = all.Columns
	}
	c, sum, err := open(all, t, hash, r.driver.Key, r.one)
	if err == nil && k > 0 && (c.persons != r.checked.persons || c.data != r.checked.data) {
		err = fmt.Errorf("%w: the data are not those that were checked, or the run key is another; bring them back, and start the driver again", ErrShard)
	}
	return c, sum, err
}
