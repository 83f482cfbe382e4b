package file_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

func ExampleRead() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "visits.csv")
	visits := `episode_id,patient_id,visit,obs_pulse,arm,propensity_score,reward,terminated
a,7,0,71,1,0.5,0,false
a,7,1,64,0,0.5,1,true
b,9,0,80,0,0.5,0,false
`
	if err := os.WriteFile(path, []byte(visits), 0o600); err != nil {
		log.Fatal(err)
	}
	d, notices, err := file.Read(context.Background(), []string{path}, "", trajectory.Options{
		Columns: map[string]string{"action": "arm"},
		Need:    trajectory.Action | trajectory.BehaviorProb,
		Reward:  &trajectory.Range{Min: 0, Max: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Persons(), "persons,", d.Rows(), "decisions,", d.Columns)
	for _, n := range notices {
		fmt.Println("notice:", n)
	}
	// Output:
	// 2 persons, 3 decisions, [obs_pulse]
	// notice: column visit is read as step
	// notice: column patient_id is read as unit_id
	// notice: column propensity_score is read as behavior_prob
	// notice: an episode whose last row is neither terminated nor truncated is taken for truncated
}
