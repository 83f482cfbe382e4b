package discreet

import (
	"context"

	"github.com/discreet-rl/discreet/internal/trainjob"
	"github.com/discreet-rl/discreet/internal/yamlfile"
	"github.com/discreet-rl/discreet/train/simulate"
)

// Training is a locally private training run on simulated agents, as its YAML form
// says; docs/training.md describes the keys. The unit of privacy is the agent,
// adjacency is replace-one, and delta is 0.
type Training struct{ file yamlfile.Train }

// LoadTraining reads a training run from a YAML file, as strictly as [Load], and
// applies overrides of the form key.key=value. Relative paths in the file are relative
// to its directory.
func LoadTraining(path string, overrides ...string) (Training, error) {
	y, err := yamlfile.LoadTrain(path, overrides)
	return Training{y}, err
}

// Config is the run that the training describes, to be looked at, or to be changed and
// run by [simulate.Run]. It has no journal and keeps budgets in memory.
func (t Training) Config() (simulate.Config, error) { return t.file.Config() }

// Recipe is how agents learn and report: what the training states, and what was chosen
// where it states nothing; docs/training.md has the rule.
func (t Training) Recipe() (simulate.Recipe, error) { return t.file.Recipe() }

// OutputDir is where results are written; empty where nothing is.
func (t Training) OutputDir() string { return t.file.OutputDir() }

// Trained is what a training run came to.
type Trained struct {
	*simulate.Result
	// Recipe is how agents learned and reported.
	Recipe simulate.Recipe
	// JSON is what is written to train.json.
	JSON []byte
	// Dir is where policy.json and train.json are, and the run itself, so that it
	// can go on; empty when the configuration names no output.
	Dir string
	// Durable says that agents' budgets are in a ledger; otherwise they were kept in
	// memory and are gone.
	Durable bool
	// Resumed is the number of reports that earlier processes had left in Dir.
	Resumed uint64
}

// Train trains a policy on simulated agents, each of which spends at most the epsilon of
// the configuration, and writes it to output.dir. What is there already goes on.
//
// What the run came to so far is returned beside the error where ctx ended, or agents
// have no budget left ([train.ErrBudget]; the policy is then written all the same):
// reports that were sent cannot be taken back.
//
// Each of with may change how the run is made before it begins, such as its Threads, its
// Progress, or what is told when an earlier run goes on (Resumed).
func Train(ctx context.Context, t Training, with ...func(*simulate.Config)) (*Trained, error) {
	out, err := trainjob.Train(ctx, t.file, with...)
	return (*Trained)(out), err
}
