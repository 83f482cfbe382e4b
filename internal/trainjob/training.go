// Package trainjob trains a policy as a configuration says, and keeps the run, its budgets and
// its results on disk.
package trainjob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-rl/discreet/internal/yamlfile"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// Trained is what a training run came to; package discreet documents its fields.
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
func Train(ctx context.Context, t yamlfile.Train, with ...func(*simulate.Config)) (out *Trained, err error) {
	c, err := t.Config()
	if err != nil {
		return nil, err
	}
	for _, change := range with {
		change(&c)
	}
	out = &Trained{Dir: t.OutputDir()}
	name := fmt.Sprintf("run %d", time.Now().UnixNano())
	if out.Dir != "" {
		if err := spareTraining(out.Dir); err != nil {
			return nil, err
		}
		if c.Journal, err = simulate.OpenJournal(filepath.Join(out.Dir, "run")); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, c.Journal.Close()) }()
		name = c.Journal.Name()
	}
	store := t.Ledgers()
	if store != nil {
		c.Wallet, c.Wallets = t.Wallets(store, name), t.LedgerName()
	}
	out.Durable = store != nil
	notify := c.Resumed
	c.Resumed = func(reports uint64) {
		out.Resumed = reports
		if store != nil && reports > 0 {
			store.Existing()
		}
		if notify != nil {
			notify(reports)
		}
	}
	if out.Recipe, err = t.Recipe(); err != nil {
		return nil, err
	}
	if out.Result, err = simulate.Run(ctx, c); out.Result == nil {
		return nil, err
	}
	if err != nil && !(errors.Is(err, train.ErrBudget) && out.Accepted > 0) {
		return out, err
	}
	return out, errors.Join(err, out.write(t, c))
}

// spareTraining refuses a directory with results that are of no run in it.
func spareTraining(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "run")); err == nil {
		return nil // whose run it is, the journal knows
	}
	for _, name := range []string{"policy.json", "train.json", "training.svg"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%w: output.dir: %s is of no run there; move it away, or choose another directory", config.ErrConfig, filepath.Join(dir, name))
		}
	}
	return nil
}

// write encodes the result and puts it into its directory, if it has one.
func (r *Trained) write(t yamlfile.Train, c simulate.Config) error {
	text, err := json.MarshalIndent(trainingJSON(c, r), "", "  ")
	if r.JSON = append(text, '\n'); err != nil || r.Dir == "" {
		return err
	}
	write := func(name string, f func(io.Writer) error) error {
		return atomicfile.Write(filepath.Join(r.Dir, name), 0o644, f)
	}
	return errors.Join(
		write("policy.json", func(w io.Writer) error { return t.WritePolicy(w, c.Local, r.Theta) }),
		write("train.json", func(w io.Writer) error {
			_, err := w.Write(r.JSON)
			return err
		}),
	)
}

// training is what train.json holds.
type training struct {
	Schema string `json:"schema"`
	*simulate.Result
	Rejected map[string]uint64 `json:"rejected"`
	Privacy  trainingPrivacy   `json:"privacy"`
	Recipe   simulate.Recipe   `json:"recipe"`
	// Simulation is what nobody would know of real agents.
	Simulation struct {
		FirstSuccess *firstSuccess `json:"first_success,omitempty"`
		LastTenth    float64       `json:"mean_score_of_last_tenth"`
	} `json:"simulation"`
}

// firstSuccess is the first report, from 1, from which on a window of them scored
// the threshold on average; 0 if there is none.
type firstSuccess struct {
	Report    int     `json:"report"`
	Window    int     `json:"window"`
	Threshold float64 `json:"threshold"`
}

type trainingPrivacy struct {
	Unit       string           `json:"unit"`
	Randomizer train.Randomizer `json:"randomizer"`
	// Epsilon is the largest sum that any agent spent.
	Epsilon   float64 `json:"epsilon"`
	Delta     float64 `json:"delta"`
	Adjacency string  `json:"adjacency"`
	Durable   bool    `json:"durable"`
}

func trainingJSON(c simulate.Config, r *Trained) training {
	t := training{Schema: "discreet/training/v1", Result: r.Result, Recipe: r.Recipe, Rejected: map[string]uint64{}}
	for v := train.Malformed; v <= train.Closed; v++ {
		t.Rejected[v.String()] = r.Counts.Of(v)
	}
	t.Privacy = trainingPrivacy{Unit: "agent", Randomizer: c.Terms.Randomizer, Epsilon: r.Epsilon, Adjacency: "replace_one", Durable: c.Wallet != nil}
	if c.Success != nil {
		f := firstSuccess{Window: 10, Threshold: c.Success.Threshold}
		f.Report = simulate.FirstSuccess(r.Scores, f.Window, f.Threshold)
		t.Simulation.FirstSuccess = &f
	}
	t.Simulation.LastTenth = simulate.Retention(r.Scores, .1)
	return t
}
