package evaluate_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/feature"
)

// firstStates puts weight on states 0, 7 and 39.
func firstStates() []float64 {
	w := make([]float64, chain.States)
	w[0], w[7], w[39] = 0.5, 0.25, 0.25
	return w
}

// TestStartIsALinearFunctionOfTheValues: asking for it changes no released number, the
// value is the weighted sum, and its standard deviation that of the states added up, also
// where states share a cell. On a single state the band is that state's.
func TestStartIsALinearFunctionOfTheValues(t *testing.T) {
	pairs, err := feature.NewAggregation(chain.States, 2, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	data := chainData(t, 400, 1)
	for name, features := range map[string]feature.Map{"tabular": chainPublic(t, 400, dp.ReplaceOne).Features, "aggregate": pairs} {
		p := chainPublic(t, 400, dp.ReplaceOne)
		p.Features = features
		bare := run(t, evaluate.DPRefine{}, p, data, noise.NewSeeded(3))
		p.Start = firstStates()
		r := run(t, evaluate.DPRefine{}, p, data, noise.NewSeeded(3))
		value, sd := 0.0, 0.0
		for s, w := range p.Start {
			value += w * bare.Values[s]
			sd += w * r.Diagnostics["std_by_coordinate"].([]float64)[s*features.Dim()/chain.States]
		}
		got := r.Start
		if bare.Start != nil || got == nil || math.Abs(got.Value-value) > 1e-12 || math.Abs(got.StdAtMost-sd) > 1e-12 {
			t.Fatalf("%s: start %+v; want %v +- %v, and none where none is asked for", name, got, value, sd)
		}
		if want := [2]float64{max(value-1.959963984540054*sd, 0), min(value+1.959963984540054*sd, 1)}; math.Abs(got.Band[0]-want[0])+math.Abs(got.Band[1]-want[1]) > 1e-9 || !strings.HasSuffix(got.Condition, r.Bands.Condition) || !strings.HasPrefix(got.Condition, "a value that depends on the state alone, not on the number of decisions left") {
			t.Errorf("%s: band %v, want %v; condition %q", name, *got.Band, want, got.Condition)
		}
		p.Start = make([]float64, chain.States)
		p.Start[7] = 1
		r = run(t, evaluate.DPRefine{}, p, data, noise.NewSeeded(3))
		if got := r.Start; got.Value != r.Values[7] || math.Abs(got.Band[0]-r.Bands.Lower[7])+math.Abs(got.Band[1]-r.Bands.Upper[7]) > 1e-12 {
			t.Errorf("%s: from state 7 %+v; its value is %v in [%v, %v]", name, got, r.Values[7], r.Bands.Lower[7], r.Bands.Upper[7])
		}
	}
}

// TestStartIsCheckedFromTheRelease: a release that travelled as JSON is planned again, and
// every number of the start value that does not follow is found.
func TestStartIsCheckedFromTheRelease(t *testing.T) {
	p, data := chainPublic(t, 400, dp.ReplaceOne), chainData(t, 400, 1)
	p.Start = firstStates()
	for name, e := range map[string]evaluate.Estimator{"dp-refine": evaluate.DPRefine{}, "dp-lsl": evaluate.DPLSL{}, "gpope": evaluate.GPOPE{Iterations: 10, Sampling: "everyone"}} {
		text, err := json.Marshal(run(t, e, p, data, noise.NewSeeded(1)))
		if err != nil {
			t.Fatal(err)
		}
		banded := name == "dp-refine"
		for change, edit := range map[string]func(r *evaluate.Release){
			"":          func(*evaluate.Release) {},
			"value":     func(r *evaluate.Release) { r.Start.Value += 1e-6 },
			"deviation": func(r *evaluate.Release) { r.Start.StdAtMost += 1e-3 },
			"band":      func(r *evaluate.Release) { r.Start.Band = &[2]float64{0.3, 0.4} },
			"condition": func(r *evaluate.Release) { r.Start.Condition = "none" },
			"left out":  func(r *evaluate.Release) { r.Start = nil },
			"weights":   func(r *evaluate.Release) { w := firstStates(); w[0], w[7] = w[7], w[0]; r.Public["first_states"] = w },
		} {
			r := new(evaluate.Release)
			if err := json.Unmarshal(text, r); err != nil {
				t.Fatal(err)
			}
			if r.Start == nil || (r.Start.Band != nil) != banded {
				t.Fatalf("%s: start %+v", name, r.Start)
			}
			edit(r)
			plan, err := evaluate.Replan(r, p.Features, nil)
			if err == nil {
				err = plan.Verify(r)
			}
			if change == "" && err != nil || change != "" && !errors.Is(err, evaluate.ErrRelease) {
				t.Errorf("%s, %q changed: %v", name, change, err)
			}
		}
	}
}

// TestStartNeedsValuesByState: what cannot be answered is refused in the plan, with a
// remedy.
func TestStartNeedsValuesByState(t *testing.T) {
	p := chainPublic(t, 400, dp.ReplaceOne)
	weights := func(edit func(w []float64)) []float64 {
		w := firstStates()
		edit(w)
		return w
	}
	for want, c := range map[string]struct {
		e     evaluate.Estimator
		start []float64
	}{
		"leave start out, or choose a method of a value function": {evaluate.DPIS{}, firstStates()},
		"3 weights for 40 states":                                 {evaluate.DPRefine{}, []float64{0.5, 0.25, 0.25}},
		"weight of state 3 is -0.5":                               {evaluate.DPRefine{}, weights(func(w []float64) { w[3], w[0] = -0.5, 1 })},
		"weight of state 3 is NaN":                                {evaluate.DPLSW{}, weights(func(w []float64) { w[3] = math.NaN() })},
		"add up to 1.25":                                          {evaluate.Auto{}, weights(func(w []float64) { w[3] = 0.25 })},
	} {
		p.Start = c.start
		if _, err := c.e.Plan(p); !errors.Is(err, evaluate.ErrPublic) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	p.Start = firstStates()
	cut := p
	cut.Labels = map[string]any{"end": "truncated"}
	for name, c := range map[string]struct {
		e       evaluate.Estimator
		refused bool
	}{
		"dp-refine": {evaluate.DPRefine{}, true}, "regression": {evaluate.DPRefine{Form: "regression"}, true}, "dp-lsl": {evaluate.DPLSL{}, true}, "dp-lsw": {evaluate.DPLSW{}, true},
		"lstd": {evaluate.DPRefine{Form: "lstd"}, false},
	} {
		_, err := c.e.Plan(cut)
		if refused := errors.Is(err, evaluate.ErrPublic) && strings.Contains(err.Error(), "every episode is cut off"); refused != c.refused || !c.refused && err != nil {
			t.Errorf("%s of episodes that are all cut off: %v", name, err)
		}
		if _, err := c.e.Plan(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (evaluate.Constant{}).Plan(p); err != nil {
		t.Errorf("a constant is worth itself, wherever one starts: %v", err)
	}
	var err error
	if p.Features, err = feature.NewColumns([]string{chain.Column}, []feature.Range{{Low: 0, High: 39}}, feature.ColumnsOptions{Intercept: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := (evaluate.DPRefine{}).Plan(p); !errors.Is(err, evaluate.ErrPublic) || !strings.Contains(err.Error(), "features of another kind") {
		t.Errorf("features of columns: %v", err)
	}
}
