package hiv_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/internal/rl/sim/hiv"
)

func ExampleNew() {
	env, err := hiv.New(hiv.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	obs := make([]float64, 6)
	for range 12 { // both drugs for two months
		if _, err := env.Step(obs, 3); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("virus from %.0f to %.0f copies/ml\n", hiv.Unhealthy()[hiv.V], env.State[hiv.V])
	// Output: virus from 63919 to 1 copies/ml
}
