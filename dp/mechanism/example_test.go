package mechanism_test

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Two shards of persons, a sum of their clipped vectors, and what it costs.
func Example() {
	shards := [][][]float64{{{1, 0}, {0.6, 0.8}}, {{-300, 400}, {math.NaN(), 1}}} // the third is clipped to norm 1, the last counts as zero
	var total *mechanism.VectorSum
	for _, persons := range shards {
		sum, err := mechanism.NewVectorSum(2, 1, 0.25)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, person := range persons {
			err = errors.Join(err, sum.Add(person))
		}
		if total == nil {
			total = sum
		} else {
			err = errors.Join(err, total.Merge(sum))
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	noisy, event, err := total.Release(noise.NewSeeded(7)) // outside tests noise.NewSource
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(math.Abs(noisy[0]-1) < 1.5, math.Abs(noisy[1]-1.6) < 1.5)
	a := account.New(dp.AddRemoveOne)
	if err := a.Compose(context.Background(), event, 1); err != nil {
		fmt.Println(err)
		return
	}
	epsilon, err := a.Epsilon(context.Background(), 1e-5)
	fmt.Printf("epsilon %.2f %v\n", epsilon.Upper, err)
	// Output:
	// true true
	// epsilon 24.38 <nil>
}

// Which of three treatments most persons score highest, and how many were given each.
func ExamplePermuteAndFlip() {
	choice, err := mechanism.NewPermuteAndFlip(3, 1, 8, dp.AddRemoveOne)
	if err != nil {
		fmt.Println(err)
		return
	}
	given, err := mechanism.NewHistogram(3, 1, 0.1, dp.AddRemoveOne)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 30 {
		if err := errors.Join(choice.Add([]float64{0, 1, 0.2}), given.Add(i%3)); err != nil {
			fmt.Println(err)
			return
		}
	}
	source := noise.NewSeeded(8)
	best, event, err := choice.Release(source)
	fmt.Println(best, event, err)
	counts, _, err := given.Release(source)
	for _, n := range counts {
		fmt.Print(math.Round(n), " ")
	}
	fmt.Println(err)
	// Output:
	// 1 {8} <nil>
	// 10 10 10 <nil>
}
