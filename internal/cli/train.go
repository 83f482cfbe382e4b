package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/train"
)

func newTrain() *cobra.Command {
	var overrides []string
	var asJSON bool
	var threads int
	cmd := &cobra.Command{
		Use:   "train CONFIG.yaml",
		Short: "Train a policy on many agents' environments under local privacy",
		Long: "Agents and aggregator run in one process, on simulated environments. With output.dir the run\n" +
			"is kept there: interrupt it with Ctrl-C and give the same command to go on. The directory gets\n" +
			"policy.json, train.json and training.svg and .png in the end. docs/training.md explains the keys.",
		Args: exactly(1, "one configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if threads < 0 {
				return usage(fmt.Errorf("train: --threads is %d; want 1 or more, or 0 for one a core", threads))
			}
			y, err := config.LoadTrain(args[0], overrides)
			if err != nil {
				return err
			}
			return runTrain(cmd, y, threads, asJSON)
		},
	}
	cmd.Flags().StringArrayVar(&overrides, "set", nil, "override a key of the configuration, key.key=value")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON and nothing else")
	cmd.Flags().IntVar(&threads, "threads", 0, "goroutines that compute; 0 means one a core; the result does not depend on it")
	return cmd
}

func runTrain(cmd *cobra.Command, y config.Train, threads int, asJSON bool) (err error) {
	c, err := y.Config()
	if err != nil {
		return err
	}
	c.Threads = threads
	dir, name := y.OutputDir(), fmt.Sprintf("run %d", time.Now().UnixNano())
	if dir != "" {
		if c.Journal, err = train.OpenJournal(filepath.Join(dir, "run")); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.Journal.Close()) }()
		name = c.Journal.Name()
	}
	if s := y.Ledgers(); s != nil {
		c.Wallet = y.Wallets(s, name)
	}
	c.Progress = tellTraining(cmd.ErrOrStderr(), c)
	result, err := train.Train(cmd.Context(), c)
	if errors.Is(err, context.Canceled) && dir != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s keeps the %d reports so far; the same command continues\n", dir, result.Accepted)
	}
	if err != nil {
		return err
	}
	if dir != "" {
		if err := writeTraining(dir, y, c, result); err != nil {
			return err
		}
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), trainingJSON(c, result))
	}
	printTraining(cmd.OutOrStdout(), dir, c, result)
	return nil
}

// training is what train.json holds.
type training struct {
	Schema string `json:"schema"`
	*train.Result
	Rejected map[string]uint64 `json:"rejected"`
	Privacy  trainingPrivacy   `json:"privacy"`
	// Simulation is what nobody would know of real agents.
	Simulation struct {
		FirstSuccess int     `json:"first_success_195"`
		LastTenth    float64 `json:"mean_score_of_last_tenth"`
	} `json:"simulation"`
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

func trainingJSON(c train.Config, r *train.Result) training {
	t := training{Schema: "discreet/training/v1", Result: r, Rejected: map[string]uint64{}}
	for v := train.Malformed; v <= train.Closed; v++ {
		t.Rejected[v.String()] = r.Counts.Of(v)
	}
	t.Privacy = trainingPrivacy{Unit: "agent", Randomizer: c.Terms.Randomizer, Epsilon: r.Epsilon, Adjacency: "replace_one", Durable: c.Wallet != nil}
	t.Simulation.FirstSuccess = train.FirstSuccess(r.Scores, 10, 195)
	t.Simulation.LastTenth = train.Retention(r.Scores, .1)
	return t
}

func writeTraining(dir string, y config.Train, c train.Config, r *train.Result) error {
	names, scale := y.Observations()
	write := func(name string, f func(io.Writer) error) error {
		return atomicfile.Write(filepath.Join(dir, name), 0o644, f)
	}
	return errors.Join(
		write("policy.json", func(w io.Writer) error { return train.WritePolicy(w, c.Local.Network, r.Theta, names, scale) }),
		write("train.json", func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(trainingJSON(c, r))
		}),
		write("training.svg", func(w io.Writer) error { return plotTraining(w, "svg", r) }),
		write("training.png", func(w io.Writer) error { return plotTraining(w, "png", r) }),
	)
}

func printTraining(w io.Writer, dir string, c train.Config, r *train.Result) {
	fmt.Fprintf(w, "reports   %d accepted, %d rejected, %d declined for want of budget\n", r.Accepted, r.Counts.Rejected(), r.Declined)
	fmt.Fprintf(w, "updates   %d\n", r.Version)
	if !c.Terms.Randomizer.Private() {
		fmt.Fprintln(w, "privacy   NONE: a reference, not for agents")
	} else {
		fmt.Fprintf(w, "privacy   epsilon %.6g at most for an agent, delta 0, local, replace_one; each report %s at epsilon %.6g\n", r.Epsilon, c.Terms.Randomizer.Mechanism, c.Terms.Randomizer.Epsilon)
		if c.Wallet == nil {
			fmt.Fprintln(w, "          budgets were kept in memory: nothing is left of them after this run")
		}
	}
	if n := len(r.Success); n > 0 {
		e := r.Success[n-1]
		fmt.Fprintf(w, "success   %.3f +- %.3f of agents after %d reports, from %d private answers at epsilon %g\n", e.Share, e.StdError, e.Submissions, e.Agents, c.Success.Epsilon)
	}
	fmt.Fprintf(w, "score     %.1f in the last tenth (the simulation's own knowledge; real agents do not tell)\n", train.Retention(r.Scores, .1))
	if dir != "" {
		fmt.Fprintf(w, "written   %s\n", filepath.Join(dir, "policy.json"))
	}
}

// tellTraining writes how far a run has come: in place on a terminal, elsewhere a
// line every ten seconds and one at the end.
func tellTraining(w io.Writer, c train.Config) func(train.Progress) bool {
	f, ok := w.(*os.File)
	inPlace := ok && terminal(f)
	every := 10 * time.Second
	if inPlace {
		every = 200 * time.Millisecond
	}
	last, mean := time.Now(), 0.0
	return func(p train.Progress) bool {
		mean += (p.Score - mean) / float64(min(p.Accepted, 100))
		if !p.Done && time.Since(last) < every {
			return true
		}
		last = time.Now()
		line := fmt.Sprintf("%d of %d reports, %d updates, simulated score %.0f", p.Accepted, c.Terms.Submissions, p.Version, mean)
		if c.Terms.Randomizer.Private() {
			line += fmt.Sprintf(", epsilon %.4g of %.4g an agent", p.Epsilon, c.Budget)
		}
		if p.Success != nil {
			line += fmt.Sprintf(", success %.2f +- %.2f", p.Success.Share, p.Success.StdError)
		}
		switch {
		case inPlace && !p.Done:
			fmt.Fprintf(w, "\r\x1b[K%s", line)
		case inPlace:
			fmt.Fprintf(w, "\r\x1b[K%s\n", line)
		default:
			fmt.Fprintln(w, line)
		}
		return true
	}
}
