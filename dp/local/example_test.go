package local_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/noise"
)

// A device reports the direction of its gradient in two bytes. It uses
// noise.NewSource; the seed makes this example print the same each time.
func Example() {
	seed := local.Seed{1} // from the server, fresh for each task
	r, err := local.NewSignPRS(4, 2, seed)
	if err != nil {
		fmt.Println(err)
		return
	}
	gradient := []float64{.5, -2, 0, 1}
	report := r.Randomize(nil, gradient, noise.NewSeeded(1))

	direction := make([]float64, 4)
	if err := r.Estimate(direction, report); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(report), "bytes, epsilon", r.Epsilon())
	// Output: 2 bytes, epsilon 2
}

// A thousand persons say yes or no; each says it with epsilon 1.
func ExampleResponse() {
	r, err := local.NewResponse(2, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	src := noise.NewSeeded(1)
	counts := make([]int64, 2)
	for person := range 1000 {
		answer := 0
		if person < 700 {
			answer = 1
		}
		said, err := r.Decode(r.Randomize(nil, answer, src))
		if err != nil {
			fmt.Println(err)
			return
		}
		counts[said]++
	}
	share := make([]float64, 2)
	r.Estimate(share, counts)
	fmt.Println(share[1] > .6 && share[1] < .8)
	// Output: true
}
