package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/report"
)

func newEvaluate() *cobra.Command {
	var overrides []string
	var asJSON bool
	var key, signKey string
	cmd := &cobra.Command{
		Use:   "evaluate CONFIG.yaml",
		Short: "Plan, check, charge, run and report",
		Long: `Plan from public facts, read and check the data, charge the ledger of the
configuration, run, record the release in the ledger, and write it.

A charge is committed before any noise is drawn: a run that fails after it has
spent its budget. Give the same --key again and an evaluation that was charged
is not charged twice: its recorded release is written again, byte for byte and
without opening the data. Exit code 3 says that the ledger refused.`,
		Args: exactly(1, "one configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(args[0], overrides)
			if err != nil {
				return err
			}
			if signKey != "" {
				if c.Sign, err = filepath.Abs(signKey); err != nil {
					return usage(err)
				}
			}
			var options []discreet.Option
			if cmd.Flags().Changed("key") {
				options = append(options, discreet.WithKey(key))
			}
			return runEvaluate(cmd, c, asJSON, options)
		},
	}
	cmd.Flags().StringArrayVar(&overrides, "set", nil, "override a key of the configuration, key.key=value")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the release as JSON and nothing else")
	cmd.Flags().StringVar(&key, "key", "", "idempotency key of the charge; random by default")
	cmd.Flags().StringVar(&signKey, "sign-key", "", "private key that signs the release (discreet ledger keygen); overrides sign in the configuration")
	return cmd
}

func runEvaluate(cmd *cobra.Command, c discreet.Config, asJSON bool, options []discreet.Option) error {
	bar := newProgress(cmd.ErrOrStderr())
	result, err := discreet.Evaluate(cmd.Context(), c, append(options, discreet.WithProgress(bar.update))...)
	bar.done()
	if err != nil {
		return err
	}
	for _, n := range result.Notices {
		fmt.Fprintf(cmd.ErrOrStderr(), "notice (for the curator): %s\n", n)
	}
	if result.Repeated {
		e := result.Release.Ledger
		fmt.Fprintf(cmd.ErrOrStderr(), "notice: key %s was charged before, by entry %d; this is its recorded release, and nothing was spent\n", e.Key, e.Seq)
	}
	// The release is shown before the page is made: it was paid for.
	if asJSON {
		_, err = cmd.OutOrStdout().Write(result.JSON)
	} else {
		printRelease(cmd.OutOrStdout(), result.Release)
	}
	if err != nil || result.Path == "" {
		return err
	}
	page := filepath.Join(filepath.Dir(result.Path), "report.html")
	if err := writeReport(page, result.Release); err != nil {
		return err
	}
	if !asJSON {
		fmt.Fprintf(cmd.OutOrStdout(), "written   %s\n          %s\n", result.Path, page)
	}
	return nil
}

func writeReport(path string, r *evaluate.Release) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error { return report.Write(w, r) })
}

// printRelease tells a person what was released.
func printRelease(w io.Writer, r *evaluate.Release) {
	fmt.Fprintf(w, "method    %s\n", r.Method)
	if e := r.Estimate; e != nil {
		fmt.Fprintf(w, "value     %.6g\n", e.Value)
		fmt.Fprintf(w, "interval  [%.6g, %.6g] at %g%%\n", e.Interval[0], e.Interval[1], 100*e.Confidence)
		fmt.Fprintf(w, "errors    sampling %.3g (%s), privacy %.3g\n", e.StdSampling, sourceWords(e.Sampling), e.StdPrivacy)
		if e.Clipping != [2]float64{} {
			fmt.Fprintf(w, "clipping  lengthens the interval by %.3g below and %.3g above\n", e.Clipping[0], e.Clipping[1])
		}
	}
	if r.Values != nil {
		fmt.Fprintf(w, "values    %s\n", numbers(r.Values))
	} else if r.Theta != nil {
		fmt.Fprintf(w, "theta     %s\n", numbers(r.Theta))
	}
	if c := r.Expected.Constant; c > 0 {
		fmt.Fprintf(w, "baseline  a constant fixed without data is off by %.4g at worst\n", c)
	}
	printPrivacy(w, r)
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note      %s\n", n)
	}
}

func printPrivacy(w io.Writer, r *evaluate.Release) {
	s := r.Privacy
	if s == nil {
		fmt.Fprintln(w, alarm(w, "privacy   NONE: a reference, not for release"))
		return
	}
	fmt.Fprintf(w, "privacy   epsilon %g, delta %g, unit %s, %s (%s)\n", s.Epsilon, s.Delta, s.Unit, s.Adjacency, s.Accountant)
	if s.Seeded {
		fmt.Fprintln(w, alarm(w, "          THE NOISE CAME FROM A SEED: this release protects nobody"))
	}
	if s.Noise == "fast" {
		fmt.Fprintln(w, alarm(w, "          fast noise: floating-point attacks are not excluded"))
	}
	if e := r.Ledger; e != nil {
		fmt.Fprintf(w, "ledger    dataset %s, entry %d, key %s; spent epsilon %.4g, delta %.4g of %g, %g\n", e.Dataset, e.Seq, e.Key, e.Spent.Epsilon, e.Spent.Delta, e.Budget.Epsilon, e.Budget.Delta)
	} else {
		fmt.Fprintln(w, alarm(w, "          no ledger was charged: add up repeated releases yourself"))
	}
	if g := r.Signature; g != nil {
		fmt.Fprintf(w, "signed    %s\n", g.KeyID)
	}
}

// alarm is text in red, where the writer is a terminal that wants colours
// (no-color.org).
func alarm(w io.Writer, text string) string {
	if f, ok := w.(*os.File); ok && terminal(f) && os.Getenv("NO_COLOR") == "" {
		return "\x1b[1;31m" + text + "\x1b[0m"
	}
	return text
}

func sourceWords(s evaluate.SamplingSource) string {
	switch s {
	case evaluate.Paid:
		return "paid for"
	case evaluate.PublicBound:
		return "public bound"
	case evaluate.NotPrivate:
		return "not private"
	}
	return string(s)
}

// numbers prints up to eight numbers of a vector.
func numbers(x []float64) string {
	const most = 8
	out := ""
	for i, v := range x {
		if i == most {
			return out + fmt.Sprintf("... (%d in all)", len(x))
		}
		out += fmt.Sprintf("%.4g ", v)
	}
	return out
}
