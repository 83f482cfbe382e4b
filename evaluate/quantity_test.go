package evaluate

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestWeightsOfACombinationAreBounded: where actions are drawn alike, the law of a person's weight in a
// combination of constant policies and the logged one is known, and cap and mean square hold for it.
func TestWeightsOfACombinationAreBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		actions := 2 + rng.IntN(4)
		targets, q := &Targets{}, quantity{}
		of := make([]int, 1+rng.IntN(4)) // the action that is always taken, below 0 what was logged
		for i := range of {
			of[i] = rng.IntN(actions+1) - 1
			p := policy.Policy(policy.Logged{})
			if of[i] >= 0 {
				constant, err := policy.NewConstant(of[i])
				if err != nil {
					t.Fatal(err)
				}
				p = constant
			}
			targets.Policies = append(targets.Policies, NamedPolicy{Policy: p})
			q.of = append(q.of, term{i, rng.NormFloat64()})
		}
		k, largest, square := float64(actions), 0.0, 0.0
		for drawn := range actions {
			w := 0.0
			for i, x := range q.of {
				switch of[i] {
				case -1:
					w += math.Abs(x.times) / q.total()
				case drawn:
					w += k * math.Abs(x.times) / q.total()
				}
			}
			largest, square = max(largest, w), square+w*w/k
		}
		bound := q.weights(targets, weightBound{largest: k, square: k})
		if cap := q.cap(targets, k); largest > cap*(1+1e-12) || largest > bound.largest*(1+1e-12) || square > bound.square*(1+1e-12) {
			t.Errorf("%v of policies %v, %d actions: weights up to %v of mean square %v; the bounds are %v, %v and %v", q.of, of, actions, largest, square, cap, bound.largest, bound.square)
		}
	}
}

// Of two policies that share no action, in states where what they do is more or less frequent, a forecast's weights are a law
// of mean 1: with less nothing would seem to be missing at any cap.
func TestWeightsOfPoliciesThatShareNoActionAreALaw(t *testing.T) {
	rare, err := policy.NewConstant(0)
	often, err2 := policy.NewConstant(1)
	drawn, err3 := policy.NewTable([]float64{0.05, 0.95, 0.3, 0.7, 0.12, 0.88}, 2, "s")
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	for _, decisions := range []int64{1, 3} {
		for _, stepwise := range []bool{false, true} {
			p := Public{Horizon: decisions, Gamma: 0.9, Persons: 1000, Reward: Range{0, 1}, Design: NewDesign(drawn, true, rare, often), Privacy: &Privacy{Adjacency: dp.ReplaceOne}}
			targets := &Targets{Policies: []NamedPolicy{{Policy: often}, {Policy: rare}}}
			q := quantity{estimand: estimand{of: []term{{0, 1}, {1, -1}}}}
			shares, mean := 0.0, 0.0
			for _, x := range q.weights(targets, p.weightsOf(stepwise)).law {
				shares, mean = shares+x.Share, mean+x.Share*x.Weight
			}
			if !q.disjoint(targets) || shares > 1+1e-9 || math.Abs(mean-1) > 2e-3 {
				t.Errorf("%d decisions, stepwise %v: probabilities add up to %v, and the mean is %v", decisions, stepwise, shares, mean)
			}
		}
	}
}
