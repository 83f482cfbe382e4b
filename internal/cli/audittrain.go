package cli

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/audit"
	planexamine "github.com/discreet-rl/discreet/internal/evaluate/examine"
	"github.com/discreet-rl/discreet/internal/report"
	"github.com/discreet-rl/discreet/internal/train/examine"
)

// runTraining audits the reports of a training run.
func (a planAudit) runTraining(cmd *cobra.Command, path string, asJSON bool) error {
	t, err := discreet.LoadTraining(path, a.overrides...)
	if err != nil {
		return err
	}
	r, err := discreet.AuditTraining(cmd.Context(), t, discreet.AuditOptions{Seed: a.seed, Runs: a.runs, OneRun: a.oneRun, Progress: tellParts(cmd.ErrOrStderr())})
	if err != nil {
		return err
	}
	return a.tell(cmd, asJSON, report.Audit{Of: filepath.Base(path), Training: r}, r, r.Broken, func(w io.Writer) { printTrainingAudit(w, r) })
}

func printTrainingAudit(w io.Writer, r *examine.Report) {
	fmt.Fprintf(w, "method    reports by %s of %d weights\n", r.Randomizer.Mechanism, r.Dim)
	fmt.Fprintf(w, "claim     epsilon %.6g for a report, delta 0, local, %v\n", r.Claim.Epsilon, r.Adjacency)
	planted := make([]planexamine.Planted, len(r.SelfTest))
	for i, p := range r.SelfTest {
		planted[i] = planexamine.Planted(p)
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
	for _, m := range r.Missing {
		fmt.Fprintf(w, "untested  %s\n", m)
	}
	fmt.Fprintf(w, "seconds   %.1f\n", r.Seconds)
	for _, b := range r.Broken {
		fmt.Fprintln(w, alarm(w, "BROKEN    "+printable(b)))
	}
	verdict := "verdict   " + r.Verdict()
	if len(r.Broken) > 0 || len(r.Missed) > 0 {
		verdict = alarm(w, verdict)
	}
	fmt.Fprintln(w, verdict)
}
