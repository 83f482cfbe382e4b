package sim_test

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/sim"
)

func ExampleRollout() {
	pi, err := policy.NewUniform(mountaincar.Actions)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := sim.Rollout{
		New:      func() (sim.Env, error) { return mountaincar.New(mountaincar.Options{}) },
		Policy:   pi,
		Episodes: 100,
		Seed:     1,
	}
	d, err := r.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Persons(), "persons,", d.Rows(), "decisions of", d.Columns)
	fmt.Printf("behaviour probability %.3f, reached the goal: %v\n", d.BehaviorProb[0], d.Terminated[0])
	// Output:
	// 100 persons, 20000 decisions of [obs_position obs_velocity]
	// behaviour probability 0.333, reached the goal: false
}
