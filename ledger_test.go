package discreet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/schema"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// onChain is an evaluation of 100 simulated persons that charges a new ledger of
// the given budget.
func onChain(t *testing.T, budget dp.Budget) config.Config {
	t.Helper()
	dir := t.TempDir()
	data, err := chain.Simulate(chain.Options{Episodes: 100, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Write(filepath.Join(dir, "chain.csv"), "csv", data); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Create(context.Background(), filepath.Join(dir, "budget.db"), ledger.Config{Dataset: "chain", Adjacency: dp.ReplaceOne, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return config.Config{
		Dir:  dir,
		Data: config.Data{Path: config.Names{"chain.csv"}},
		Problem: config.Problem{Persons: 100, Gamma: 0.99, Horizon: 1000,
			Reward: &config.Bounds{Range: evaluate.Range{Min: 0, Max: 1}}, Return: &evaluate.Range{Min: 0, Max: 1}},
		Features: &feature.Spec{Kind: "tabular", States: chain.States, Column: chain.Column},
		Target:   config.Target{Kind: "logged"},
		Method:   config.Method{Name: "dp-is"},
		Privacy:  config.Privacy{Adjacency: "replace_one", Epsilon: 1, Delta: 1e-6},
		Ledger:   &config.Ledger{Path: "budget.db", Analyst: "ada"},
	}
}

func open(t *testing.T, c config.Config) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(context.Background(), filepath.Join(c.Dir, c.Ledger.Path), c.Ledger.Dataset)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// Whatever the method, and so whatever the event: the charge is committed, the
// release is recorded as it is shown, follows the schema, is signed, and another
// person with the ledger can check it.
func TestEveryMethodsReleaseProvesItself(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 1000, Delta: 1e-4})
	public, err := signature.Generate(filepath.Join(c.Dir, "key.pem"), filepath.Join(c.Dir, "key.pub.pem"))
	if err != nil {
		t.Fatal(err)
	}
	c.Sign, c.Justification = "key.pem", "A test."
	l := open(t, c)
	charges := int64(0)
	for _, m := range evaluate.Methods() {
		if !m.Private {
			continue
		}
		c.Method = config.Method{Name: m.Name}
		if m.Name == "gpope" {
			c.Method.Params = map[string]any{"iterations": 10, "sampling": "everyone"}
		}
		if m.NeedOutcome { // the last but the constant, which takes an outcome too
			c.Data.Outcome, c.Data.Behavior, c.Features = &config.Outcome{}, nil, nil
			c.Problem = config.Problem{Persons: c.Problem.Persons, Horizon: 60, Episodes: 1}
		}
		c.Ledger.Purpose = "try " + m.Name
		asked := c
		if m.NeedArms {
			asked.Features = nil
			asked.By = &config.By{Column: "obs_state", Values: &config.Vocabulary{Words: []string{"0", "1"}, Numeric: true}, Names: []string{"first", "second"}, Group: "may_change"}
			asked.Method.Params = map[string]any{"control": "first", "allocation": map[string]any{"first": 0.5, "second": 0.5}}
		}
		if m.Learns {
			asked.Target, asked.Data.Behavior = config.Target{Kind: "learned", Actions: 2}, &config.Behavior{Source: "design", Kind: "uniform", Actions: 2}
			asked.Problem.Horizon, asked.Problem.Return = 1, nil
		}
		result, err := discreet.Evaluate(context.Background(), asked)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		charges++
		if err := schema.Check(schema.Release, result.JSON); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if err := signature.Verify(result.JSON, public); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if err := l.VerifyRelease(context.Background(), result.JSON); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		e := result.Release.Ledger
		if sum := e.Shares.Before + e.Shares.This + e.Shares.Left; sum < 0.999 || sum > 1.001 || (e.Shares.This == 0) != (m.Name == "constant") {
			t.Errorf("%s: shares %+v", m.Name, e.Shares)
		}
		if e.Purpose != c.Ledger.Purpose || e.Analyst != "ada" || !result.Release.Privacy.Charged {
			t.Errorf("%s: %+v", m.Name, e)
		}
	}
	s, err := l.State(context.Background())
	if err != nil || s.Charges != charges || s.PendingCount != 0 || charges < 10 {
		t.Errorf("%d charges of %d methods, %d pending, %v", s.Charges, charges, s.PendingCount, err)
	}
	if err := l.Verify(context.Background()); err != nil {
		t.Error(err)
	}
}

// Of 16 calls at once on one budget as many are paid as its theorem admits: the
// mu^2 of (1, 1e-6) each, within that of three quarters of epsilon and half of
// delta, the rest being the reserve. The others are told what would fit.
func TestConcurrentCallsShareOneBudget(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 2.6, Delta: 1e-5})
	one, err := account.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	most, err := account.GaussianMu(dp.Budget{Epsilon: 1.95, Delta: 5e-6})
	if err != nil {
		t.Fatal(err)
	}
	want := int64(most.Lower * most.Lower / (one.Lower * one.Lower))
	c.Contract = &config.Terms{FailedChecks: 16}
	if _, err := discreet.SetContract(context.Background(), c, filepath.Join(c.Dir, c.Ledger.Path), "", ""); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	results := make([]error, 16)
	for i := range results {
		all.Go(func() { _, results[i] = discreet.Evaluate(context.Background(), c) })
	}
	all.Wait()
	paid := int64(0)
	for _, err := range results {
		var refused *ledger.RefusedError
		switch {
		case err == nil:
			paid++
		case !errors.As(err, &refused):
			t.Error(err)
		case !(refused.Epsilon > 0 && refused.Epsilon < 1 && refused.Noise > 1):
			t.Errorf("what would fit: epsilon %v, %v times the noise", refused.Epsilon, refused.Noise)
		}
	}
	s, err := open(t, c).State(context.Background())
	if err != nil || paid != want || s.Charges != want || s.PendingCount != 0 || want < 3 {
		t.Errorf("%d paid and %d charged, want %d; %d pending, %v", paid, s.Charges, want, s.PendingCount, err)
	}
	funds, err := discreet.Budget(context.Background(), c, mustPlan(t, c))
	if err != nil || !errors.Is(funds.Refused, ledger.ErrBudget) {
		t.Errorf("after the race another one fits: %v", err)
	}
}

func mustPlan(t *testing.T, c config.Config) *evaluate.Plan {
	t.Helper()
	p, err := discreet.Plan(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestARetryReturnsTheRecordedBytes(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-5})
	first, err := discreet.Evaluate(context.Background(), c, discreet.WithKey("k"))
	if err != nil || first.Repeated {
		t.Fatalf("repeated %v, %v", first.Repeated, err)
	}
	if err := os.Remove(filepath.Join(c.Dir, "chain.csv")); err != nil {
		t.Fatal(err)
	}
	again, err := discreet.Evaluate(context.Background(), c, discreet.WithKey("k"))
	if err != nil || !again.Repeated || !bytes.Equal(first.JSON, again.JSON) || again.Release.Answers[0].Estimate.Value != first.Release.Answers[0].Estimate.Value {
		t.Errorf("a retry without the data: repeated %v, %v", again.Repeated, err)
	}
	c.Privacy.Epsilon = 0.9
	if _, err := discreet.Evaluate(context.Background(), c, discreet.WithKey("k")); !errors.Is(err, ledger.ErrKeyReused) {
		t.Errorf("another question under the key: %v; want ErrKeyReused", err)
	}
}

// atNoise is called when the first sums of a run have become noisy, and with each after
// them.
type atNoise func()

func (f atNoise) Release(_, _ float64, _, _ []int64) { f() }

// A run that is cancelled after its charge is pending: never free, never run again.
func TestACancelledRunIsPending(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-5})
	c.Method = config.Method{Name: "gpope", Params: map[string]any{"sampling": "everyone", "iterations": 1000000}}
	l := open(t, c)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := discreet.Evaluate(ctx, c, discreet.WithKey("k"), discreet.WithSource(noise.NewTaped(1, atNoise(cancel))))
	var pending *ledger.PendingError
	if !errors.As(err, &pending) || !errors.Is(err, context.Canceled) || pending.Seq != 1 || pending.Key != "k" || pending.Dataset != "chain" {
		t.Fatalf("%v; want a PendingError of entry 1", err)
	}
	s, err := l.State(context.Background())
	if err != nil || s.PendingCount != 1 || !(s.Spent.Epsilon > 0) {
		t.Errorf("%d pending, spent %v, %v", s.PendingCount, s.Spent, err)
	}
	if _, err := discreet.Evaluate(context.Background(), c, discreet.WithKey("k")); !errors.Is(err, ledger.ErrPending) {
		t.Errorf("again: %v; want ErrPending", err)
	}
}

// What is wrong with the data or the configuration is found before the charge.
func TestErrorsBeforeTheChargeCostNothing(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-5})
	l := open(t, c)
	for name, spoil := range map[string]func(*config.Config){
		"persons":   func(c *config.Config) { c.Problem.Persons = 99 },
		"data":      func(c *config.Config) { c.Data.Path = config.Names{"absent.csv"} },
		"bounds":    func(c *config.Config) { c.Problem.Reward.Max, c.Data.OnViolation = 0.5, "reject" },
		"output":    func(c *config.Config) { c.Output.Dir = "chain.csv" },
		"key":       func(c *config.Config) { c.Sign = "absent.pem" },
		"adjacency": func(c *config.Config) { c.Privacy.Adjacency = "add_remove_one" },
		"no number": func(c *config.Config) { c.Data.Means = map[string]float64{"obs_x": math.NaN()} },
		"purpose":   func(c *config.Config) { c.Ledger.Purpose = "two\nlines" },
		"dataset":   func(c *config.Config) { c.Ledger.Dataset = "another" },
	} {
		bad, problem, reward, keeper := c, c.Problem, *c.Problem.Reward, *c.Ledger
		problem.Reward = &reward
		bad.Problem, bad.Ledger = problem, &keeper
		spoil(&bad)
		if _, err := discreet.Evaluate(context.Background(), bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if s, err := l.State(context.Background()); err != nil || s.Charges != 0 {
		t.Errorf("%d charges, %v", s.Charges, err)
	}
}

// A file that is written while it is read is refused before the charge: its rows may be of
// two versions.
func TestAFileThatChangesIsNotCharged(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-5})
	l := open(t, c)
	path := filepath.Join(c.Dir, "chain.csv")
	touched := false
	_, err := discreet.Evaluate(context.Background(), c, discreet.WithProgress(func(trajectory.Progress) {
		touched = true
		if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
			t.Error(err)
		}
	}))
	if !touched || !errors.Is(err, trajectory.ErrInput) || !strings.Contains(err.Error(), "was changed while it was read") {
		t.Errorf("changed %v: %v", touched, err)
	}
	if s, err := l.State(context.Background()); err != nil || s.Charges != 0 {
		t.Errorf("%d charges, %v", s.Charges, err)
	}
}

// The hash changes with every part of the question, and with nothing else.
func TestTheHashNamesTheQuestion(t *testing.T) {
	const base = `
data: {path: a.csv, missing: mean, means: {obs_age: 50}}
problem: {persons: 312, gamma: 1, horizon: 16, reward: {min: 0, max: 1}}
target: {kind: table, path: pi.csv, column: obs_state}
method: {name: dp-wis, max_weight: 2}
privacy: {adjacency: replace_one, epsilon: 1, delta: 1e-5}
`
	dir := t.TempDir()
	policy := filepath.Join(dir, "pi.csv")
	write := func(text string) {
		if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hash := func(sets ...string) string {
		c, err := discreet.Parse("x.yaml", []byte(base), sets...)
		if err != nil {
			t.Fatal(err)
		}
		c.Dir = dir
		h, err := c.Hash()
		if err != nil || len(h) != 64 {
			t.Fatalf("%q, %v", h, err)
		}
		return h
	}
	write("0.5,0.5\n")
	first := hash()
	for _, same := range []string{"output.dir=out", "ledger={path: b.db, analyst: eve}", "sign=key.pem", "privacy.epsilon=1.0", "problem.persons=312"} {
		if hash(same) != first {
			t.Errorf("%s changes the hash", same)
		}
	}
	seen := map[string]string{first: "the question"}
	for _, other := range []string{
		"data.path=b.csv", "data.missing=zero", "data.means={obs_age: 51}", "data.format=csv", "data.one_row_episodes=true", "data.columns={reward: click}",
		"problem.persons=313", "problem.gamma=0.9", "problem.horizon=17", "problem.reward.max=2", "problem.reward.outside=clip", "problem.episodes=2",
		"problem.return={min: 0, max: 3}", "problem.discounts=true", "features={kind: tabular, states: 3, column: obs_state}",
		"target.column=obs_x", "target={kind: constant, action: 0}", "target={kind: constant, action: 1}", "method={name: dp-is, max_weight: 2}",
		"method.max_weight=3", "privacy.epsilon=0.5", "privacy.delta=1e-6", "privacy.adjacency=add_remove_one", "privacy.noise=fast",
		"privacy.large_delta=true", "privacy=none", "justification=because",
	} {
		h := hash(other)
		if before, ok := seen[h]; ok {
			t.Errorf("%s has the hash of %s", other, before)
		}
		seen[h] = other
	}
	write("0.4,0.6\n")
	if h := hash(); seen[h] != "" {
		t.Errorf("another policy in the same file has the hash of %s", seen[h])
	}
}

// A copy of the data is recognised under other names, in files of another order
// and through a link; data that were changed are others.
func TestCopiesOfTheDataAreNoticed(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 50, Delta: 1e-4})
	in := func(name string) string { return filepath.Join(c.Dir, name) }
	text, err := os.ReadFile(in("chain.csv"))
	if err != nil {
		t.Fatal(err)
	}
	header, rows, _ := bytes.Cut(text, []byte("\n"))
	middle := bytes.Index(rows, []byte("\n50,")) + 1 // where episode 50 begins
	half := func(part []byte) []byte { return bytes.Join([][]byte{header, part}, []byte("\n")) }
	for name, content := range map[string][]byte{
		"copy.csv": text, "longer.csv": append(bytes.Clone(text), '\n'),
		"a1.csv": half(rows[:middle]), "a2.csv": half(rows[middle:]), "b2.csv": half(rows[:middle]), "b1.csv": half(rows[middle:]),
	} {
		if err := os.WriteFile(in(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("chain.csv", in("link.csv")); err != nil {
		t.Skip("no links here")
	}
	for _, step := range []struct {
		dataset, path string
		copied        bool
	}{
		{"chain", "chain.csv", false}, {"second", "copy.csv", true}, {"third", "link.csv", true}, {"fourth", "longer.csv", false},
		{"fifth", "a?.csv", false}, {"sixth", "b?.csv", true},
	} {
		if step.dataset != "chain" {
			l, err := ledger.Create(context.Background(), in("budget.db"), ledger.Config{Dataset: step.dataset, Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 50, Delta: 1e-4}})
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		run := c
		run.Ledger = &config.Ledger{Path: "budget.db", Dataset: step.dataset}
		run.Data.Path = config.Names{step.path}
		result, err := discreet.Evaluate(context.Background(), run)
		if err != nil {
			t.Fatalf("%s: %v", step.path, err)
		}
		if got := strings.Contains(fmt.Sprint(result.Notices), "also charged as dataset"); got != step.copied {
			t.Errorf("%s as %s: noticed %v, want %v: %q", step.path, step.dataset, got, step.copied, result.Notices)
		}
		if bytes.Contains(result.JSON, []byte("also charged")) {
			t.Error("a notice for the curator is in the release")
		}
	}
}
