package evaluate

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestLinearModelKnowsTheHorizon: with one feature a state a linear model finds the value of a
// policy in episodes that all end at the horizon, within a tenth, from actions and from
// weights; its plan verifies the release, and refuses weights that do not allow the value.
func TestLinearModelKnowsTheHorizon(t *testing.T) {
	want, p := fixedValue(.8), fixedPublic(2000, 50, fixedTarget())
	data := fixedData(2000, 1)
	for _, form := range []string{"linear", "linear-state"} {
		plan := must(DPFQE{Form: form}.Plan(p))
		r := perform(t, DPFQE{Form: form}, p, data, noise.NewSeeded(1))
		model := r.Answers[0].Diagnostics["model"].(plugIn)
		if math.Abs(model.Value-want) > .1*want {
			t.Errorf("%s: the model says %v; the value is %v", form, model.Value, want)
		}
		if e := r.Answers[0].Estimate; e.Interval[0] > want || e.Interval[1] < want {
			t.Errorf("%s: the interval %v does not hold %v", form, e.Interval, want)
		}
		if err := plan.Verify(r); err != nil {
			t.Errorf("%s: %v", form, err)
		}
		model.Weights = make([]float64, len(model.Weights))
		r.Answers[0].Diagnostics["model"] = model
		if err := plan.Verify(r); !errors.Is(err, ErrRelease) {
			t.Errorf("%s: weights of nothing pass: %v", form, err)
		}
	}
}

// TestLinearModelRefuses: features without a bound, a target that tells no probabilities,
// at planning; one that tells them by step alone, before anything is charged; and a
// table's forms for features that are vectors.
func TestLinearModelRefuses(t *testing.T) {
	dense := fixedPublic(100, 1, fixedTarget())
	dense.Features = must(feature.NewColumns([]string{"obs_state"}, []feature.Range{{Low: 0, High: 2}}, feature.ColumnsOptions{}))
	column := dense
	column.Target = policy.ProbColumn{}
	bare := dense
	bare.Features = nil
	for name, c := range map[string]struct {
		method Estimator
		public Public
		want   error
	}{
		"no probabilities":            {DPFQE{Form: "linear"}, column, ErrMethod},
		"a table":                     {DPFQE{Form: "state"}, dense, ErrPublic},
		"a baseline without features": {DPDR{Baseline: "model"}, bare, ErrPublic},
	} {
		if _, err := c.method.Plan(c.public); !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", name, err, c.want)
		}
	}
	if _, err := (DPFQE{}).Plan(column); err != nil {
		t.Errorf("by weights: %v", err)
	}
	dense.Target = must(policy.NewByStep([][]float64{{.5, .5}}))
	if _, err := must(DPFQE{Form: "linear"}.Plan(dense)).Check(context.Background(), fixedData(100, 1)); !errors.Is(err, ErrData) {
		t.Errorf("by step: %v; want ErrData", err)
	}
}

// TestLinearModelIsABaseline: with three cosines over the three states every value is linear
// in the features, and the baseline of dp-dr, made of noisy moments at a part of the budget,
// is within a tenth of the value for a policy that takes at every decision the action that
// was logged with probability a half; the middle of the range, 5, is no answer. The
// interval holds the value, and the plan verifies the release.
func TestLinearModelIsABaseline(t *testing.T) {
	want, p := fixedValue(1), fixedPublic(20000, 5, must(policy.NewTable([]float64{0, 1, 0, 1, 0, 1}, 2, "obs_state")))
	if want < 6 {
		t.Fatalf("the value is %v; want one far from the middle of the range", want)
	}
	p.Features = must(feature.NewFourier(2, []string{"obs_state"}, []feature.Range{{Low: 0, High: 2}}))
	data := fixedData(20000, 1)
	r := perform(t, DPDR{Baseline: "model"}, p, data, noise.NewSeeded(1))
	if form := must(DPDR{Baseline: "model"}.Plan(p)).Facts["form"]; form != "linear-state" {
		t.Errorf("the model has form %v", form)
	}
	if b := r.Answers[0].Diagnostics["baseline"].(map[string]any)["value"].(float64); math.Abs(b-want) > .1*want {
		t.Errorf("the baseline is %v; the value is %v", b, want)
	}
	if e := r.Answers[0].Estimate; e.Interval[0] > want || e.Interval[1] < want {
		t.Errorf("the interval %v does not hold %v", e.Interval, want)
	}
	if err := must(DPDR{Baseline: "model"}.Plan(p)).Verify(r); err != nil {
		t.Error(err)
	}
}
