package trajectory_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// A simulator makes a dataset through a Builder.
func ExampleBuilder() {
	var b trajectory.Builder
	b.Add(&trajectory.Episode{
		Person:  0,
		Columns: []string{"obs_state"},
		Obs:     []float64{0, 1},
		Action:  []int32{1, 1},
		Reward:  []float64{0, 1},
		Final:   []float64{2},
	})
	b.Add(&trajectory.Episode{
		Person:     1,
		Columns:    []string{"obs_state"},
		Obs:        []float64{2},
		Action:     []int32{0},
		Reward:     []float64{0},
		Terminated: true,
	})
	d := b.Dataset()
	fmt.Println(d.Persons(), "persons,", d.Episodes(), "episodes,", d.Rows(), "decisions")
	fmt.Println(d.Observation(1), d.FinalObservation(0), d.FinalObservation(1))
	// Output:
	// 2 persons, 2 episodes, 3 decisions
	// [1] [2] []
}
