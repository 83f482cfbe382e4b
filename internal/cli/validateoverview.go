package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/discreet-rl/discreet/internal/evaluate/overview"
)

// printOverview prints what a curator should know of the data before an
// evaluation.
func printOverview(out io.Writer, r *overview.Report) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(what string, s overview.Spread, more string) {
		fmt.Fprintf(w, "%s\tmin %.4g\tmedian %.4g\tmean %.4g\tmax %.4g\t%s\n", what, s.Min, s.Median, s.Mean, s.Max, more)
	}
	row("episodes of one", r.EpisodesPerPerson, "")
	row("decisions", r.Lengths, "an episode")
	row("reward", r.Rewards.Spread, within(r.Rewards))
	row("return", r.Returns.Spread, within(r.Returns))
	if p := r.Propensity; p != nil {
		row("behaviour prob.", p.Spread, "of the logged actions")
	}
	if v := r.Weights; v != nil {
		row("weight", v.Spread, fmt.Sprintf("of an episode; mean should be 1 (standard error %.2g)", v.StdErr))
	}
	_ = w.Flush() // out reports its own errors when the command ends
	if v := r.Weights; v != nil {
		fmt.Fprintf(out, "overlap  effective sample size %.4g of %s; %d of weight 0", v.EffectiveSize, many(r.Episodes, "episode"), v.Zero)
		if v.Cap > 0 {
			fmt.Fprintf(out, "; %s of episodes beyond the cap %.4g, which cuts off %s of the weight", overview.Percent(v.BeyondShare), v.Cap, overview.Percent(v.BeyondMass))
		}
		fmt.Fprintln(out)
	}
	printActions(out, r)
	for _, warning := range r.Warnings {
		fmt.Fprintln(out, alarm(out, "warning  "+printable(warning)))
	}
}

func within(b overview.Bounded) string {
	if b.Range == nil {
		return ""
	}
	return fmt.Sprintf("public range [%g, %g], %d outside", b.Range.Min, b.Range.Max, b.Outside)
}

// printActions prints how often each action was taken, in all and at the first
// decisions.
func printActions(out io.Writer, r *overview.Report) {
	if len(r.Actions) == 0 {
		return
	}
	fmt.Fprintf(out, "actions  %s\n", counts(r, r.Actions))
	for _, s := range r.Steps {
		fmt.Fprintf(out, "         decision %d of %s: %s\n", s.Step, many(s.Episodes, "episode"), counts(r, s.Actions))
	}
	if more := int(r.Lengths.Max) - len(r.Steps); more > 0 {
		fmt.Fprintf(out, "         and %s, the last of them %d\n", many(more, "more decision"), int(r.Lengths.Max)-1)
	}
}

func counts(r *overview.Report, actions []int) string {
	words := make([]string, len(actions))
	for a, n := range actions {
		words[a] = fmt.Sprintf("%s: %d", printable(r.Name(a)), n)
	}
	return strings.Join(words, ", ")
}
