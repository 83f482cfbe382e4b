//go:build slow && unix

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/fault"
)

const crashConfig = `
data: {path: chain.csv}
problem: {persons: 200, gamma: 0.99, reward: {min: 0, max: 1}, return: {min: 0, max: 1}, horizon: 1000}
target: {kind: logged}
method: {name: dp-is}
privacy: {adjacency: replace_one, epsilon: 0.1, delta: 1e-8}
ledger: {path: budget.db}
output: {dir: out}
`

// TestKilledEvaluationsNeverReleaseForFree kills whole evaluations (SIGKILL) at
// random moments and retries each once with its key. Whatever the moment: a
// release that exists was charged, recorded and verifies; a retry returns it, or
// says that the charge is pending, and charges nothing itself unless nothing was
// charged before; the sums are right at the end.
func TestKilledEvaluationsNeverReleaseForFree(t *testing.T) {
	const runs = 300
	dir := t.TempDir()
	discreet := func(args ...string) *exec.Cmd {
		cmd := exec.Command("discreet", args...)
		cmd.Dir = dir
		return cmd
	}
	if out, err := discreet("simulate", "chain", "--episodes", "200", "--seed", "7", "-o", "chain.csv").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "ask.yaml"), []byte(crashConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	location := filepath.Join(dir, "budget.db")
	l, err := ledger.Create(context.Background(), location, ledger.Config{Dataset: "chain", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 20, Delta: 1e-5}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// How long a whole run takes bounds the moments of death.
	began := time.Now()
	if out, err := discreet("evaluate", "ask.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := time.Since(began)
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	for i := range runs {
		charged := i + 1 // by the runs and retries before
		key, out := fmt.Sprintf("run-%d", i), fmt.Sprintf("out-%d", i)
		cmd := discreet("evaluate", "ask.yaml", "--key", key, "--set", "output.dir="+out)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.Float64() * 1.2 * float64(whole)))
		if err := cmd.Process.Kill(); err != nil && cmd.ProcessState == nil {
			t.Logf("run %d: %v", i, err)
		}
		_ = cmd.Wait() // killed or done
		before := state(t, l)
		first, err := os.ReadFile(filepath.Join(dir, out, "release.json"))
		released := err == nil
		if released {
			if err := l.VerifyRelease(context.Background(), first); err != nil {
				t.Fatalf("run %d: a release that its ledger does not know: %v", i, err)
			}
		}
		// A run that was killed before its charge is one failed check, any other none.
		if checks, err := l.ClearChecks(context.Background()); err != nil || len(checks) > 1 || len(checks) > 0 && before.Charges > int64(charged) {
			t.Fatalf("run %d: failed checks %v, %v", i, checks, err)
		}
		retry := discreet("evaluate", "ask.yaml", "--key", key, "--json", "--set", "output=null")
		text, err := retry.Output()
		after := state(t, l)
		switch code := retry.ProcessState.ExitCode(); {
		case code == fault.ExitRefused:
			seen["pending"]++
			if released || after.Charges != before.Charges {
				t.Fatalf("run %d: pending with a release, or charged again", i)
			}
		case code != fault.ExitDone:
			t.Fatalf("run %d: the retry ends with %d: %v", i, code, err)
		case after.Charges == before.Charges:
			seen["repeated"]++
			if released && string(text) != string(first) {
				t.Fatalf("run %d: the retry returns another release", i)
			}
		default:
			seen["not charged before"]++
			if released || after.Charges != before.Charges+1 {
				t.Fatalf("run %d: charged twice", i)
			}
		}
		var stamp struct {
			Ledger *struct{ Key string } `json:"ledger"`
		}
		if len(text) > 0 && (json.Unmarshal(text, &stamp) != nil || stamp.Ledger == nil || stamp.Ledger.Key != key) {
			t.Fatalf("run %d: the release names another key", i)
		}
	}
	if err := l.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
	s := state(t, l)
	if s.Charges != runs+1 || s.PendingCount != int64(seen["pending"]) || s.Spent.Epsilon > 20 {
		t.Errorf("%d charges of %d runs, %d pending of %v, spent %v", s.Charges, runs+1, s.PendingCount, seen, s.Spent)
	}
	t.Logf("%d evaluations killed within %v: %v", runs, 12*whole/10, seen)
	if seen["repeated"] == 0 || seen["not charged before"] == 0 {
		t.Errorf("the kills came all at one side of the charge: %v", seen)
	}
}

func state(t *testing.T, l *ledger.Ledger) *ledger.Summary {
	t.Helper()
	s, err := l.State(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
