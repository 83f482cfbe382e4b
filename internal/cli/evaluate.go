package cli

import (
	"fmt"
	"io"
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
	cmd := &cobra.Command{
		Use:   "evaluate CONFIG.yaml",
		Short: "Plan, check, charge, run and report",
		Args:  exactly(1, "one configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(args[0], overrides)
			if err != nil {
				return err
			}
			return runEvaluate(cmd, c, asJSON)
		},
	}
	cmd.Flags().StringArrayVar(&overrides, "set", nil, "override a key of the configuration, key.key=value")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the release as JSON and nothing else")
	return cmd
}

func runEvaluate(cmd *cobra.Command, c discreet.Config, asJSON bool) error {
	bar := newProgress(cmd.ErrOrStderr())
	result, err := discreet.Evaluate(cmd.Context(), c, discreet.WithProgress(bar.update))
	bar.done()
	if err != nil {
		return err
	}
	for _, n := range result.Notices {
		fmt.Fprintf(cmd.ErrOrStderr(), "notice (for the curator): %s\n", n)
	}
	// The release is shown before the page is made: it was paid for.
	if asJSON {
		err = printJSON(cmd.OutOrStdout(), result.Release)
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
	printPrivacy(w, r.Privacy)
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note      %s\n", n)
	}
}

func printPrivacy(w io.Writer, s *evaluate.Statement) {
	if s == nil {
		fmt.Fprintln(w, "privacy   NONE: a reference, not for release")
		return
	}
	fmt.Fprintf(w, "privacy   epsilon %g, delta %g, unit %s, %s (%s)\n", s.Epsilon, s.Delta, s.Unit, s.Adjacency, s.Accountant)
	if s.Seeded {
		fmt.Fprintln(w, "          THE NOISE CAME FROM A SEED: this release protects nobody")
	}
	if s.Noise == "fast" {
		fmt.Fprintln(w, "          fast noise: floating-point attacks are not excluded")
	}
	if !s.Charged {
		fmt.Fprintln(w, "          no ledger was charged: add up repeated releases yourself")
	}
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
