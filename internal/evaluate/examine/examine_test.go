package examine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/examine"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// job audits a method with facts of a small problem, at epsilon 8.
func job(t *testing.T, method string, params map[string]any, adjacency dp.Adjacency, runs int) examine.Job {
	t.Helper()
	e, err := evaluate.New(method, params)
	if err != nil {
		t.Fatal(err)
	}
	states, err := feature.NewTabular(5, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	p := evaluate.Public{Persons: 40, Gamma: 0.9, Horizon: 3, Reward: evaluate.Range{Min: 0, Max: 1}, Features: states,
		Target: policy.ProbColumn{}, Privacy: &evaluate.Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 8, Delta: 1e-5}}}
	if method == "dp-lsw" || method == "dp-lsl" {
		p.Target, p.Episodes = policy.Logged{}, 1
	}
	return examine.Job{Estimator: e, Public: p, Columns: []string{"obs_state"}, Runs: runs}
}

func examined(t *testing.T, j examine.Job) *examine.Report {
	t.Helper()
	r, err := examine.Plan(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAScalarMethodIsExamined (the slow suite examines all): every mistake is found, the method is not refuted, some
// pair needs nearly all that is paid for, and there is a bound on mu, if a weak one. The same seed makes the same
// report, but for the seconds.
func TestAScalarMethodIsExamined(t *testing.T) {
	r := examined(t, job(t, "dp-wis", nil, dp.AddRemoveOne, 500))
	for _, p := range r.SelfTest {
		if !p.Found {
			t.Errorf("%s is not found", p.Mistake)
		}
	}
	if len(r.SelfTest) < 11 {
		t.Errorf("only %d mistakes planted", len(r.SelfTest))
	}
	if len(r.Broken) > 0 || r.Worst < 0.99 || r.Worst > 1+1e-9 {
		t.Errorf("broken %q, worst %v", r.Broken, r.Worst)
	}
	if !r.SameEvent || r.Found == nil || r.Found.Mu < 0.1*r.Claim.Mu || r.Found.Mu > r.Claim.Mu {
		t.Errorf("same event %v; found %+v of %+v", r.SameEvent, r.Found, r.Claim)
	}
	again := examined(t, job(t, "dp-wis", nil, dp.AddRemoveOne, 500))
	again.Seconds = r.Seconds
	first, err := json.Marshal(r)
	second, errAgain := json.Marshal(again)
	if err = errors.Join(err, errAgain); err != nil || !bytes.Equal(first, second) {
		t.Errorf("%s, then %s, %v", first, second, err)
	}
}

func TestWithoutPrivacyThereIsNothingToExamine(t *testing.T) {
	j := job(t, "is", nil, dp.ReplaceOne, 200)
	j.Public.Privacy = nil
	if _, err := examine.Plan(context.Background(), j); !errors.Is(err, examine.ErrJob) {
		t.Errorf("%v; want ErrJob", err)
	}
}

// TestExaminationsStop with their context, and tell what they are at.
func TestExaminationsStop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	j := job(t, "dp-is", nil, dp.ReplaceOne, 100_000)
	parts := 0
	j.Progress = func(string) {
		if parts++; parts == 3 {
			cancel()
		}
	}
	if _, err := examine.Plan(ctx, j); !errors.Is(err, context.Canceled) || parts != 3 {
		t.Errorf("%v after %d parts", err, parts)
	}
}
