package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/internal/evaluate/examine"
	"github.com/discreet-rl/discreet/internal/report"
)

// planAudit is an audit of a configuration.
type planAudit struct {
	overrides []string
	runs      int
	seed      uint64
	page      string
	oneRun    bool
}

func (a planAudit) run(cmd *cobra.Command, path string, asJSON bool) error {
	if a.runs != 0 && a.runs < fewestRuns {
		return usage(fmt.Errorf("audit: --runs is %d; want at least %d, or none for as many as the claim needs", a.runs, fewestRuns))
	}
	if config.IsTrain(path) {
		return a.runTraining(cmd, path, asJSON)
	}
	if a.oneRun {
		return usage(fmt.Errorf("audit: --one-run is of training: one release of an evaluation holds too few numbers to tell canaries apart by; leave it out, or audit by --canaries what you release yourself"))
	}
	c, err := discreet.Load(path, a.overrides...)
	if err != nil {
		return err
	}
	r, err := discreet.Audit(cmd.Context(), c, discreet.AuditOptions{Seed: a.seed, Runs: a.runs, Progress: tellParts(cmd.ErrOrStderr())})
	if err != nil {
		return err
	}
	return a.tell(cmd, asJSON, report.Audit{Of: filepath.Base(path), Report: r}, r, r.Broken, func(w io.Writer) { printAudit(w, r) })
}

// tell draws the page of an audit, where one is asked for, and prints what was found as JSON or in
// words. It is an error that something is broken.
func (a planAudit) tell(cmd *cobra.Command, asJSON bool, page report.Audit, found any, broken []string, print func(io.Writer)) error {
	if a.page != "" {
		if err := newFile(a.page, 0o644, func(w io.Writer) error { return report.WriteAudit(w, page) }); err != nil {
			return err
		}
	}
	if asJSON {
		if err := printJSON(cmd.OutOrStdout(), found); err != nil {
			return err
		}
	} else {
		print(cmd.OutOrStdout())
	}
	if len(broken) > 0 {
		return fmt.Errorf("%w: %s", audit.ErrBroken, broken[0])
	}
	return nil
}

// fewestRuns is the least that chooses a test and has some left to count.
const fewestRuns = 200

// tellParts tells on a terminal what an audit is at; elsewhere it is silent.
func tellParts(w io.Writer) func(string) {
	if f, ok := w.(*os.File); !ok || !terminal(f) {
		return nil
	}
	return func(part string) { fmt.Fprintf(w, "audit: %s\n", part) }
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
	for _, m := range r.Missing {
		fmt.Fprintf(w, "untested  %s\n", m)
	}
	fmt.Fprintf(w, "seconds   %.1f\n", r.Seconds)
	for _, b := range r.Broken {
		fmt.Fprintln(w, alarm(w, "BROKEN    "+printable(b)))
	}
	switch {
	case len(r.Broken) > 0:
	case len(r.Missed) > 0:
		fmt.Fprintln(w, "verdict   "+alarm(w, r.Verdict()))
	default:
		fmt.Fprintln(w, "verdict   "+r.Verdict())
	}
}
