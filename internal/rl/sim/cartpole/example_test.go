package cartpole_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
)

func ExampleNew() {
	env, err := cartpole.New(cartpole.Options{Gravity: 9.7})
	if err != nil {
		fmt.Println(err)
		return
	}
	obs := make([]float64, 4)
	steps := 0
	for out, _ := env.Step(obs, 1); !out.Terminated; out, _ = env.Step(obs, 1) {
		steps++
	}
	fmt.Printf("always pushing right: down after %d steps\n", steps+1)
	// Output: always pushing right: down after 9 steps
}
