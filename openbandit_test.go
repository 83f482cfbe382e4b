package discreet_test

import (
	"context"
	"math"
	"os"
	"testing"

	"github.com/discreet-rl/discreet"
)

// TestSyntheticBanditLog holds the references on the made-up log of the
// example against sums written out over its rows in other code.
func TestSyntheticBanditLog(t *testing.T) {
	checkBandit(t, "synthetic.csv", 500, 0.0324379872, 0.0322556547, 0.0325659038)
}

// TestOpenBanditLog does the same on the real log, which is not part of the
// repository: OPEN_BANDIT_MEN names the file bts/men/men.csv where it is there.
// The values were published with the log's evaluation code and recomputed.
func TestOpenBanditLog(t *testing.T) {
	path := os.Getenv("OPEN_BANDIT_MEN")
	if path == "" {
		t.Skip("OPEN_BANDIT_MEN does not name the log")
	}
	checkBandit(t, path, 10000, 0.00300863, 0.00318942, 0.00324866)
}

func checkBandit(t *testing.T, path string, persons int, is, wis, dr float64) {
	t.Helper()
	for method, want := range map[string]float64{"is": is, "wis": wis, "dr": dr} {
		c, err := discreet.Load("examples/openbandit/uniform.yaml", "privacy=none", "method={name: "+method+"}", "data.path="+path)
		if err != nil {
			t.Fatal(err)
		}
		c.Problem.Persons = int64(persons)
		r, err := discreet.Evaluate(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Release.Estimate.Value; !(math.Abs(got-want) <= 1e-8) {
			t.Errorf("%s: %.10f; want %.8f", method, got, want)
		}
	}
}
