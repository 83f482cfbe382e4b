package discreet_test

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-rl/discreet"
)

// TestSyntheticBanditLog holds the references on the made-up log of the
// example against sums written out over its rows in other code.
func TestSyntheticBanditLog(t *testing.T) {
	checkBandit(t, "synthetic.csv", 500, 0.0324379872, 0.0322556547, 0.0325659038)
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
		if got := r.Release.Answers[0].Estimate.Value; !(math.Abs(got-want) <= 1e-8) {
			t.Errorf("%s: %.10f; want %.8f", method, got, want)
		}
	}
}
