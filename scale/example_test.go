package scale_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/scale"
)

// A mean return from four shards: the same release as from the data in one process.
func Example() {
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	data, err := chain.Simulate(chain.Options{Episodes: 500, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	shards, err := scale.Write(data, filepath.Join(dir, "shards"), 4)
	if err != nil {
		log.Fatal(err)
	}
	question := filepath.Join(dir, "q.yaml")
	err = os.WriteFile(question, []byte(`
data: {path: "shards/*.parquet"}
problem: {persons: 500, gamma: 0.99, reward: {min: 0, max: 1}, return: {min: 0, max: 1}, horizon: 10000}
target: {kind: logged}
method: {name: dp-is}
privacy: {adjacency: replace_one, epsilon: 1, delta: 1.0e-6}
`), 0o644)
	if err != nil {
		log.Fatal(err)
	}
	config, err := discreet.Load(question)
	if err != nil {
		log.Fatal(err)
	}
	text, err := discreet.Question(question)
	if err != nil {
		log.Fatal(err)
	}
	driver := scale.Driver{Config: config, Question: text, Shards: shards, Dir: filepath.Join(dir, "run"), Key: scale.RunKey{1}, Engine: scale.Local{}}
	seeded := discreet.WithSource(noise.NewSeeded(1)) // tests alone
	apart, err := driver.Evaluate(context.Background(), seeded)
	if err != nil {
		log.Fatal(err)
	}
	whole, err := discreet.Evaluate(context.Background(), config, discreet.WithSource(noise.NewSeeded(1)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same bytes:", string(apart.JSON) == string(whole.JSON))
	// Output: the same bytes: true
}
