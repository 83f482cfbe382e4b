package ndjsonfile_test

import (
	"fmt"
	"os"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ndjsonfile"
)

func ExampleWrite() {
	d := &trajectory.Dataset{
		Columns: []string{"obs_x"}, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 2},
		Obs: []float64{0.5, 0.25}, Action: []int32{1, 0}, Reward: []float64{0, 1}, Terminated: []bool{true},
	}
	if err := ndjsonfile.Write(os.Stdout, d); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"episode_id":"0","step":0,"unit_id":"0","obs_x":0.5,"action":1,"reward":0,"terminated":false,"truncated":false}
	// {"episode_id":"0","step":1,"unit_id":"0","obs_x":0.25,"action":0,"reward":1,"terminated":true,"truncated":false}
}
