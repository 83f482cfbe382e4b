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
		model := r.Diagnostics["model"].(plugIn)
		if math.Abs(model.Value-want) > .1*want {
			t.Errorf("%s: the model says %v; the value is %v", form, model.Value, want)
		}
		if e := r.Estimate; e.Interval[0] > want || e.Interval[1] < want {
			t.Errorf("%s: the interval %v does not hold %v", form, e.Interval, want)
		}
		if err := plan.Verify(r); err != nil {
			t.Errorf("%s: %v", form, err)
		}
		model.Weights = make([]float64, len(model.Weights))
		r.Diagnostics["model"] = model
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
	for name, c := range map[string]struct {
		method Estimator
		public Public
		want   error
	}{
		"no probabilities": {DPFQE{Form: "linear"}, column, ErrMethod},
		"a table":          {DPFQE{Form: "state"}, dense, ErrPublic},
		"a baseline":       {DPDR{Baseline: "model"}, dense, ErrPublic},
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
