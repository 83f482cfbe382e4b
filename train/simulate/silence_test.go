package simulate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/simtest"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// TestRunGoesOnWhereEnvironmentsFail: training agents and evaluators alike.
func TestRunGoesOnWhereEnvironmentsFail(t *testing.T) {
	for _, fails := range []bool{false, true} {
		c := ours(1, train.SignPRS, 1, 20)
		// Every episode scores above 0 as soon as it has a step.
		c.Success = &simulate.Success{Every: 10, Agents: 8, Epsilon: 40, Threshold: .5}
		healthy := poles()[0].New
		c.Environments = []simulate.Environment{{Name: "a pole", New: func() (sim.Env, error) {
			env, err := healthy()
			if fails {
				env = &simtest.Faulty{Env: env, Again: 3}
			}
			return env, err
		}}}
		failed := 0
		c.Progress = func(p simulate.Progress) bool {
			if errors.Is(p.Failed, simtest.ErrSensor) {
				failed++
			}
			return true
		}
		r, err := simulate.Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		want, share := 0, 1.
		if fails {
			want, share = 20, 0
		}
		if r.Accepted != 20 || failed != want {
			t.Errorf("failures %v: %d accepted, %d failures told; want 20 and %d", fails, r.Accepted, failed, want)
		}
		// At epsilon 40 one of the 16 answers lies with probability below 1e-16.
		for _, e := range r.Success {
			if e.Agents != 8 || e.Share < share-1e-6 || e.Share > share+1e-6 {
				t.Errorf("failures %v: %+v; want a share of %v of 8 agents", fails, e, share)
			}
		}
		if len(r.Success) != 2 {
			t.Errorf("failures %v: %d estimates; want 2", fails, len(r.Success))
		}
	}
}
