package beam_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/beam"
)

// Workers are found at one address on every machine of the runner.
func ExampleConfig_Validate() {
	fmt.Println(beam.Config{Jobs: "jobs.example:8099", Workers: "localhost:50000", Parallelism: 8}.Validate())
	fmt.Println(beam.Config{Jobs: "jobs.example"}.Validate())
	// Output:
	// <nil>
	// invalid Beam engine: the address of the job service is "jobs.example"; want HOST:PORT
}
