package examine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/internal/train/examine"
	"github.com/discreet-rl/discreet/train"
)

func Example() {
	r, err := examine.Randomizer(context.Background(), examine.Job{Randomizer: train.Randomizer{Mechanism: train.OneBit, Epsilon: 1, Clip: 200}, Dim: 10, Runs: 4000})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("exact epsilon %.4f; %s\n", *r.Exact, r.Verdict())
	// Output: exact epsilon 1.0000; within the claim, as far as was tested
}

// TestBitsAreExamined: neither is refuted, all mistakes are found, and most of epsilon is shown.
func TestBitsAreExamined(t *testing.T) {
	examined(t, train.OneBit, 200, .85)
	examined(t, train.SignPRS, 0, .85)
}

// examined holds an audit against what is known of a mechanism with epsilon 2; share of it is to be shown.
func examined(t *testing.T, mechanism train.Mechanism, clip, share float64) {
	t.Helper()
	r, err := examine.Randomizer(t.Context(), examine.Job{Randomizer: train.Randomizer{Mechanism: mechanism, Epsilon: 2, Clip: clip}, Dim: 7, Success: 1, OneRun: true})
	if err != nil {
		t.Fatal(mechanism, err)
	}
	if len(r.Broken) > 0 || len(r.Missed) > 0 || len(r.SelfTest) < 5 || r.Found.Epsilon > 2 || r.Found.Epsilon < 2*share {
		t.Errorf("%s: broken %q, missed %q of %d, found %v", mechanism, r.Broken, r.Missed, len(r.SelfTest), r.Found.Epsilon)
	}
	if few := mechanism == train.OneBit || mechanism == train.SignPRS || mechanism == train.PRS; few != (r.Exact != nil) || few && math.Abs(*r.Exact-2) > 1e-6 {
		t.Errorf("%s: exact %v", mechanism, r.Exact)
	}
	if r.Once == nil || r.Once.Epsilon > 2 || r.Once.Epsilon < 2*share || math.Abs(*r.Success-1) > 1e-6 {
		t.Errorf("%s: one run %+v, success %v", mechanism, r.Once, *r.Success)
	}
	t.Logf("%s: found %.3f (%s), one run %.3f (power %+v), %d mistakes, %.1f s", mechanism, r.Found.Epsilon, r.WorstPair, r.Once.Epsilon, *r.OncePower, len(r.SelfTest), r.Seconds)
}

// TestWhatClaimsNothingIsRefused.
func TestWhatClaimsNothingIsRefused(t *testing.T) {
	if _, err := examine.Randomizer(t.Context(), examine.Job{Randomizer: train.Randomizer{Mechanism: train.NotPrivate}, Dim: 3}); !errors.Is(err, examine.ErrJob) {
		t.Error(err)
	}
	if _, err := examine.Randomizer(t.Context(), examine.Job{Randomizer: train.Randomizer{Mechanism: "hope", Epsilon: 1}, Dim: 3}); !errors.Is(err, train.ErrConfig) {
		t.Error(err)
	}
}
