package discreet_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
)

// TestNextToNothingIsNotCharged: a ledger is not charged for an answer from fewer than one
// person in ten, which is a failed check; without a ledger the curator is told, and the
// release says that it answers nothing. Half of the persons are enough for an answer in part.
func TestNextToNothingIsNotCharged(t *testing.T) {
	const persons = 40
	for _, bad := range []int{20, 37, persons} {
		c := config.Config{
			Dir:     spoiled(t, persons, bad),
			Data:    config.Data{Path: config.Names{"log.csv"}, Behavior: &config.Behavior{Source: "logged"}},
			Problem: config.Problem{Persons: persons, Gamma: 1, Reward: &config.Bounds{Range: evaluate.Range{Max: 1}}, Horizon: 1},
			Target:  config.Target{Kind: "logged"}, Method: config.Method{Name: "dp-is"},
			Privacy: config.Privacy{Adjacency: "replace_one", Epsilon: 5, Delta: 1e-3},
		}
		r, err := discreet.Evaluate(context.Background(), c, discreet.WithSource(noise.NewSeeded(1)))
		if err != nil {
			t.Fatal(err)
		}
		noticed := strings.Contains(strings.Join(r.Notices, "\n"), "from next to nothing")
		if few := bad > 20; noticed != few {
			t.Errorf("%d of %d left out, without a ledger: notices %q", bad, persons, r.Notices)
		}
		if width := r.Release.Answers[0].Estimate.Interval[1] - r.Release.Answers[0].Estimate.Interval[0]; bad > 20 && width < 0.8 || bad == 20 && width < 0.5 {
			t.Errorf("%d of %d left out: an interval of width %.2f", bad, persons, width)
		}
		path := filepath.Join(t.TempDir(), "budget.db")
		l, err := ledger.Create(context.Background(), path, ledger.Config{Dataset: "d", Budget: dp.Budget{Epsilon: 10, Delta: 1e-2}, Adjacency: dp.ReplaceOne})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		c.Ledger = &config.Ledger{Path: path, Dataset: "d"}
		_, err = discreet.Evaluate(context.Background(), c)
		if bad == 20 && err != nil || bad > 20 && (!errors.Is(err, evaluate.ErrData) || !strings.Contains(err.Error(), "this is failed check 1 of")) {
			t.Errorf("%d of %d left out, with a ledger: %v", bad, persons, err)
		}
	}
}
