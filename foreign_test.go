package discreet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/report"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// meanReward is a method that is not of this library.
type meanReward struct {
	Persons float64 `json:"persons"`
}

func (meanReward) Outline(evaluate.Public) (evaluate.Outline, error) {
	return evaluate.Outline{Method: "acme/mean-reward", Estimates: "the mean reward of a person", Rounds: []evaluate.Round{{Dim: 1, Clip: 0.5, Share: 1}}}, nil
}

func (meanReward) Contribution(dst []float64, _ int, _ [][]float64, p *trajectory.Dataset) {
	dst[0] = p.Reward[0] - 0.5
}

func (m meanReward) Answer(_ evaluate.Public, s []evaluate.NoisySum) (evaluate.Answer, error) {
	v, half := 0.5+s[0].Sum[0]/m.Persons, 2*s[0].SD/m.Persons
	return evaluate.Answer{Value: v, Interval: &[2]float64{v - half, v + half}, Confidence: 0.95, Claim: "the mean over these persons"}, nil
}

// TestForeignReleasesAreNotTakenForOurs: their form and accounting are checked, page and
// verification say whose claim the answer is, and a release of this library cannot be
// passed off as one.
func TestForeignReleasesAreNotTakenForOurs(t *testing.T) {
	d := &trajectory.Dataset{PersonStart: []int{0, 1, 2, 3}, EpisodeStart: []int{0, 1, 2, 3}, Reward: []float64{0, 1, 1}}
	plan, err := evaluate.OfSums(meanReward{3}).Plan(evaluate.Public{Persons: 3, Gamma: 1, Horizon: 1, Reward: evaluate.Range{Min: 0, Max: 1}, Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-2}}})
	if err != nil {
		t.Fatal(err)
	}
	ready, err := plan.Check(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(1))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	v, err := discreet.Verify(text, nil)
	if err != nil || v.Replanned || !strings.Contains(strings.Join(v.Notes, "\n"), "method acme/mean-reward is not part of this library") {
		t.Errorf("%v, replanned %v, notes %q", err, v.Replanned, v.Notes)
	}
	var page bytes.Buffer
	if err := report.Write(&page, r); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"Answer of a method by another author", "the mean reward of a person", "The interval claims", "the mean over these persons", "Interval, 95%"} {
		if !strings.Contains(page.String(), words) {
			t.Errorf("the page does not say %q", words)
		}
	}
	for name, edit := range map[string]func(r *evaluate.Release){
		"an estimate": func(r *evaluate.Release) {
			r.Answers = []evaluate.PolicyAnswer{{Name: "value", Kind: evaluate.OfPolicy, Estimate: &evaluate.Estimate{Confidence: 0.95, Sampling: evaluate.Paid}}}
		},
		"no answer": func(r *evaluate.Release) { r.Answer = nil },
		"a name of ours": func(r *evaluate.Release) {
			r.Method, r.Disclosure.CodeVersion, r.Disclosure.ConfigHash = "dp-is", discreet.Version(), "hash"
		},
		"less noise": func(r *evaluate.Release) { r.Privacy.Event = dp.Gaussian{NoiseMultiplier: 1} },
		"no claim":   func(r *evaluate.Release) { r.Answer.Claim = "" },
	} {
		forged := new(evaluate.Release)
		if err := json.Unmarshal(text, forged); err != nil {
			t.Fatal(err)
		}
		edit(forged)
		changed, err := json.Marshal(forged)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := discreet.Verify(changed, nil); !errors.Is(err, discreet.ErrRelease) {
			t.Errorf("%s: %v; want ErrRelease", name, err)
		}
	}
}

// failing is a method of sums that fails for everybody with a reward.
type failing struct{ meanReward }

func (failing) Contribution(_ []float64, _ int, _ [][]float64, p *trajectory.Dataset) {
	if p.Reward[0] > 0.5 && p.Reward[0] < 1 {
		panic("unreadable")
	}
}

// TestALedgerCountsAForeignMethodThatFails, as every check that no charge paid for.
func TestALedgerCountsAForeignMethodThatFails(t *testing.T) {
	ctx := context.Background()
	l, err := ledger.Create(ctx, filepath.Join(t.TempDir(), "budget.db"), ledger.Config{Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 3, Delta: 1e-2}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := &trajectory.Dataset{PersonStart: []int{0, 1, 2, 3}, EpisodeStart: []int{0, 1, 2, 3}, Reward: []float64{0, 0.75, 0.75}}
	plan, err := evaluate.OfSums(failing{}).Plan(evaluate.Public{Persons: 3, Gamma: 1, Horizon: 1, Reward: evaluate.Range{Min: 0, Max: 1}, Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-3}}})
	if err != nil {
		t.Fatal(err)
	}
	for want := 1; want <= ledger.DefaultFailedChecks+1; want++ {
		c := ledger.Charge{Key: fmt.Sprintf("key-%d", want), Analyst: "ann", Adjacency: dp.ReplaceOne, Event: plan.Event}
		_, n, err := l.BeginCheck(ctx, c, ledger.DefaultFailedChecks)
		if want > ledger.DefaultFailedChecks {
			if !errors.Is(err, ledger.ErrChecks) {
				t.Errorf("check %d: %v; want ErrChecks", want, err)
			}
			return
		}
		if err != nil || n != want {
			t.Fatalf("check %d: %d are unpaid, %v", want, n, err)
		}
		if _, err := plan.Check(ctx, d); !errors.Is(err, evaluate.ErrMethod) || !strings.Contains(err.Error(), "fails for 2 of 3 persons") {
			t.Fatalf("check %d: %v", want, err)
		}
	}
}
