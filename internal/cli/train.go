package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/chart"
	"github.com/discreet-rl/discreet/train/simulate"
)

func newTrain() *cobra.Command {
	var threads int
	cmd := command("train CONFIG.yaml", "Train a policy on many agents' environments under local privacy",
		"Agents and aggregator run in one process, on simulated environments. With output.dir the run\n"+
			"is kept there: interrupt it with Ctrl-C and give the same command to go on. The directory gets\n"+
			"policy.json, train.json and training.svg in the end. docs/training.md explains the keys.", oneConfiguration,
		func(cmd *cobra.Command, args []string) error {
			if threads < 0 {
				return usage(fmt.Errorf("train: --threads is %d; want 1 or more, or 0 for one a core", threads))
			}
			y, err := discreet.LoadTraining(args[0], overrides(cmd)...)
			if err != nil {
				return err
			}
			return runTrain(cmd, y, threads)
		})
	setFlag(cmd)
	jsonFlag(cmd, "the result as JSON")
	cmd.Flags().IntVar(&threads, "threads", 0, "goroutines that compute; 0 means one a core; the result does not depend on it")
	return cmd
}

func runTrain(cmd *cobra.Command, y discreet.Training, threads int) error {
	c, err := y.Config()
	if err != nil {
		return err
	}
	told := cmd.ErrOrStderr()
	progress := &ticker{w: told, last: time.Now()}
	result, err := discreet.Train(cmd.Context(), y, func(run *simulate.Config) {
		run.Threads, run.Progress = threads, tellTraining(progress, c)
		run.Resumed = func(reports uint64) {
			if wanted := c.Terms.Submissions; reports < wanted {
				fmt.Fprintf(told, "%s holds this run: it goes on after %d of %d reports\n", y.OutputDir(), reports, wanted)
				return
			}
			fmt.Fprintf(told, "%s holds this run, complete with %d reports: nothing is trained again; its results follow\n", y.OutputDir(), reports)
		}
	})
	progress.end()
	switch {
	case errors.Is(err, context.Canceled) && result != nil:
		return interruptedTraining(result.Dir, max(result.Resumed, result.Accepted), c)
	case result == nil || err != nil && result.JSON == nil:
		return err
	}
	if result.Dir != "" {
		draw := func(w io.Writer) error { return plotTraining(w, result.Result) }
		if failure := atomicfile.Write(filepath.Join(result.Dir, "training.svg"), 0o644, draw); failure != nil {
			return errors.Join(err, failure)
		}
	}
	if err != nil {
		fmt.Fprintf(told, "what %d reports came to is in %s\n", result.Accepted, result.Dir)
		return err
	}
	if wantsJSON(cmd) {
		_, err := cmd.OutOrStdout().Write(result.JSON)
		return err
	}
	printTraining(cmd.OutOrStdout(), result, c)
	return nil
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
	fmt.Fprintf(w, "reports   %d accepted, %d rejected, %d declined for want of budget", r.Accepted, r.Counts.Rejected(), r.Declined)
	if r.Forfeited > 0 {
		fmt.Fprintf(w, ", %d forfeited: paid for, but never made because a process ended", r.Forfeited)
	}
	fmt.Fprintln(w)
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
		fmt.Fprintf(w, "written   policy.json, train.json and training.svg in %s\n", r.Dir)
	}
}

// printRecipe says how agents learned, and what of it the configuration left to the rule.
func printRecipe(w io.Writer, r simulate.Recipe) {
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

// tellTraining writes how far a run has come; it is for [simulate.Config.Progress].
func tellTraining(t *ticker, c simulate.Config) func(simulate.Progress) bool {
	var mean float64
	return func(p simulate.Progress) bool {
		mean += (p.Score - mean) / float64(min(p.Accepted, 100))
		if !t.due(p.Done) {
			return true
		}
		line := fmt.Sprintf("%d of %d reports, %d updates, simulated score %.0f", p.Accepted, c.Terms.Submissions, p.Version, mean)
		if c.Terms.Randomizer.Private() {
			line += fmt.Sprintf(", epsilon %.4g of %.4g an agent", p.Epsilon, c.Budget)
		}
		if p.Success != nil {
			line += fmt.Sprintf(", success %.2f +- %.2f", p.Success.Share, p.Success.StdError)
		}
		t.write(line)
		return true
	}
}

// plotTraining draws the score along a run and, below it, the private estimates of evaluating agents.
func plotTraining(w io.Writer, r *simulate.Result) error {
	d := chart.Drawing{Title: "Training", Columns: 1, Panels: []*chart.Panel{scorePanel(r.Scores)}}
	if len(r.Success) > 0 {
		d.Panels, d.Foot = append(d.Panels, successPanel(r.Success)), "bars: two standard errors"
	}
	return d.Write(w)
}

// scorePanel shows means of scores over a hundredth of the run.
func scorePanel(scores []float64) *chart.Panel {
	window := max(1, len(scores)/100)
	var points []chart.Dot
	var means []float64
	for from := 0; from+window <= len(scores); from += window {
		sum := 0.0
		for _, s := range scores[from : from+window] {
			sum += s
		}
		means = append(means, sum/float64(window))
		points = append(points, chart.Dot{X: float64(from + window), Y: sum / float64(window)})
	}
	p := chart.New(fmt.Sprintf("Score, mean of %d agents (simulation only)", window), reports(points), chart.Axis{Name: "score"}.Over(means...))
	p.Line(onlyLine, points)
	return p
}

// reports is the axis of reports from the first.
func reports(points []chart.Dot) chart.Axis {
	a := chart.Axis{Name: "reports", High: 1}
	for _, d := range points {
		a.High = max(a.High, d.X)
	}
	return a
}

// successPanel shows the private estimates of the share of successful agents, with
// two standard errors.
func successPanel(estimates []simulate.Estimate) *chart.Panel {
	var points, upper, lower []chart.Dot
	var ends []float64
	for _, e := range estimates {
		x, high, low := float64(e.Submissions), e.Share+2*e.StdError, e.Share-2*e.StdError
		points, upper, lower = append(points, chart.Dot{X: x, Y: e.Share}), append(upper, chart.Dot{X: x, Y: high}), append(lower, chart.Dot{X: x, Y: low})
		ends = append(ends, high, low)
	}
	p := chart.New("Successful agents, by randomised response", reports(points), chart.Axis{Name: "share"}.Over(ends...))
	p.Bars("bars "+chart.Colour(0), upper, lower)
	p.Mark("mark "+chart.Colour(0), chart.Disc, 3, points...)
	return p
}
