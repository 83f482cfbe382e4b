package csvfile_test

import (
	"log"
	"os"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/csvfile"
)

func ExampleWrite() {
	var b trajectory.Builder
	b.Add(&trajectory.Episode{Columns: []string{"obs_state"}, Obs: []float64{0, 1}, Reward: []float64{0, 0.5}, Terminated: true})
	if err := csvfile.Write(os.Stdout, b.Dataset()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// episode_id,step,unit_id,obs_state,reward,terminated,truncated
	// 0,0,0,0,0,false,false
	// 0,1,0,1,0.5,true,false
}
