package bandit_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/internal/rl/sim/bandit"
)

func ExampleNew() {
	env, err := bandit.New(bandit.Options{Taste: 90})
	if err != nil {
		fmt.Println(err)
		return
	}
	obs := make([]float64, 2)
	rng := rand.New(rand.NewPCG(1, 1))
	clicks, people := 0.0, 1000
	for range people {
		env.Reset(obs, rng)
		for {
			out, _ := env.Step(obs, 1) // the item that lies at the taste
			clicks += out.Reward
			if out.Terminated {
				break
			}
		}
	}
	fmt.Printf("%.0f of %d visits end with a click\n", clicks/float64(people), bandit.Visits)
	// Output: 14 of 20 visits end with a click
}
