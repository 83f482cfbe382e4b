package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

// plotWidth is that of the forest plot on a terminal, in columns.
const plotWidth = 40

// printAnswers tells the answers about several policies or groups, each beside its interval
// drawn to scale.
func printAnswers(w io.Writer, r *evaluate.Release) {
	if len(r.Answers) == 0 {
		return
	}
	if printPick(w, r) {
		return
	}
	if n := report.Intervals(r); n == 1 {
		fmt.Fprintf(w, "answers   1 interval that holds with %g%% probability\n", 100*r.JointConfidence)
	} else {
		fmt.Fprintf(w, "answers   %d intervals that hold simultaneously with %g%% probability\n", n, 100*r.JointConfidence)
	}
	widest := 0
	for _, a := range r.Answers {
		if a.Estimate != nil {
			widest = max(widest, len([]rune(a.Name)))
		}
	}
	for i, a := range r.Answers {
		if e := a.Estimate; e != nil {
			name := printable(a.Name) + strings.Repeat(" ", widest-len([]rune(a.Name)))
			fmt.Fprintf(w, "%-9s %s  %9.5g  [%.5g, %.5g]\n", a.Kind, name, e.Value, e.Interval[0], e.Interval[1])
			fmt.Fprintf(w, "          %s\n", report.Forest(r, i, plotWidth))
			if size := report.GroupSize(a); a.Kind == evaluate.OfGroup && size != "" {
				fmt.Fprintf(w, "          %s\n", r.Privacy.Unit.Words(size))
			}
			fmt.Fprintf(w, "          errors: sampling %s, privacy %.3g; clipping lengthens the interval by %.3g below, %.3g above\n", samplingError(e), e.StdPrivacy, e.Clipping[0], e.Clipping[1])
		}
	}
	for _, a := range r.Answers {
		if s := a.Selection; s != nil {
			if s.Policy == "" || s.Regret == nil {
				fmt.Fprintln(w, "best      no policy is shown to be best: several have the largest lower limit")
			} else {
				fmt.Fprintf(w, "best      %s has the largest lower limit, and is at most %.4g below the best\n", printable(s.Policy), *s.Regret)
			}
			fmt.Fprintf(w, "          may be best: %s\n", printable(strings.Join(s.MayBeBest, ", ")))
		}
	}
}

// printPick tells the policy that permute-and-flip named, if it did.
func printPick(w io.Writer, r *evaluate.Release) bool {
	for _, a := range r.Answers {
		if a.Pick != nil {
			fmt.Fprintf(w, "best      %s, drawn by permute-and-flip\n", printable(a.Pick.Policy))
			fmt.Fprintln(w, "          NO VALUE: the release names a policy, without a value, an interval, or a bound on how much better another may be")
			return true
		}
	}
	return false
}

// printChoice tells what a plan supposes of a choice, and how likely either way is to
// name the best policy.
func printChoice(w io.Writer, p *evaluate.Plan) {
	c, ok := p.Facts["choice"].(*evaluate.ChoiceForecast)
	if !ok {
		return
	}
	fmt.Fprintf(w, "choice    by %s; assumed, not measured: the best is better than all others by %.4g, and all are worth about %.4g\n", c.By, c.Gap, c.Value)
	limits := fmt.Sprintf("%.2f by the largest lower limit", c.Limits)
	if c.Limits == 0 {
		limits = "lower limits need delta above 0"
	}
	fmt.Fprintf(w, "expected  the best is named with probability %.2f by permute-and-flip, %s; without missing mass\n", c.Flip, limits)
}

// printExpected tells what a plan knows of each of several answers.
func printExpected(w io.Writer, p *evaluate.Plan) {
	printChoice(w, p)
	answers, _ := p.Facts["answers"].([]evaluate.ExpectedAnswer)
	for _, a := range answers {
		fmt.Fprintf(w, "expected  %s: privacy error %.3g; sampling error at most %.3g; half width of the joint interval about %.3g, without missing mass\n",
			printable(a.Name), a.StdPrivacy, a.StdSampling, a.HalfWidth)
		if half := a.Range.Width() / 2; a.HalfWidth >= half {
			remedy := "fewer answers, a larger epsilon or more persons"
			if a.Kind == evaluate.OfGroup {
				remedy = "a larger epsilon or more persons in the group"
			}
			fmt.Fprintln(w, alarm(w, "expected  NO ANSWER: the error is about as large as that of an answer chosen without data; "+remedy+" would help"))
		}
	}
}
