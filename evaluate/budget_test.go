package evaluate

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
)

func TestClipIsNotPaidForWhereNoiseDrownsIt(t *testing.T) {
	p := Public{Persons: 1000, Privacy: &Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 0.1, Delta: 1e-6}}}
	if s, err := clipShare("dp-is", p, clipAuto, 0, scalar.ClipSteps); err != nil || s != 0 {
		t.Errorf("1000 persons at epsilon .1: share %v, %v; want 0", s, err)
	}
	p.Persons = 100000
	if s, err := clipShare("dp-is", p, clipAuto, 0, scalar.ClipSteps); err != nil || s != defaultClipShare {
		t.Errorf("100000 persons at epsilon .1: share %v, %v; want %v", s, err, defaultClipShare)
	}
	if s, err := clipShare("dp-is", p, clipPublic, 0, scalar.ClipSteps); err != nil || s != 0 {
		t.Errorf("clip public: share %v, %v; want 0", s, err)
	}
	for _, bad := range []struct {
		clip  string
		share float64
	}{{"narrow", 0}, {clipAuto, -1}, {clipAuto, 1}, {clipAuto, math.NaN()}} {
		if _, err := clipShare("dp-is", p, bad.clip, bad.share, scalar.ClipSteps); err == nil {
			t.Errorf("clip %q with share %v is accepted", bad.clip, bad.share)
		}
	}
}

// TestStagesSpendTheWholeBudget adds up the stages' mu^2.
func TestStagesSpendTheWholeBudget(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		q := Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 0.7, Delta: 1e-6}}
		mu, err := account.GaussianMu(q.Budget)
		if err != nil {
			t.Fatal(err)
		}
		n, err := splitStages("dp-dr", q, scalar.Stages{Baseline: 0.3, Clip: 0.2, Weights: 0.05, Clipped: 0.05})
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for i, want := range []float64{0.3, 0.2, 0.05, 0.05, 0.4} {
			m := adjacency.SumSensitivity(1) / n.Taken()[i]
			if got := m * m / (mu.Lower * mu.Lower); math.Abs(got-want) > 1e-9 {
				t.Errorf("%v: stage %d has share %v; want %v", adjacency, i, got, want)
			}
			total += m * m
		}
		if total > mu.Lower*mu.Lower {
			t.Errorf("%v: the stages spend mu^2 = %v of %v", adjacency, total, mu.Lower*mu.Lower)
		}
		for _, bad := range []scalar.Stages{{Clip: 1}, {Clip: -0.1}, {Clip: math.NaN()}, {Clip: 0.5, Baseline: 0.5}} {
			if _, err := splitStages("dp-dr", q, bad); err == nil {
				t.Errorf("the shares %+v are accepted", bad)
			}
		}
	}
}

// TestAShareOfCountsThatLeavesNothingIsNamed by its key, not by those of the others.
func TestAShareOfCountsThatLeavesNothingIsNamed(t *testing.T) {
	q := Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-5}}
	if _, err := splitStages("dp-is", q, scalar.Stages{Behavior: 0.9999999, Clip: 0.2}); !errors.Is(err, ErrMethod) || !strings.Contains(err.Error(), "data.behavior.share is 0.9999999") {
		t.Errorf("%v", err)
	}
	if _, err := splitStages("dp-is", q, scalar.Stages{Behavior: 0.2, Clip: 0.5, Baseline: 0.6}); !errors.Is(err, ErrMethod) || strings.Contains(err.Error(), "data.behavior") {
		t.Errorf("%v", err)
	}
}
