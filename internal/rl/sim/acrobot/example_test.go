package acrobot_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/internal/rl/sim/acrobot"
)

func ExampleNew() {
	env, err := acrobot.New(acrobot.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	obs := make([]float64, 6)
	env.State = [4]float64{0.05, 0, 0, 0}
	for step := 1; ; step++ {
		action := 0
		if env.State[2] < 0 {
			action = 2 // drive the second link against the swing of the first
		}
		if out, _ := env.Step(obs, action); out.Terminated {
			fmt.Println("above the height after", step, "steps")
			return
		}
	}
	// Output: above the height after 76 steps
}
