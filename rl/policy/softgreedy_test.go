package policy_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// In state 0 actions 0 and 2 tie, in state 1 action 1 is best.
func softGreedy(epsilon float64) policy.SoftGreedy {
	return must(policy.NewSoftGreedy(must(feature.NewTabular(2, "s")), [][]float64{{3, 0}, {1, 2}, {3, -4}}, epsilon))
}

func TestSoftGreedyMatchesHandComputation(t *testing.T) {
	for _, c := range []struct {
		epsilon       float64
		first, second []float64
		largest       float64
	}{
		{0, []float64{0.5, 0, 0.5}, []float64{0, 1, 0}, 1},
		{0.3, []float64{0.45, 0.1, 0.45}, []float64{0.1, 0.8, 0.1}, 0.8},
		{1, []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}, []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}, 1.0 / 3},
	} {
		p := softGreedy(c.epsilon)
		b := must(p.Bind(log()))
		for row, want := range [][]float64{c.first, c.second} {
			got := []float64{9, 9, 9, 9}
			if !b.Distribution(got, row) || got[3] != 0 {
				t.Fatalf("epsilon %v, row %d: %v", c.epsilon, row, got)
			}
			if d := cmp.Diff(want, got[:3], cmpopts.EquateApprox(0, 1e-15)); d != "" {
				t.Errorf("epsilon %v, row %d: (-want +got)\n%s", c.epsilon, row, d)
			}
		}
		if got := p.MaxProb(); !(got >= c.largest && got <= c.largest+1e-15) {
			t.Errorf("epsilon %v: MaxProb %v, want %v rounded up", c.epsilon, got, c.largest)
		}
	}
	// Rows 2 and 3: action 2 in state 1 with behaviour probability .2, action 1 in
	// state 0 with 1.
	rho := make([]float64, 4)
	if err := policy.Ratios(rho, softGreedy(0.3), log()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]float64{0.9, 3.2, 0.5, 0.1}, rho, cmpopts.EquateApprox(1e-14, 0)); d != "" {
		t.Errorf("ratios (-want +got)\n%s", d)
	}
}

func TestSoftGreedyIsADistributionBelowItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(t, "actions")
		weights := make([][]float64, k)
		for a := range weights {
			// Few values, so that there are ties.
			weights[a] = []float64{float64(rapid.IntRange(0, 2).Draw(t, "w")), 0}
		}
		epsilon := rapid.Float64Range(0, 1).Draw(t, "epsilon")
		p := must(policy.NewSoftGreedy(must(feature.NewTabular(2, "s")), weights, epsilon))
		b, probs := must(p.Bind(log())), make([]float64, k)
		for row := range 4 {
			if !b.Distribution(probs, row) {
				t.Fatal("no distribution")
			}
			if !(math.Abs(floats.Sum(probs)-1) <= 1e-14) || floats.Max(probs) > p.MaxProb() || floats.Min(probs) < epsilon/float64(k) {
				t.Fatalf("epsilon %v: %v, bound %v", epsilon, probs, p.MaxProb())
			}
		}
	})
}

func TestSoftGreedyRefusesWhatOverflows(t *testing.T) {
	p := must(policy.NewSoftGreedy(must(feature.NewColumns([]string{"s"}, []feature.Range{{Low: 0, High: 1}},
		feature.ColumnsOptions{Intercept: true})), [][]float64{{1e308, 1e308}, {0, 0}}, 0.1))
	b := must(p.Bind(log()))
	probs := []float64{9, 9}
	if b.Distribution(probs, 1) || probs[0] != 0 || probs[1] != 0 {
		t.Errorf("an infinite preference gives %v", probs)
	}
	if !b.Distribution(probs, 0) {
		t.Error("a finite preference gives nothing")
	}
}

func TestLinearPoliciesReadFromOneFile(t *testing.T) {
	const file = `{"features": {"kind": "tabular", "states": 2, "column": "s"}, "weights": [[3, 0], [1, 2], [3, -4]]}`
	greedy := must(policy.ReadSoftGreedy(strings.NewReader(file), "q.json"))
	soft := must(policy.ReadSoftmax(strings.NewReader(file), "q.json"))
	if greedy.MaxProb() != 1 || greedy.Actions() != 3 || soft.Actions() != 3 {
		t.Errorf("%v, %v", greedy, soft)
	}
	probs := make([]float64, 3)
	hot := must(soft.WithTemperature(1e9))
	if must(hot.Bind(log())).Distribution(probs, 1); !(math.Abs(probs[0]-1.0/3) <= 1e-8) {
		t.Errorf("at a high temperature: %v", probs)
	}
	half := must(greedy.WithEpsilon(0.5))
	if must(half.Bind(log())).Distribution(probs, 1); !(math.Abs(probs[1]-2.0/3) <= 1e-15) {
		t.Errorf("with epsilon 1/2: %v", probs)
	}
	if must(greedy.Bind(log())).Distribution(probs, 1); probs[1] != 1 {
		t.Errorf("WithEpsilon changed its receiver: %v", probs)
	}
}

func TestImpossibleSoftGreedyFilesAreRefused(t *testing.T) {
	for _, text := range []string{
		``, `{}`, `[]`, `{"features": {"kind": "tabular", "states": 2, "column": "s"}}`,
		`{"features": {"kind": "tabular", "states": 2, "column": "s"}, "weights": [[1]]}`,
		`{"features": {"kind": "tabular", "states": 2, "column": "s"}, "weights": [[1, 2]], "epsilon": 1.5}`,
		`{"features": {"kind": "tabular", "states": 2, "column": "s"}, "weights": [[1, 2]], "epsilon": -0.1}`,
		`{"features": {"kind": "tabular", "states": 2, "column": "s"}, "weights": [[1, 2]], "temperature": 1}`,
		`{"features": {"kind": "tabular", "states": 2, "column": "s"}, "weights": [[1, 2]]} x`,
	} {
		if _, err := policy.ReadSoftGreedy(strings.NewReader(text), "q.json"); !errors.Is(err, policy.ErrPolicy) || !strings.Contains(err.Error(), "q.json") {
			t.Errorf("%s: %v; want ErrPolicy", text, err)
		}
	}
	if _, err := softGreedy(0).WithEpsilon(math.NaN()); !errors.Is(err, policy.ErrPolicy) {
		t.Errorf("WithEpsilon(NaN): %v", err)
	}
	if _, err := softmax().WithTemperature(0); !errors.Is(err, policy.ErrPolicy) {
		t.Errorf("WithTemperature(0): %v", err)
	}
}
