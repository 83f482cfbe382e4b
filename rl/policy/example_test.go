package policy_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

func ExampleRatios() {
	d := &trajectory.Dataset{
		PersonStart:  []int{0, 1},
		EpisodeStart: []int{0, 2},
		Action:       []int32{1, 0},
		Reward:       []float64{0, 1},
		BehaviorProb: []float64{0.5, 0.8},
		Terminated:   []bool{true},
	}
	pi, err := policy.NewUniform(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	rho := make([]float64, d.Rows())
	if err := policy.Ratios(rho, pi, d); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rho)
	// Output: [1 0.625]
}
