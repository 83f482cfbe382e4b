package discreet_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/charging"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/yamlfile"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// stewardsKeys change what is the steward's of the configuration of onChain, one key each,
// and questionKeys what is the question's.
var (
	stewardsKeys = []string{
		"data.format=csv", "data.columns={reward: click}", "data.one_row_episodes=true", "data.missing=zero", "data.encode={obs_x: {values: [u], other: true}}", "data.means={obs_state: 1}; data.missing=mean", "data.on_violation=reject",
		"data.behavior={source: logged}", "data.behavior={source: logged, kind: density}; target={kind: column}; method={name: dp-is}", "data.actions=[a, b]", "data.encode={obs_x: [u, v]}", "data.steps={from: 1}", "data.steps={sort: true}", "data.columns={episode_id: [episode_id, obs_state]}", "data.separator=tab", "data.na=[NA]", "data.multiline=true", "data.reward={missing: zero}", "data.episode_per_person=true", "data.episodes={restart: step}", "data.rows=visits",
		"problem.persons=7", "problem.gamma=0.5", "problem.discounts=true", "problem.reward.max=9", "problem.reward.outside=clip", "problem.return={min: 0, max: 2}", "problem.horizon=2", "problem.episode_horizon=1",
		"problem.episodes=2", "problem.end=truncated", "problem.records=complete", "features={kind: tabular, states: 3, column: obs_y}", "privacy.large_delta=true", "privacy.noise=fast", "privacy.noise_family=gaussian",
		"data.outcome={causes: {x: 1}}; target={kind: logged}; data.behavior=null; method={name: dp-survival}", "contract={failed_checks: 99}",
		"by={column: obs_state, values: [0, 1], group: fixed, persons: {0: 1, 1: 1}}",
	}
	questionKeys = []string{
		"target={kind: uniform, actions: 2}", "method={name: dp-is}", "privacy.epsilon=0.1", "privacy.delta=1e-7", "privacy.noise=exact", "ledger.analyst=bob", "ledger.purpose=why",
		"start={kind: uniform}", "justification=why", "target=null; targets=[{name: a, kind: uniform, actions: 2}, {name: b, kind: logged}]; levels=none; contrasts=all",
		"method={name: dp-is}; by={column: obs_state, values: [0, 1], group: may_change}",
		"target=null; targets=[{name: a, kind: uniform, actions: 2}, {name: b, kind: logged}]; select=best",
	}
)

// Every key that a configuration has is in the contract but those that are listed
// here: a new one is the steward's until somebody decides otherwise. What an
// evaluation changes of them is refused by name, before the data are opened.
func TestEveryOtherKeyIsTheStewards(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-5})
	if _, err := discreet.SetContract(context.Background(), c, filepath.Join(c.Dir, c.Ledger.Path), "", ""); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(c.Dir, c.Data.Path[0]), filepath.Join(t.TempDir(), "away")); err != nil {
		t.Fatal(err)
	}
	for _, set := range stewardsKeys {
		bad := change(t, c, set)
		_, err := discreet.Evaluate(context.Background(), bad)
		key, _, _ := strings.Cut(set, "=")
		if !errors.Is(err, ledger.ErrContract) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v; want a refusal that names it", set, err)
		}
	}
	for _, set := range questionKeys {
		if _, err := discreet.Evaluate(context.Background(), change(t, c, set)); errors.Is(err, ledger.ErrContract) || err == nil {
			t.Errorf("%s: %v; want an error about the data that are away", set, err)
		}
	}
	// The lists above name every section and key that there is.
	tree, err := yamlfile.Tree(c)
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"by", "contract", "data", "features", "justification", "ledger", "levels", "method", "output", "privacy", "problem", "select", "sign", "start", "target", "targets", "contrasts"}
	for key := range tree {
		if !slices.Contains(known, key) {
			t.Errorf("key %s: say whose it is", key)
		}
	}
	for section, n := range map[string]int{"data": 19, "problem": 10, "privacy": 7} {
		if got := len(tree[section].(map[string]any)); got != n {
			t.Errorf("section %s has %d keys, and %d are known: say whose the new ones are", section, got, n)
		}
	}
}

// change is a configuration with one key set, through its YAML.
func change(t *testing.T, c config.Config, set string) config.Config {
	t.Helper()
	tree, err := yamlfile.Tree(c)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for key, value := range tree {
		text += fmt.Sprintf("%s: %s\n", key, flow(value))
	}
	out, err := discreet.Parse("c.yaml", []byte(text), strings.Split(set, "; ")...)
	if err != nil {
		t.Fatalf("%s: %v of\n%s", set, err, text)
	}
	out.Dir = c.Dir
	return out
}

// flow writes a value as YAML that stands on one line.
func flow(value any) string {
	switch value := value.(type) {
	case map[string]any:
		var parts []string
		for k, v := range value {
			if text := flow(v); text == "{}" || text == "[]" {
				continue
			}
			parts = append(parts, fmt.Sprintf("%q: %s", k, flow(v)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		var parts []string
		for _, v := range value {
			parts = append(parts, flow(v))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return fmt.Sprintf("%q", value)
	case nil:
		return "null"
	}
	return fmt.Sprint(value)
}

// To give up before the data are opened is no failed check, and neither are files that
// are not there.
func TestGivingUpIsNoFailedCheck(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-5})
	l := open(t, c)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := discreet.Evaluate(ctx, c); err == nil {
		t.Fatal("no error")
	}
	c.Problem.Persons = 99
	c.Data.Path = config.Names{"absent.csv"}
	if _, err := discreet.Evaluate(context.Background(), c); err == nil {
		t.Fatal("no error")
	}
	if all, err := l.FailedChecks(context.Background()); err != nil || len(all) != 0 {
		t.Errorf("%v, %v; want none", all, err)
	}
}

// whenRead replaces the data by such as no evaluation takes, and returns what it says.
func whenRead(t *testing.T, c config.Config, options ...discreet.Option) error {
	t.Helper()
	path := filepath.Join(c.Dir, c.Data.Path[0])
	if err := os.WriteFile(path, []byte("no_such_column\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := discreet.Evaluate(context.Background(), c, options...)
	if err == nil {
		t.Fatal("no error")
	}
	return err
}

// What the ledger would not charge opens no data: it is refused in the same words
// whatever the data hold, and no check is noted.
func TestTheLedgerIsAskedBeforeTheData(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-5})
	l := open(t, c)
	if err := l.SetShare(context.Background(), "ada", dp.Budget{Epsilon: 3, Delta: 9e-6}); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		set  func(*config.Config)
		key  string
		want error
	}{
		"no persons":        {set: func(c *config.Config) { c.Problem.Persons = 0 }, want: config.ErrConfig},
		"not on the list":   {set: func(c *config.Config) { c.Ledger.Analyst = "eve" }, want: ledger.ErrAnalyst},
		"nobody":            {set: func(c *config.Config) { c.Ledger.Analyst = "" }, want: ledger.ErrAnalyst},
		"an invisible mark": {set: func(c *config.Config) { c.Ledger.Analyst = "eve\u0001" }, want: ledger.ErrCharge},
		"a long name":       {set: func(c *config.Config) { c.Ledger.Analyst = strings.Repeat("e", 5000) }, want: ledger.ErrCharge},
		"a purpose":         {set: func(c *config.Config) { c.Ledger.Purpose = "two\nlines" }, want: ledger.ErrCharge},
		"a key":             {key: "two\nlines", want: ledger.ErrCharge},
		"beyond the budget": {set: func(c *config.Config) { c.Privacy.Epsilon = 6 }, want: ledger.ErrBudget},
		"beyond the share":  {set: func(c *config.Config) { c.Privacy.Epsilon = 3 }, want: ledger.ErrShare},
	} {
		bad, keeper := c, *c.Ledger
		bad.Ledger = &keeper
		if x.set != nil {
			x.set(&bad)
		}
		var options []discreet.Option
		if x.key != "" {
			options = append(options, discreet.WithKey(x.key))
		}
		if err := whenRead(t, bad, options...); !errors.Is(err, x.want) || strings.Contains(err.Error(), "no_such_column") {
			t.Errorf("%s: %v; want %v", name, err, x.want)
		}
	}
	if all, err := l.FailedChecks(context.Background()); err != nil || len(all) != 0 {
		t.Errorf("%v, %v; want none", all, err)
	}
	if err := whenRead(t, c); !errors.Is(err, trajectory.ErrInput) || !strings.Contains(err.Error(), "this is failed check 1 of 3") {
		t.Errorf("%v; want a failed check", err)
	}
}

// While the ledger cannot be written nothing is read.
func TestALockedLedgerOpensNoData(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-5})
	db, err := sql.Open("sqlite", filepath.Join(c.Dir, c.Ledger.Path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(c.Dir, c.Data.Path[0])
	if err := os.WriteFile(path, []byte("no_such_column\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := discreet.Evaluate(ctx, c); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, trajectory.ErrInput) {
		t.Errorf("%v; want that the ledger is locked", err)
	}
	if _, err := db.Exec(`ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if all, err := open(t, c).FailedChecks(context.Background()); err != nil || len(all) != 0 {
		t.Errorf("%v, %v; want none", all, err)
	}
}

// A run that is cancelled again and again under its key is one check, which its charge takes
// back; of other data it is another one.
func TestACancelledCheckGoesOnUnderItsKey(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-5})
	l := open(t, c)
	interrupt := func(key string, want int) {
		t.Helper()
		for range 5 {
			ctx, cancel := context.WithCancel(context.Background())
			_, err := discreet.Evaluate(ctx, c, discreet.WithKey(key), discreet.WithProgress(func(trajectory.Progress) { cancel() }))
			if cancel(); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "--key "+key) {
				t.Fatal(err)
			}
			if all, err := l.FailedChecks(context.Background()); err != nil || len(all) != want {
				t.Fatalf("%v, %v; want %d", all, err, want)
			}
		}
	}
	interrupt("monday", 1)
	if _, err := discreet.Evaluate(context.Background(), c, discreet.WithKey("monday")); err != nil {
		t.Fatal(err)
	}
	if all, err := l.FailedChecks(context.Background()); err != nil || len(all) != 0 {
		t.Errorf("%v, %v; want none", all, err)
	}
	interrupt("tuesday", 1)
	path := filepath.Join(c.Dir, c.Data.Path[0])
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	interrupt("tuesday", 2)
	interrupt("wednesday", 3)
	if _, err := discreet.Evaluate(context.Background(), c, discreet.WithKey("thursday")); !errors.Is(err, ledger.ErrChecks) {
		t.Errorf("after three: %v; want ErrChecks", err)
	}
}

// A run that is cancelled once it reads has told that nothing failed so far: it counts.
func TestACancelledCheckCounts(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-5})
	l := open(t, c)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := discreet.Evaluate(ctx, c, discreet.WithProgress(func(trajectory.Progress) {
		// It counts while it runs already: a process that is killed leaves it.
		if all, err := l.FailedChecks(context.Background()); err != nil || len(all) != 1 {
			t.Errorf("%v, %v; want one while the data are read", all, err)
		}
		cancel()
	}))
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "after any other check it counts as failed, as 1 of 3") {
		t.Errorf("%v; want a check that was cut off", err)
	}
	if all, err := l.FailedChecks(context.Background()); err != nil || len(all) != 1 || all[0].Analyst != "ada" {
		t.Errorf("%v, %v; want one of ada", all, err)
	}
	if _, err := discreet.Evaluate(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if all, err := l.FailedChecks(context.Background()); err != nil || len(all) != 1 {
		t.Errorf("%v, %v; want the one of before", all, err)
	}
}

// A public mean of 0 is a mean, and so the contract's: it is neither left out nor added.
func TestAnEntryOfZeroIsOfTheContract(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-5})
	c.Data.Missing = "mean"
	one, two := c, c
	one.Data.Means = map[string]float64{"obs_state": 0}
	two.Data.Means = map[string]float64{"obs_state": 0, "obs_other": 0}
	for i, x := range []struct {
		contract, asked config.Config
		reason          string
	}{{one, two, ""}, {two, one, "another mean"}} {
		body, err := charging.SetContract(context.Background(), x.contract, filepath.Join(c.Dir, c.Ledger.Path), "", x.reason)
		if err != nil || !strings.Contains(string(body.Terms), `"obs_state":0}`) {
			t.Fatalf("%v", err)
		}
		if _, err := discreet.Evaluate(context.Background(), x.asked); !errors.Is(err, ledger.ErrContract) || !strings.Contains(err.Error(), "data.means.obs_other") {
			t.Errorf("%d: %v; want a refusal that names the mean", i, err)
		}
		if _, err := discreet.Evaluate(context.Background(), x.contract); errors.Is(err, ledger.ErrContract) {
			t.Errorf("%d: %v", i, err)
		}
	}
}
