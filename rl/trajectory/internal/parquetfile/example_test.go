package parquetfile_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfile"
)

func ExampleWrite() {
	var b trajectory.Builder
	b.Add(&trajectory.Episode{Columns: []string{"obs_state"}, Obs: []float64{0, 1}, Reward: []float64{0, 0.5}, Terminated: true})
	var file bytes.Buffer
	if err := parquetfile.Write(&file, b.Dataset()); err != nil {
		log.Fatal(err)
	}
	t, err := parquetfile.New(bytes.NewReader(file.Bytes()), int64(file.Len()), "memory")
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	for _, f := range t.Fields() {
		fmt.Print(f.Name, " ")
	}
	fmt.Println()
	// Output:
	// episode_id step unit_id obs_state reward terminated truncated
}
