package noise_test

import (
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/dp/noise"
)

// A sum of integers is made private by adding one integer. A release uses
// NewSource; the seed makes this example print the same each time.
func Example() {
	src := noise.NewSeeded(1)
	g, err := noise.NewGaussian(1000) // standard deviation in lattice steps
	if err != nil {
		fmt.Println(err)
		return
	}
	sum := int64(123_456)
	fmt.Println(sum+g.Sample(src), src.Seeded())
	// Output: 124038 true
}

func ExampleNewLaplace() {
	_, err := noise.NewLaplace(1e15)
	fmt.Println(errors.Is(err, noise.ErrParameter))
	// Output: true
}

// Binary randomised response with epsilon 1: tell the truth with probability
// e/(1+e).
func ExampleSource_BernoulliLogistic() {
	src := noise.NewSeeded(1)
	truth := 0
	for range 10_000 {
		if src.BernoulliLogistic(1) {
			truth++
		}
	}
	fmt.Println(truth > 7100 && truth < 7500) // expected: 7311
	// Output: true
}
