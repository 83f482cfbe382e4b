// A configuration of the chain with shards, and engines that fail: what the tests of this package have in common.

package scale

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

const questionText = `
data: {path: "shards/*.parquet", format: parquet, behavior: {source: design, kind: column}}
problem: {persons: 120, gamma: 0.99, reward: {min: 0, max: 1}, return: {min: 0, max: 1}, horizon: 60}
features: {kind: tabular, states: 40, column: obs_state}
target: {kind: constant, action: 1}
method: {name: dp-wis}
privacy: {adjacency: replace_one, epsilon: 2, delta: 1.0e-6}
`

// stage is a configuration in a directory with shards of the chain.
type stage struct {
	dir, config string
	shards      []string
	overrides   []string
}

func newStage(t testing.TB, overrides ...string) stage { return stageOf(t, 4, overrides...) }

func stageOf(t testing.TB, shards int, overrides ...string) stage {
	t.Helper()
	s := stage{dir: t.TempDir(), overrides: overrides}
	s.config = filepath.Join(s.dir, "q.yaml")
	if err := os.WriteFile(s.config, []byte(questionText), 0o644); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.shards, err = write(people(t, 120, 3), filepath.Join(s.dir, "shards"), shards, [16]byte{1}); err != nil {
		t.Fatal(err)
	}
	return s
}

// byPlace asks about two groups, of every second person each.
func byPlace(more string) []string {
	return []string{"by={column: obs_place, values: [0, 1], " + more + "}"}
}

// people are persons on the chain, every second one in another place.
func people(t testing.TB, persons int, seed uint64) *trajectory.Dataset {
	t.Helper()
	d, err := chain.Simulate(chain.Options{Episodes: persons, Seed: seed, MaxSteps: 60})
	if err != nil {
		t.Fatal(err)
	}
	states, finals := d.Obs, d.Final
	d.Columns, d.Obs, d.Final = []string{"obs_state", "obs_place"}, nil, nil
	d.PersonID = nil
	for i := range d.Persons() { // each has one episode
		for row := d.EpisodeStart[i]; row < d.EpisodeStart[i+1]; row++ {
			d.Obs = append(d.Obs, states[row], float64(i%2))
		}
		if finals != nil {
			d.Final = append(d.Final, finals[i], float64(i%2))
		}
		d.PersonID = append(d.PersonID, fmt.Sprintf("person %d", i))
	}
	return d
}

func (s stage) load(t testing.TB) config.Config {
	t.Helper()
	c, err := discreet.Load(s.config, s.overrides...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s stage) driver(t testing.TB) Driver {
	t.Helper()
	question, err := discreet.Question(s.config, s.overrides...)
	if err != nil {
		t.Fatal(err)
	}
	return Driver{Config: s.load(t), Question: question, Shards: s.shards, Dir: filepath.Join(s.dir, "run"), Key: RunKey{9}, Engine: Local{Workers: 2}}
}

// inOneProcess is the release of the same files read at once, with the same noise.
func (s stage) inOneProcess(t testing.TB, seed uint64) []byte {
	t.Helper()
	r, err := discreet.Evaluate(context.Background(), s.load(t), discreet.WithSource(noise.NewSeeded(seed)))
	if err != nil {
		t.Fatal(err)
	}
	return r.JSON
}

// broken is an engine that does something to what a whole one returns.
type broken struct {
	Local
	do func(r Round, parts []Partial) ([]Partial, error)
}

func (b broken) Round(ctx context.Context, r Round) ([]Partial, error) {
	parts, err := b.Local.Round(ctx, r)
	if err != nil {
		return nil, err
	}
	return b.do(r, parts)
}

// stop has a driver end before its k-th sum is kept: the first one comes with the check, and its name is taken.
func stop(t testing.TB, d Driver, k int, options ...discreet.Option) {
	t.Helper()
	first := store{dir: d.Dir}.sum(1)
	d.Engine = broken{do: func(r Round, p []Partial) ([]Partial, error) {
		if k == 1 {
			return p, os.Mkdir(first, 0o700)
		}
		if r.Task.Round == k {
			return nil, errStopped
		}
		return p, nil
	}}
	_, err := d.Evaluate(context.Background(), options...)
	if k == 1 && err != nil {
		if err = os.Remove(first); err == nil {
			err = errStopped
		}
	}
	if !errors.Is(err, errStopped) {
		t.Fatalf("round %d: %v; want it stopped", k, err)
	}
}

// answered is a partial of one shard for a task.
func answered(t testing.TB, task Task, shard string, key RunKey) Partial {
	t.Helper()
	text, err := task.Encode()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Answer(context.Background(), task, hashOf(text), shard, key)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// errStopped stops a driver between rounds.
var errStopped = errors.New("stopped")
