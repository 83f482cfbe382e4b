package mountaincar_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
)

func ExampleNew() {
	env, err := mountaincar.New(mountaincar.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	obs := env.State[:]
	for step := 1; ; step++ {
		action := 0
		if obs[1] >= 0 {
			action = 2 // push along with the motion
		}
		if out, _ := env.Step(obs, action); out.Terminated {
			fmt.Println("at the goal after", step, "steps")
			return
		}
	}
	// Output: at the goal after 124 steps
}
