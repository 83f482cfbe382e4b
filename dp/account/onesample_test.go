package account_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// TestGaussiansOnOneSample: two sums of noise 3 and 4 on one Poisson sample are one
// sum of noise 12/5, since 1/9 + 1/16 = (5/12)^2; and that is worse than a fresh
// sample for each.
func TestGaussiansOnOneSample(t *testing.T) {
	both := dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 3}, dp.Gaussian{NoiseMultiplier: 4}}}
	one := ask(t, dp.AddRemoveOne, dp.PoissonSampled{Rate: .05, Event: both}, 200, "epsilon", 0, 1e-6)
	want := ask(t, dp.AddRemoveOne, sgd(.05, 2.4), 200, "epsilon", 0, 1e-6)
	if math.Abs(one.Upper/want.Upper-1) > 1e-6 || math.Abs(one.Lower/want.Lower-1) > 1e-6 {
		t.Errorf("two sums on one sample %v; one of their mu %v", one, want)
	}
	apart := ask(t, dp.AddRemoveOne, dp.Composed{Events: []dp.Event{sgd(.05, 3), sgd(.05, 4)}}, 200, "epsilon", 0, 1e-6)
	if !(apart.Upper < one.Lower) {
		t.Errorf("a sample each %v, one sample %v; want the second to cost more", apart, one)
	}
	// Under replace_one the pair is the general one, which is no tighter than that of a
	// single sum, and below the Renyi bound.
	repeat := dp.PoissonSampled{Rate: .05, Event: dp.SelfComposed{Count: 4, Event: dp.Gaussian{NoiseMultiplier: 8}}}
	loose := ask(t, dp.ReplaceOne, repeat, 50, "epsilon", 0, 1e-6)
	tight := ask(t, dp.ReplaceOne, sgd(.05, 4), 50, "epsilon", 0, 1e-6)
	r := account.NewRDP(dp.ReplaceOne)
	compose(t, r, repeat, 50)
	renyi, err := r.Epsilon(t.Context(), 1e-6)
	if err != nil || loose.Upper < tight.Lower || loose.Upper > renyi.Upper || loose.Lower > tight.Upper {
		t.Errorf("replace_one: %v; one sum %v, Renyi %v, %v", loose, tight, renyi, err)
	}
	mixed := dp.PoissonSampled{Rate: .05, Event: dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 3}, dp.Laplace{NoiseMultiplier: 3}}}}
	if err := account.New(dp.AddRemoveOne).Compose(t.Context(), mixed, 1); !errors.Is(err, account.ErrUnsupported) {
		t.Errorf("Gaussian and Laplace on one sample: %v; want ErrUnsupported", err)
	}
}
