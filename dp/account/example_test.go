package account_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// A hundred noisy sums, known beforehand, cost one exact epsilon.
func Example() {
	a := account.New(dp.ReplaceOne)
	if err := a.Compose(context.Background(), dp.Gaussian{NoiseMultiplier: 80}, 100); err != nil {
		fmt.Println(err)
		return
	}
	b, err := a.Epsilon(context.Background(), 1e-5)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("epsilon %.6f\n", b.Upper)
	// Output: epsilon 0.926342
}

func ExampleCalibrate() {
	template, err := dp.ParseTemplate([]byte(`{"kind":"gaussian","noise_multiplier":"?"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := account.Calibrate(context.Background(), template.With, dp.Budget{Epsilon: 1, Delta: 1e-5}, func() account.Accountant {
		return account.New(dp.AddRemoveOne)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("noise multiplier %.6f\n", b.Upper)
	// Output: noise multiplier 3.730632
}

// Releases chosen one after the other, until the budget refuses.
func ExampleFilter() {
	f, err := account.NewFilter(dp.ReplaceOne, dp.Budget{Epsilon: 1, Delta: 1e-5}, account.GaussianDP, account.FilterOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, noise := range []float64{10, 20, 10, 20} {
		err := f.Charge(context.Background(), dp.Gaussian{NoiseMultiplier: noise})
		fmt.Println(noise, "refused:", errors.Is(err, account.ErrExhausted))
	}
	// Output:
	// 10 refused: false
	// 20 refused: false
	// 10 refused: true
	// 20 refused: false
}
