package cli

import (
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/audit"
	planaudit "github.com/discreet-rl/discreet/internal/audit"
	"github.com/discreet-rl/discreet/internal/evaluate/examine"
	"github.com/discreet-rl/discreet/internal/report"
	trainexamine "github.com/discreet-rl/discreet/internal/train/examine"
	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// planAudit is an audit of a configuration.
type planAudit struct {
	planaudit.Options
	page string
}

func (a planAudit) run(cmd *cobra.Command, path string) error {
	if a.Runs != 0 && a.Runs < fewestRuns {
		return usage(fmt.Errorf("audit: --runs is %d; want at least %d, or none for as many as the claim needs", a.Runs, fewestRuns))
	}
	if w := cmd.ErrOrStderr(); terminal(w) { // elsewhere it is silent
		a.Progress = func(part string) { fmt.Fprintf(w, "audit: %s\n", part) }
	}
	if yamlfile.IsTrain(path) {
		return a.runTraining(cmd, path)
	}
	if a.OneRun {
		return usage(fmt.Errorf("audit: --one-run is of training: one release of an evaluation holds too few numbers to tell canaries apart by; leave it out, or audit by --canaries what you release yourself"))
	}
	c, err := load(cmd, path, overrides(cmd)...)
	if err != nil {
		return err
	}
	r, err := planaudit.Plan(cmd.Context(), c, a.Options)
	if err != nil {
		return err
	}
	return a.tell(cmd, report.Audit{Of: filepath.Base(path), Report: r}, r, r.Broken, func(w io.Writer) { printAudit(w, r) })
}

// tell draws the page of an audit, where one is asked for, and prints what was found as JSON or in
// words. It is an error that something is broken.
func (a planAudit) tell(cmd *cobra.Command, page report.Audit, found any, broken []string, print func(io.Writer)) error {
	if a.page != "" {
		if err := newFile(a.page, 0o644, func(w io.Writer) error { return report.WriteAudit(w, page) }); err != nil {
			return err
		}
	}
	if err := showBy(cmd, found, print); err != nil {
		return err
	}
	if len(broken) > 0 {
		return fmt.Errorf("%w: %s", audit.ErrBroken, broken[0])
	}
	return nil
}

// fewestRuns is the least that chooses a test and has some left to count.
const fewestRuns = 200

// printRest says what an audit could not test, how long it took, and what is broken.
func printRest(w io.Writer, missing []string, seconds float64, broken []string) {
	for _, m := range missing {
		fmt.Fprintf(w, "untested  %s\n", m)
	}
	fmt.Fprintf(w, "seconds   %.1f\n", seconds)
	for _, b := range broken {
		fmt.Fprintln(w, alarm(w, "BROKEN    "+printable(b)))
	}
}

// printSelfTest says which planted bugs an audit found.
func printSelfTest(w io.Writer, planted []examine.Planted, missed int) {
	fmt.Fprintf(w, "self-test %d of %d planted bugs found\n", len(planted)-missed, len(planted))
	for _, p := range planted {
		if p.Found {
			fmt.Fprintf(w, "          %s: found by the %s\n", p.Mistake, p.By)
		} else {
			fmt.Fprintln(w, alarm(w, fmt.Sprintf("          %s: NOT FOUND", p.Mistake)))
		}
	}
}

func printAudit(w io.Writer, r *examine.Report) {
	fmt.Fprintf(w, "method    %s\n", r.Method)
	fmt.Fprintf(w, "claim     %s, %v\n", claimText(r.Claim), r.Adjacency)
	printSelfTest(w, r.SelfTest, len(r.Missed))
	if r.Replayed > 0 {
		paid := "mu^2"
		if r.Claim.Mu == 0 {
			paid = "epsilon"
		}
		fmt.Fprintf(w, "replay    %d pairs of neighbouring datasets, of %d persons or of all; the worst pair (%s) uses %.4f of the charged %s\n", r.Replayed, r.Persons, r.WorstKind, r.Worst, paid)
	}
	if r.Found != nil {
		fmt.Fprintf(w, "found     epsilon at least %.4g", r.Found.Epsilon)
		if r.Claim.Mu > 0 {
			fmt.Fprintf(w, ", mu at least %.4g (%.1f%% of the claim)", r.Found.Mu, 100*r.Found.Mu/r.Claim.Mu)
		}
		fmt.Fprintf(w, "; %d runs on each dataset of one pair (%s); wrong with probability at most %g\n", r.Runs, r.WorstKind, audit.DefaultFalseAlarm)
	}
	if r.Power != nil {
		fmt.Fprintf(w, "power     %.0f%% of mu is expected to be shown; noise at half the claimed scale is found with probability %.4f\n", math.Floor(100*r.Power.Expected/r.Claim.Mu), r.Power.HalfNoise)
	}
	if r.Reading != nil {
		fmt.Fprintf(w, "reading   %v; %.1f s\n", r.Reading, r.Reading.Seconds)
	}
	printRest(w, r.Missing, r.Seconds, r.Broken)
	switch {
	case len(r.Broken) > 0:
	case len(r.Missed) > 0:
		fmt.Fprintln(w, "verdict   "+alarm(w, r.Verdict()))
	default:
		fmt.Fprintln(w, "verdict   "+r.Verdict())
	}
}

func (a planAudit) runTraining(cmd *cobra.Command, path string) error {
	t, err := discreet.LoadTraining(path, overrides(cmd)...)
	if err != nil {
		return err
	}
	c, err := t.Config()
	if err != nil {
		return err
	}
	r, err := planaudit.Training(cmd.Context(), c, a.Options)
	if err != nil {
		return err
	}
	return a.tell(cmd, report.Audit{Of: filepath.Base(path), Training: r}, r, r.Broken, func(w io.Writer) { printTrainingAudit(w, r) })
}

func printTrainingAudit(w io.Writer, r *trainexamine.Report) {
	fmt.Fprintf(w, "method    reports by %s of %d weights\n", r.Randomizer.Mechanism, r.Dim)
	fmt.Fprintf(w, "claim     epsilon %.6g for a report, delta 0, local, %v\n", r.Claim.Epsilon, r.Adjacency)
	planted := make([]examine.Planted, len(r.SelfTest))
	for i, p := range r.SelfTest {
		planted[i] = examine.Planted(p)
	}
	printSelfTest(w, planted, len(r.Missed))
	if r.Exact != nil {
		fmt.Fprintf(w, "exact     epsilon %.6g is the largest over %d pairs of vectors, from the exact probabilities of all reports\n", *r.Exact, r.Pairs)
	}
	if r.Success != nil {
		fmt.Fprintf(w, "success   an answer has epsilon %.6g, computed exactly\n", *r.Success)
	}
	fmt.Fprintf(w, "found     epsilon at least %.4g (%.1f%% of the claim); %d pairs of vectors, %d reports on each vector of the worst pair (%s); wrong with probability at most %g\n",
		r.Found.Epsilon, 100*r.Found.Epsilon/r.Claim.Epsilon, r.Pairs, r.Runs, r.WorstPair, audit.DefaultFalseAlarm)
	if r.Once != nil {
		fmt.Fprintf(w, "one run   epsilon at least %.4g; %d of %d guesses about %d canaries were right; wrong with probability at most %g\n",
			r.Once.Epsilon, r.Once.Right, r.Once.Guessed, r.Once.Canaries, r.Once.FalseAlarm)
		printOncePower(w, *r.OncePower, *r.Once, r.Claim)
	}
	printRest(w, r.Missing, r.Seconds, r.Broken)
	verdict := "verdict   " + r.Verdict()
	if len(r.Broken) > 0 || len(r.Missed) > 0 {
		verdict = alarm(w, verdict)
	}
	fmt.Fprintln(w, verdict)
}
