package account_test

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// upper prints the certain end of a bracket, or the error.
func upper(b account.Bracket, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("epsilon at most %.4f\n", b.Upper)
}

// DP-SGD: 14062 steps on Poisson samples of 256 of 60000 persons, noise 1.1 times the clip.
func ExampleNew_gradientDescent() {
	ctx := context.Background()
	a := account.New(dp.AddRemoveOne)
	step := dp.PoissonSampled{Rate: 256. / 60000, Event: dp.Gaussian{NoiseMultiplier: 1.1}}
	if err := a.Compose(ctx, step, 14062); err != nil {
		fmt.Println(err)
		return
	}
	upper(a.Epsilon(ctx, 1e-5))
	// Output: epsilon at most 2.3819
}

// Different releases from the same persons are composed into one accountant.
func ExampleNew_heterogeneous() {
	ctx := context.Background()
	a := account.New(dp.AddRemoveOne)
	for _, e := range []dp.Event{
		dp.Gaussian{NoiseMultiplier: 8},
		dp.Laplace{NoiseMultiplier: 10},
		dp.Exponential{Epsilon: .1},
		dp.SelfComposed{Count: 500, Event: dp.PoissonSampled{Rate: .01, Event: dp.Gaussian{NoiseMultiplier: 1.5}}},
	} {
		if err := a.Compose(ctx, e, 1); err != nil {
			fmt.Println(err)
			return
		}
	}
	upper(a.Epsilon(ctx, 1e-6))
	// Output: epsilon at most 1.0095
}

// A person answers ten questions, each by randomised response among four buckets.
func ExampleNew_local() {
	ctx := context.Background()
	a := account.New(dp.ReplaceOne)
	if err := a.Compose(ctx, dp.RandomizedResponse{Buckets: 4, NoiseParameter: .8}, 10); err != nil {
		fmt.Println(err)
		return
	}
	upper(a.Epsilon(ctx, 1e-6))
	// Output: epsilon at most 6.9219
}

// staircase is a mechanism of somebody else. It knows its privacy loss under an adjacency, and says it by an event.
type staircase struct{ width float64 }

func (m staircase) event() dp.Event {
	// Half of the mass at the largest loss, mirrored: masses of the second law are e^-loss times the first's.
	p := 1 / (1 + math.Exp(-m.width))
	return dp.PrivacyLoss{Losses: []float64{-m.width, m.width}, Masses: []float64{1 - p, p}}
}

// A mechanism that is not known here brings its own distribution of the privacy loss, and is composed,
// charged and kept as any other.
func ExampleNew_ownMechanism() {
	ctx := context.Background()
	a := account.New(dp.AddRemoveOne)
	if err := a.Compose(ctx, staircase{.1}.event(), 100); err != nil {
		fmt.Println(err)
		return
	}
	upper(a.Epsilon(ctx, 1e-6))
	// Output: epsilon at most 4.7746
}

// What was spent so far, when no budget was fixed beforehand.
func ExampleOdometer() {
	o, err := account.NewOdometer(dp.AddRemoveOne, account.GaussianDP, 1e-6, .1, account.FilterOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, noise := range []float64{40, 20, 10, 5} {
		if err := o.Charge(context.Background(), dp.Gaussian{NoiseMultiplier: noise}); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("epsilon %.3f\n", o.Reading().Epsilon)
	}
	// Output:
	// epsilon 0.100
	// epsilon 0.305
	// epsilon 0.596
	// epsilon 1.455
}
