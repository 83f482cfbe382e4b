package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/train/simulate"
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
			y, err := discreet.LoadTraining(args[0], overrides...)
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

func runTrain(cmd *cobra.Command, y discreet.Training, threads int, asJSON bool) error {
	c, err := y.Config()
	if err != nil {
		return err
	}
	told := cmd.ErrOrStderr()
	progress := tellTraining(told, c)
	result, err := discreet.Train(cmd.Context(), y, func(run *simulate.Config) {
		run.Threads, run.Progress = threads, progress.tell
		run.Resumed = func(reports uint64) { tellResumed(told, y.OutputDir(), reports, c.Terms.Submissions) }
	})
	progress.end()
	switch {
	case errors.Is(err, context.Canceled) && result != nil:
		return interruptedTraining(result.Dir, max(result.Resumed, result.Accepted), c)
	case result == nil || err != nil && result.JSON == nil:
		return err
	}
	if result.Dir != "" {
		if failure := plotted(result); failure != nil {
			return errors.Join(err, failure)
		}
	}
	if err != nil {
		fmt.Fprintf(told, "what %d reports came to is in %s\n", result.Accepted, result.Dir)
		return err
	}
	if asJSON {
		_, err := cmd.OutOrStdout().Write(result.JSON)
		return err
	}
	printTraining(cmd.OutOrStdout(), result, c)
	return nil
}

// plotted draws the run beside its policy.
func plotted(r *discreet.Trained) error {
	draw := func(format string) error {
		return atomicfile.Write(filepath.Join(r.Dir, "training."+format), 0o644, func(w io.Writer) error { return plotTraining(w, format, r.Result) })
	}
	return errors.Join(draw("svg"), draw("png"))
}

// tellResumed says that a directory holds a run, and how far it is.
func tellResumed(w io.Writer, dir string, reports, wanted uint64) {
	if reports >= wanted {
		fmt.Fprintf(w, "%s holds this run, complete with %d reports: nothing is trained again; its results follow\n", dir, reports)
		return
	}
	fmt.Fprintf(w, "%s holds this run: it goes on after %d of %d reports\n", dir, reports, wanted)
}

// interruptedTraining tells what an interrupt left: reports that were sent cannot
// be taken back.
func interruptedTraining(dir string, reports uint64, c simulate.Config) error {
	spent := fmt.Sprintf("%d reports were sent", reports)
	if c.Terms.Randomizer.Private() {
		spent += fmt.Sprintf(", each at epsilon %.6g, and stay paid for", c.Terms.Randomizer.Epsilon)
	}
	if dir == "" {
		return fmt.Errorf("training was interrupted: %s; nothing is kept of them without output.dir", spent)
	}
	return fmt.Errorf("training was interrupted: %s; %s keeps them, and the same command goes on", spent, dir)
}

func printTraining(w io.Writer, r *discreet.Trained, c simulate.Config) {
	fmt.Fprintf(w, "reports   %d accepted, %d rejected, %d declined for want of budget%s\n", r.Accepted, r.Counts.Rejected(), r.Declined, forfeited(r.Forfeited))
	fmt.Fprintf(w, "updates   %d\n", r.Version)
	if !c.Terms.Randomizer.Private() {
		fmt.Fprintln(w, "privacy   NONE: a reference, not for agents")
	} else {
		fmt.Fprintf(w, "privacy   epsilon %.6g at most for an agent, delta 0, local, replace_one; each report %s at epsilon %.6g\n", r.Epsilon, c.Terms.Randomizer.Mechanism, c.Terms.Randomizer.Epsilon)
		if !r.Durable {
			fmt.Fprintln(w, "          budgets were kept in memory only, and are lost after this run")
		}
	}
	printRecipe(w, r.Recipe)
	if n := len(r.Success); n > 0 {
		e := r.Success[n-1]
		fmt.Fprintf(w, "success   %.3f +- %.3f of agents after %d reports, from %d private answers at epsilon %g\n", e.Share, e.StdError, e.Submissions, e.Agents, c.Success.Epsilon)
		fmt.Fprintln(w, "          (unbiased, so that noise may carry it below 0 or above 1; +- one standard error)")
	}
	fmt.Fprintf(w, "score     %.1f in the last tenth (known only in a simulation; real agents do not report it)\n", simulate.Retention(r.Scores, .1))
	if r.Dir != "" {
		fmt.Fprintf(w, "written   policy.json, train.json, training.svg and training.png in %s\n", r.Dir)
	}
}

// printRecipe says how agents learned, and what of it the configuration left to the rule.
func printRecipe(w io.Writer, r discreet.Recipe) {
	fmt.Fprintf(w, "learning  %s with %s, episodes: %d", r.Method, r.Mechanism, r.Episodes)
	if len(r.Chosen) > 0 {
		fmt.Fprintf(w, "; chosen by the rule of docs/training.md for %d weights", r.Weights)
		if r.Epsilon > 0 {
			fmt.Fprintf(w, " and reports at epsilon %.6g", r.Epsilon)
		}
		fmt.Fprintf(w, ": %s", strings.Join(r.Chosen, ", "))
	}
	fmt.Fprintln(w)
}

func forfeited(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d forfeited: paid for, but never made because a process ended", n)
}

// trainingProgress writes how far a run has come: in place on a terminal, elsewhere
// a line every ten seconds and one at the end.
type trainingProgress struct {
	w       io.Writer
	cfg     simulate.Config
	inPlace bool
	open    bool // the cursor is behind a line that is to be written over
	last    time.Time
	mean    float64
}

func tellTraining(w io.Writer, c simulate.Config) *trainingProgress {
	f, ok := w.(*os.File)
	return &trainingProgress{w: w, cfg: c, inPlace: ok && terminal(f), last: time.Now()}
}

// tell is for [simulate.Config.Progress].
func (t *trainingProgress) tell(p simulate.Progress) bool {
	t.mean += (p.Score - t.mean) / float64(min(p.Accepted, 100))
	every := 10 * time.Second
	if t.inPlace {
		every = 200 * time.Millisecond
	}
	if !p.Done && time.Since(t.last) < every {
		return true
	}
	t.last = time.Now()
	line := fmt.Sprintf("%d of %d reports, %d updates, simulated score %.0f", p.Accepted, t.cfg.Terms.Submissions, p.Version, t.mean)
	if t.cfg.Terms.Randomizer.Private() {
		line += fmt.Sprintf(", epsilon %.4g of %.4g an agent", p.Epsilon, t.cfg.Budget)
	}
	if p.Success != nil {
		line += fmt.Sprintf(", success %.2f +- %.2f", p.Success.Share, p.Success.StdError)
	}
	if t.inPlace {
		fmt.Fprintf(t.w, "\r\x1b[K%s", line)
		t.open = true
	} else {
		fmt.Fprintln(t.w, line)
	}
	return true
}

// end leaves the last line as it is.
func (t *trainingProgress) end() {
	if t.open {
		fmt.Fprintln(t.w)
		t.open = false
	}
}
