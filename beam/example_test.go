package beam_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/beam"
	"github.com/discreet-rl/discreet/scale"
)

// Workers are found at one address on every machine of the runner.
func ExampleConfig_Validate() {
	fmt.Println(beam.Config{Jobs: "jobs.example:8099", Workers: "localhost:50000", Parallelism: 8}.Validate())
	fmt.Println(beam.Config{Jobs: "jobs.example"}.Validate())
	// Output:
	// <nil>
	// invalid Beam engine: the address of the job service is "jobs.example"; want HOST:PORT
}

// Example has prism group the rows of a file by person into two partitions.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var rows strings.Builder
	rows.WriteString("unit_id,reward\n")
	for person := range 50 {
		fmt.Fprintf(&rows, "%d,%d\n", person, person%2)
	}
	question := filepath.Join(dir, "q.yaml")
	for path, text := range map[string]string{filepath.Join(dir, "rows.csv"): rows.String(), question: `
data: {path: rows.csv, one_row_episodes: true}
problem: {persons: 50, gamma: 1, reward: {min: 0, max: 1}, horizon: 1, return: {min: 0, max: 1}}
target: {kind: logged}
method: {name: dp-is}
privacy: {adjacency: replace_one, epsilon: 1, delta: 1.0e-6}
`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	c, err := discreet.Load(question)
	if err != nil {
		log.Fatal(err)
	}
	text, err := discreet.Question(question)
	if err != nil {
		log.Fatal(err)
	}
	key := scale.RunKey{7}
	os.Setenv(scale.KeyVariable, fmt.Sprintf("%x", key)) // the workers are in this process
	ctx := context.Background()
	e, err := beam.Open(ctx, beam.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	d := scale.Driver{Config: c, Question: text, Partitions: 2, Dir: filepath.Join(dir, "run"), Key: key, Engine: e, Progress: func(round int) { fmt.Println("round", round) }}
	r, err := d.Evaluate(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("released by", r.Release.Method)
	// Output:
	// round 0
	// released by dp-is
}

// visit is a row of a pipeline.
type visit struct {
	Person int     `json:"unit_id"`
	Reward float64 `json:"reward"`
}

func init() { sdk.RegisterType(reflect.TypeFor[visit]()) }

// Rows of a pipeline are evaluated without a file.
func ExampleConfig_rows() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	question := []byte(`
data: {path: pipeline, format: ndjson, one_row_episodes: true}
problem: {persons: 50, gamma: 1, reward: {min: 0, max: 1}, horizon: 1, return: {min: 0, max: 1}}
target: {kind: logged}
method: {name: dp-is}
privacy: {adjacency: replace_one, epsilon: 1, delta: 1.0e-6}
`)
	c, err := discreet.Parse("question", question)
	if err != nil {
		log.Fatal(err)
	}
	visits := func(s sdk.Scope) sdk.PCollection {
		var all []visit
		for person := range 50 {
			all = append(all, visit{person, float64(person % 2)})
		}
		return sdk.CreateList(s, all)
	}
	key := scale.RunKey{7}
	os.Setenv(scale.KeyVariable, fmt.Sprintf("%x", key)) // the workers are in this process
	ctx := context.Background()
	e, err := beam.Open(ctx, beam.Config{Rows: visits})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	d := scale.Driver{Config: c, Question: question, Partitions: 2, Dir: filepath.Join(dir, "run"), Key: key, Engine: e}
	r, err := d.Evaluate(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("released by", r.Release.Method)
	// Output:
	// released by dp-is
}
