package scale

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
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

func (s stage) load(t testing.TB) discreet.Config {
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

// TestSevenShardsReleaseTheBytesOfOneProcess, through files, masks and tasks.
func TestSevenShardsReleaseTheBytesOfOneProcess(t *testing.T) {
	for _, overrides := range [][]string{
		nil,
		{"method.name=dp-refine", "target={kind: logged}", "data.behavior=null"},
		{"method.name=dp-dr", "privacy.adjacency=add_remove_one", "problem.persons=100"},
		{"method={name: dp-lsl, constants: balle16}", "target={kind: logged}", "data.behavior=null", "privacy.adjacency=add_remove_one", "problem.persons=100"},
		byPlace("group: fixed, persons: {0: 60, 1: 60}"),
		byPlace("group: may_change"),
		append(byPlace("guess: {0: 50}"), "privacy.adjacency=add_remove_one", "problem.persons=100"),
		append(byPlace("group: may_change"), "data.behavior={kind: estimate, actions: 2, once: false}"),
		{"data.behavior={kind: estimate, actions: 2, once: false}", "target=null", "targets=[{name: go, kind: constant, action: 1}, {name: even, kind: uniform, actions: 2}]", "contrasts=all"},
		{"method={name: dp-fqe}"},
		{"method={name: dp-fqe}", "features={kind: columns, names: [obs_state], low: [0], high: [39], intercept: true}"},
		{"method={name: dp-dr, baseline: model}"},
		{"method={name: dp-dr, baseline: model}", "features={kind: columns, names: [obs_state], low: [0], high: [39], intercept: true}"},
		{"method={name: dp-lsw, constants: balle16}", "target={kind: logged}", "data.behavior=null"},
		{"method={name: dp-pdis}", "target=null", "targets=[{name: go, kind: constant, action: 1}, {name: even, kind: uniform, actions: 2}]", "select=best"},
		{"method={name: dp-refine}", "start={kind: state, state: 0}"},
		{"method={name: dp-dr}", "data.behavior={kind: estimate, actions: 2, once: false}"},
		{"data.behavior={kind: estimate, by: features, actions: 2, once: false, share: 0.5}", "features={kind: columns, names: [obs_state], low: [0], high: [39], intercept: true}", "privacy.epsilon=20"},
	} {
		s := stageOf(t, 7, overrides...)
		d := s.driver(t)
		r, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(5)))
		if err != nil {
			t.Errorf("%v: %v", overrides, err)
			continue
		}
		if want := s.inOneProcess(t, 5); !bytes.Equal(r.JSON, want) {
			t.Errorf("%v: seven shards release\n%s\none process\n%s", overrides, r.JSON, want)
		}
	}
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

// TestPartialsThatDoNotBelongAreRefused by name and shard, and none makes a release.
func TestPartialsThatDoNotBelongAreRefused(t *testing.T) {
	var before []Partial // of the round before
	for name, c := range map[string]struct {
		do   func(r Round, parts []Partial) ([]Partial, error)
		want string
	}{
		"duplicate": {func(_ Round, p []Partial) ([]Partial, error) { return append(p, p[3]), nil }, "shard 3 is there twice"},
		"lost":      {func(_ Round, p []Partial) ([]Partial, error) { return append(p[:3:3], p[4:]...), nil }, "shard 3 is lost"},
		"none":      {func(Round, []Partial) ([]Partial, error) { return nil, nil }, "there is none"},
		"stale": {func(r Round, p []Partial) ([]Partial, error) {
			if r.Task.Round > 0 {
				p[3] = before[3]
			}
			before = p
			return p, nil
		}, "shard 3 is of round 0 and not of round 1"},
		"foreign run": {func(r Round, p []Partial) ([]Partial, error) {
			other := r.Task
			other.Run = Hash{1}
			p[3] = answered(t, other, r.Shards[3], r.Key)
			return p, nil
		}, "shard 3 is of another run"},
		"another task": {func(r Round, p []Partial) ([]Partial, error) {
			other := r.Task
			other.Persons++
			p[3] = answered(t, other, r.Shards[3], r.Key)
			return p, nil
		}, "shard 3 answers another task"},
		"another key": {func(r Round, p []Partial) ([]Partial, error) {
			p[3] = answered(t, r.Task, r.Shards[3], RunKey{8})
			return p, nil
		}, "check word"},
		"changed": {func(_ Round, p []Partial) ([]Partial, error) { p[3].words[0]++; return p, nil }, "check word"},
		"swapped words": {func(_ Round, p []Partial) ([]Partial, error) {
			p[3].words[0], p[3].words[1] = p[3].words[1], p[3].words[0]
			return p, nil
		}, "check word"},
	} {
		s := newStage(t)
		d := s.driver(t)
		d.Engine = broken{do: c.do}
		r, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(5)))
		if !errors.Is(err, ErrPartial) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
		if r != nil {
			t.Errorf("%s: a release was made", name)
		}
	}
}

// TestSizesOfFixedGroupsAreOfAllShards: no shard holds them alone, and a number that is
// wrong is refused before anything is charged.
func TestSizesOfFixedGroupsAreOfAllShards(t *testing.T) {
	s := newStage(t, byPlace("group: fixed, persons: {0: 59, 1: 61}")...)
	rounds := 0
	d := s.driver(t)
	d.Progress = func(int) { rounds++ }
	if _, err := d.Evaluate(context.Background()); !errors.Is(err, evaluate.ErrData) || !strings.Contains(err.Error(), `by.persons says 59 persons of group "place = 0" and the data hold 60`) || rounds != 1 {
		t.Errorf("%v after %d rounds; want a refusal after the check", err, rounds)
	}
}

// TestADrawWithAPrivateScaleIsMadeOnce: a driver of dp-lsw that is stopped after its noise
// was kept gives the release of that noise; nothing in the files of the run tells how
// large the noise is.
func TestADrawWithAPrivateScaleIsMadeOnce(t *testing.T) {
	s := newStage(t, "method={name: dp-lsw, constants: balle16}", "target={kind: logged}", "data.behavior=null")
	d := s.driver(t)
	first, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(5)))
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	d.Progress = func(int) { asked = true }
	again, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(6)))
	if want := s.inOneProcess(t, 5); !bytes.Equal(first.JSON, want) {
		t.Errorf("shards release\n%s\none process\n%s", first.JSON, want)
	}
	if err != nil || !bytes.Equal(first.JSON, again.JSON) || asked {
		t.Errorf("a second driver with other noise: %v, shards asked: %v, another release: %v", err, asked, !bytes.Equal(first.JSON, again.JSON))
	}
	var n kept
	if _, err := (store{dir: d.Dir, key: d.Key}).read(filepath.Join(d.Dir, "sum-0001.json"), &n); err != nil {
		t.Fatal(err)
	}
	if n.Sigma != 0 || len(n.Sum) != 40 {
		t.Errorf("the kept draw has sigma %v and %d numbers; want 0, and one for each of 40 states", n.Sigma, len(n.Sum))
	}
}

// errStopped stops a driver between rounds.
var errStopped = errors.New("stopped")

// TestAStoppedDriverGoesOnWithoutASecondDraw: stopped before any round, it makes in the
// end the release that the kept sums determine, and asks for no sum that was drawn.
func TestAStoppedDriverGoesOnWithoutASecondDraw(t *testing.T) {
	s := newStage(t, "method={name: dp-refine}", "target={kind: logged}", "data.behavior=null")
	want := s.inOneProcess(t, 5)
	for _, stop := range []int{1, 4, 5} {
		d := s.driver(t)
		d.Dir = filepath.Join(s.dir, fmt.Sprintf("run %d", stop))
		d.Engine = broken{do: func(r Round, p []Partial) ([]Partial, error) {
			if r.Task.Round == stop {
				return nil, errStopped
			}
			return p, nil
		}}
		if _, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(5))); !errors.Is(err, errStopped) {
			t.Fatalf("round %d: %v; want it stopped", stop, err)
		}
		kept, err := filepath.Glob(filepath.Join(d.Dir, "sum-*.json"))
		if err != nil || len(kept) != stop-1 {
			t.Fatalf("stopped in round %d: %d sums are kept, %v", stop, len(kept), err)
		}
		var rounds []int
		d.Engine, d.Progress = Local{}, func(k int) { rounds = append(rounds, k) }
		// Other noise: what was drawn before must come from the transcript.
		second, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(6)))
		if err != nil {
			t.Fatal(err)
		}
		if rounds[0] != stop || len(rounds) != 6-stop {
			t.Errorf("stopped in round %d, it goes on with rounds %v", stop, rounds)
		}
		third, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(7)))
		if err != nil || !bytes.Equal(second.JSON, third.JSON) {
			t.Errorf("a run that ended gives another release when it is asked again: %v", err)
		}
		if bytes.Equal(second.JSON, want) {
			t.Errorf("stopped in round %d: the rest of the noise is that of the first driver", stop)
		}
	}
}

// TestARunIsBoundToItsQuestionDataAndKey: each is refused where it changed.
func TestARunIsBoundToItsQuestionDataAndKey(t *testing.T) {
	s := newStage(t)
	d := s.driver(t)
	d.Engine = broken{do: func(r Round, p []Partial) ([]Partial, error) {
		if r.Task.Round == 2 {
			return nil, errStopped
		}
		return p, nil
	}}
	if _, err := d.Evaluate(context.Background()); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	d.Engine = Local{}
	other := stage{dir: s.dir, config: s.config, shards: s.shards, overrides: []string{"privacy.epsilon=1"}}.driver(t)
	if _, err := other.Evaluate(context.Background()); !errors.Is(err, ErrRun) {
		t.Errorf("another question goes on with the run: %v", err)
	}
	keyed := d
	keyed.Key = RunKey{10}
	if _, err := keyed.Evaluate(context.Background()); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), "run.json: its MAC is wrong") {
		t.Errorf("another key goes on with the run: %v", err)
	}
	moved := d
	var err error
	if moved.Shards, err = write(people(t, 120, 4), filepath.Join(s.dir, "others"), 4, [16]byte{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := moved.Evaluate(context.Background()); !errors.Is(err, ErrShard) {
		t.Errorf("other data go on with the run: %v", err)
	}
	if err := os.Remove(filepath.Join(d.Dir, "run.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Evaluate(context.Background()); !errors.Is(err, ErrRun) {
		t.Errorf("sums without their run go on: %v", err)
	}
}

// TestTwoDriversShareOneDraw: who comes second to the name of a sum goes on with what is
// there.
func TestTwoDriversShareOneDraw(t *testing.T) {
	s := store{dir: t.TempDir(), key: RunKey{9}, run: Hash{7}}
	first, err := s.keep(1, Noisy{Step: 1, Sigma: 2, Sum: []int64{3}})
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.keep(1, Noisy{Step: 1, Sigma: 2, Sum: []int64{4}})
	if err != nil || second.Sum[0] != first.Sum[0] {
		t.Errorf("two drivers keep %v and %v for one round: %v", first, second, err)
	}
}

// TestShardsThatAreNotTheirsAreRefused: files that say they are other shards than they
// are, sets that are not whole, and persons where they do not belong.
func TestShardsThatAreNotTheirsAreRefused(t *testing.T) {
	s := newStage(t)
	if _, err := Set(s.shards[1:]); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "shard 0 of 4 is missing") {
		t.Errorf("a set without shard 0: %v", err)
	}
	if _, err := Set(append(s.shards, s.shards[2])); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "both shard 2") {
		t.Errorf("shard 2 twice: %v", err)
	}
	others, err := write(people(t, 120, 3), filepath.Join(s.dir, "others"), 4, [16]byte{2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Set(append(s.shards[:3:3], others[3])); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "two sets") {
		t.Errorf("two sets: %v", err)
	}
	place, err := PlaceOf(s.shards[2])
	if err != nil {
		t.Fatal(err)
	}
	d := people(t, 120, 3)
	var here, there []int
	for i, id := range d.PersonID {
		if place.holds(id) {
			here = append(here, i)
		} else {
			there = append(there, i)
		}
	}
	if err := place.check("x", d.Take(here[:1]).PersonID); err != nil {
		t.Errorf("a person of the shard: %v", err)
	}
	if err := place.check("x", d.Take(there[:1]).PersonID); !errors.Is(err, ErrShard) {
		t.Errorf("a person of another shard: %v", err)
	}
	if err := place.check("x", d.Take([]int{here[0], here[0]}).PersonID); !errors.Is(err, ErrShard) {
		t.Errorf("a person twice: %v", err)
	}
	if _, err := Write(d, filepath.Join(s.dir, "many"), 5000); !errors.Is(err, ErrShard) {
		t.Errorf("more shards than persons: %v", err)
	}
}

// TestEveryPersonIsInOneShard, with all that was said of them.
func TestEveryPersonIsInOneShard(t *testing.T) {
	s := newStage(t)
	d := people(t, 120, 3)
	seen := map[string]int{}
	rows := 0
	parts, err := discreet.NewParts(s.load(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range s.shards {
		part, err := parts.Read(context.Background(), path, false)
		if err != nil {
			t.Fatal(err)
		}
		rows += part.Rows
		for _, id := range part.Persons {
			seen[id]++
		}
	}
	if rows != d.Rows() || len(seen) != d.Persons() {
		t.Errorf("%d rows of %d persons in shards, %d of %d before", rows, len(seen), d.Rows(), d.Persons())
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s is in %d shards", id, n)
		}
	}
}

// TestFaultsGoToTheCurator: an error names the shard, and its file says where.
func TestFaultsGoToTheCurator(t *testing.T) {
	s := newStage(t, "data.on_violation=reject", "problem.reward={min: 0, max: 0.5, outside: reject}", "problem.return={min: 0, max: 0.5}")
	d := s.driver(t)
	_, err := d.Evaluate(context.Background())
	if !errors.Is(err, ErrShard) || strings.Contains(err.Error(), "row") || strings.Contains(err.Error(), "reward") {
		t.Errorf("faulty shards: %v; want an error without what is wrong", err)
	}
	found, globbed := filepath.Glob(filepath.Join(s.dir, "shards", "*"+faultsSuffix))
	if globbed != nil || len(found) == 0 {
		t.Fatalf("%d files of faults, %v", len(found), globbed)
	}
	text, err := os.ReadFile(found[0])
	if err != nil || !strings.Contains(string(text), "reward") {
		t.Errorf("the curator reads %q, %v", text, err)
	}
	info, err := os.Stat(found[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(d.Dir, "run.json")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the run was charged although a shard did not pass")
	}
}

// TestRemarksAreOfTheirShard: the number of all persons is none of a shard's, and what an
// earlier check remarked does not stay.
func TestRemarksAreOfTheirShard(t *testing.T) {
	remarks := func(s stage) string {
		found, err := filepath.Glob(filepath.Join(s.dir, "shards", "*"+remarksSuffix))
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		return all.String()
	}
	s := newStage(t, "problem.reward={min: 0, max: 0.5, outside: clip}", "problem.return=null")
	if _, err := s.driver(t).Evaluate(context.Background()); err != nil {
		t.Fatal(err)
	}
	if told := remarks(s); !strings.Contains(told, "rewards outside their bounds") || strings.Contains(told, "problem.persons") {
		t.Errorf("of rewards that are clipped, in four shards of a right number of persons, the curator reads %q", told)
	}
	for name, next := range map[string]func() error{
		"nothing to remark": func() error { return remark(s.shards[0], nil) },
		"a fault":           func() error { return faulty(context.Background(), 0, s.shards[0], errStopped) },
	} {
		if err := remark(s.shards[0], []string{"doubtful"}); err != nil {
			t.Fatal(err)
		}
		if err := next(); err != nil && !errors.Is(err, ErrShard) {
			t.Fatal(err)
		}
		if _, err := os.Lstat(s.shards[0] + remarksSuffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s, and the remark of an earlier check stays: %v", name, err)
		}
	}
}

// TestMethodsThatNeedAllPersonsAreRefusedBeforeAnyShardIsRead.
func TestMethodsThatNeedAllPersonsAreRefusedBeforeAnyShardIsRead(t *testing.T) {
	for name, overrides := range map[string][]string{
		"gpope":   {"method={name: gpope}"},
		"pick":    {"target=null", "method={name: dp-wis}", "targets=[{name: stay, kind: constant, action: 0}, {name: go, kind: constant, action: 1}]", "select={best: permute-and-flip}"},
		"fast":    {"privacy.noise=fast"},
		"none":    {"privacy=none", "method={name: wis}"},
		"episode": {"privacy.unit=episode"},
		"counted": {"problem.persons=0"},
	} {
		d := newStage(t, overrides...).driver(t)
		asked := false
		d.Progress = func(int) { asked = true }
		if _, err := d.Evaluate(context.Background()); err == nil || asked {
			t.Errorf("%s: %v, shards asked: %v", name, err, asked)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}
