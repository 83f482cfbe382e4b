package evaluate_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestGuessMovesTheForecastAlone: with a guess of weights the plan forecasts another half
// width, and a run on the same noise releases the same numbers; a release that travelled
// follows from its plan, and one whose guess was changed does not.
func TestGuessMovesTheForecastAlone(t *testing.T) {
	const persons = 2000
	one, err := policy.NewConstant(1)
	if err != nil {
		t.Fatal(err)
	}
	p, data := banditPublic(t, persons, dp.ReplaceOne, one), bandit(rand.New(rand.NewPCG(1, 1)), persons)
	bare := run(t, evaluate.DPWIS{}, p, data, noise.NewSeeded(5))
	last := 0.0
	for _, g := range []evaluate.WeightGuess{{Effective: 0.3}, {Effective: 0.1}, {Effective: 0.1, Missing: 0.5}} {
		r := run(t, evaluate.DPWIS{Guess: &g}, p, data, noise.NewSeeded(5))
		if *r.Answers[0].Estimate != *bare.Answers[0].Estimate {
			t.Errorf("%+v: the release changed: %+v, %+v", g, r.Answers[0].Estimate, bare.Answers[0].Estimate)
		}
		if !(r.Expected.HalfWidth > last && r.Expected.HalfWidth <= p.Returns().Width()/2) || !strings.Contains(strings.Join(r.Notes, " "), "The expected half width follows from the guess of weights") {
			t.Errorf("%+v: forecast %v after %v; notes %q", g, r.Expected.HalfWidth, last, r.Notes)
		}
		last = r.Expected.HalfWidth
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, effective := range []float64{g.Effective, g.Effective / 2} {
			again := new(evaluate.Release)
			if err := json.Unmarshal(text, again); err != nil {
				t.Fatal(err)
			}
			again.Public["parameters"].(map[string]any)["guess"].(map[string]any)["effective"] = effective
			plan, err := evaluate.Replan(again, nil, nil)
			if err == nil {
				err = plan.Verify(again)
			}
			if (err == nil) != (effective == g.Effective) {
				t.Errorf("%+v, told as %v: %v", g, effective, err)
			}
		}
	}
}

// TestGuessIsRefusedWhereItMeansNothing names the key and what to do.
func TestGuessIsRefusedWhereItMeansNothing(t *testing.T) {
	one, err := policy.NewConstant(1)
	if err != nil {
		t.Fatal(err)
	}
	off := banditPublic(t, 2000, dp.ReplaceOne, one)
	on := banditPublic(t, 2000, dp.ReplaceOne, policy.Logged{})
	several := off
	several.Target, several.Targets = nil, &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "a", Policy: one}}, Levels: []string{"a"}}
	right := &evaluate.WeightGuess{Effective: 0.5}
	for want, c := range map[string]struct {
		e evaluate.Estimator
		p evaluate.Public
	}{
		"guess.effective is 0":   {evaluate.DPIS{Guess: &evaluate.WeightGuess{}}, off},
		"guess.effective is NaN": {evaluate.DPPDIS{Guess: &evaluate.WeightGuess{Effective: math.NaN()}}, off},
		"guess.effective is 1.5": {evaluate.DPWIS{Guess: &evaluate.WeightGuess{Effective: 1.5}}, off},
		"guess.missing is 1":     {evaluate.DPDR{Guess: &evaluate.WeightGuess{Effective: 1, Missing: 1}}, off},
		"dp-is: guess applies to the weights of an off-policy value":                    {evaluate.DPIS{Guess: right}, on},
		"dp-dr: guess applies to the weights of an off-policy value":                    {evaluate.DPDR{Guess: right}, on},
		"does not apply to targets; remove it, or plan that policy by itself as target": {evaluate.DPWIS{Guess: right}, several},
		"with confounding":                           {evaluate.DPWIS{Guess: right, Confounding: 1.5}, off},
		"auto: guess applies only to a single value": {evaluate.Auto{Guess: right}, chainPublic(t, 400, dp.ReplaceOne)},
	} {
		if _, err := c.e.Plan(c.p); !errors.Is(err, evaluate.ErrMethod) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if plan, err := (evaluate.Auto{Guess: right}).Plan(off); err != nil || !strings.Contains(strings.Join(plan.Notes, " "), "the guess of weights") {
		t.Errorf("auto passes a guess on: %v", err)
	}
}
