package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/report"
)

func newEvaluate(more []Engine) *cobra.Command {
	var charged chargeFlags
	apart := shardFlags{more: more}
	cmd := command("evaluate CONFIG.yaml", "Plan, check, charge, run and report",
		`Plan from public facts, read and check the data, charge the ledger of the
configuration, run, record the release in the ledger, and write it.

A charge is committed before any noise is drawn: a run that fails after it has
spent its budget. Give the same --key again and an evaluation that was charged
is not charged twice: its recorded release is written again, byte for byte and
without opening the data. Exit code 3 says that the ledger refused.

With --shards the data are in files that discreet shard made, and are read by
workers: the release is that of one process, bit for bit. With --partitions rows of
the data come to workers from an engine that groups them by person. A run that was
stopped goes on when the same command is given again (docs/scale.md).`, oneConfiguration,
		func(cmd *cobra.Command, args []string) error {
			if err := apart.validate(cmd); err != nil {
				return err
			}
			overrides := append(overrides(cmd), apart.overrides()...)
			c, err := load(cmd, args[0], overrides...)
			if err == nil {
				err = fromStandardInput(cmd, &c)
			}
			if err != nil {
				return err
			}
			options, err := charged.apply(cmd, &c)
			if err != nil {
				return err
			}
			var run evaluation = discreet.Evaluate
			if apart.used() {
				d, end, err := apart.driver(cmd, c, args[0], overrides)
				if err != nil {
					return err
				}
				defer end()
				run = func(ctx context.Context, _ config.Config, options ...discreet.Option) (*discreet.Result, error) {
					return d.Evaluate(ctx, options...)
				}
			}
			return runEvaluate(cmd, run, c, options)
		})
	setFlag(cmd)
	jsonFlag(cmd, "the release as JSON")
	charged.add(cmd)
	apart.add(cmd)
	return cmd
}

// chargeFlags say under which key a charge is made, and who signs.
type chargeFlags struct{ key, signKey string }

func (f *chargeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.key, "key", "", "idempotency key of the charge; random by default")
	cmd.Flags().StringVar(&f.signKey, "sign-key", "", "private key that signs the release (discreet ledger keygen); overrides sign in the configuration")
}

// apply puts them where they are read.
func (f *chargeFlags) apply(cmd *cobra.Command, c *config.Config) (options []discreet.Option, err error) {
	if f.signKey != "" {
		if c.Sign, err = filepath.Abs(f.signKey); err != nil {
			return nil, usage(err)
		}
	}
	if cmd.Flags().Changed("key") {
		options = append(options, discreet.WithKey(f.key))
	}
	return options, nil
}

// evaluation is [discreet.Evaluate], or what takes its place.
type evaluation func(context.Context, config.Config, ...discreet.Option) (*discreet.Result, error)

func runEvaluate(cmd *cobra.Command, evaluate evaluation, c config.Config, options []discreet.Option) error {
	if err := checkLearned(c); err != nil {
		return err
	}
	bar := newProgress(cmd.ErrOrStderr())
	result, err := evaluate(cmd.Context(), c, append(options, discreet.WithProgress(bar.update))...)
	bar.done()
	var pending *ledger.PendingError
	if errors.Is(err, context.Canceled) && !errors.As(err, &pending) {
		if c.Ledger != nil {
			notify(cmd, forAnyone, "if the data had been opened, this is a failed check of their dataset (discreet ledger show)")
		}
		return fmt.Errorf("%w: %w", errNothing, err)
	} else if err != nil {
		return err
	}
	for _, n := range result.Notices {
		notify(cmd, forCurator, brief(n))
	}
	if result.Repeated {
		e := result.Release.Ledger
		notify(cmd, forAnyone, fmt.Sprintf("key %s was charged before, by entry %d; this is its recorded release; nothing was spent, and the data were not opened", e.Key, e.Seq))
	}
	// The release is shown before the page is made: it was paid for.
	out := &sticky{Writer: cmd.OutOrStdout()}
	if wantsJSON(cmd) {
		out.Write(result.JSON)
	} else {
		printRelease(out, result.Release)
	}
	if out.err != nil {
		return unshown(result, out.err)
	}
	if result.Path == "" {
		return nil
	}
	page := filepath.Join(filepath.Dir(result.Path), "report.html")
	if err := atomicfile.Write(page, 0o644, func(w io.Writer) error { return report.Write(w, result.Release) }); err != nil {
		return err
	}
	rule, err := writeLearned(result)
	if err != nil {
		return err
	}
	if !wantsJSON(cmd) {
		fmt.Fprintf(cmd.OutOrStdout(), "written   %s\n          %s\n", result.Path, page)
		if rule != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "          %s\n", rule)
		}
		if result.Envelope != nil {
			fmt.Fprintf(cmd.OutOrStdout(), "          %s\n", strings.TrimSuffix(result.Path, ".json")+".dsse.json")
		}
	}
	return nil
}

// sticky keeps the first error of a writer.
type sticky struct {
	io.Writer
	err error
}

func (s *sticky) Write(p []byte) (n int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	n, s.err = s.Writer.Write(p)
	return n, s.err
}

// unshown says where a release is that could not be printed.
func unshown(r *discreet.Result, err error) error {
	switch e := r.Release.Ledger; {
	case e != nil:
		return fmt.Errorf("%w: entry %d of dataset %q: the output: %w; run again with --key %s, which costs nothing", discreet.ErrNotWritten, e.Seq, e.Dataset, err, e.Key)
	case r.Path != "":
		return fmt.Errorf("the release could not be shown and is in %s: %w", r.Path, err)
	}
	return fmt.Errorf("the release could not be shown and is lost, with what it cost: %w", err)
}

// moreNames is the end of a list of columns that was cut to its first.
var moreNames = regexp.MustCompile(` and (\d+) more$`)

// brief cuts the names in a notice about columns to a few, and counts those that
// were cut before.
func brief(notice string) string {
	const most = 4
	what, list, ok := strings.Cut(notice, ": ")
	if !ok || what != "columns not used" {
		return notice
	}
	cut := 0
	if m := moreNames.FindStringSubmatch(list); m != nil {
		cut, _ = strconv.Atoi(m[1])
		list = strings.TrimSuffix(list, m[0])
	}
	names := strings.Split(list, ", ")
	if len(names)+cut <= most+1 {
		return notice
	}
	return fmt.Sprintf("%s: %s and %d more", what, strings.Join(names[:most], ", "), len(names)-most+cut)
}

// printRelease tells a person what was released.
func printRelease(w io.Writer, r *evaluate.Release) {
	fmt.Fprintf(w, "method    %s\n", r.Method)
	if why := report.Unanswered(r); why != "" {
		fmt.Fprintln(w, alarm(w, "answer    NONE: this release cannot answer the question. "+why))
	}
	if why := report.InPart(r); why != "" {
		fmt.Fprintln(w, alarm(w, "answer    IN PART: "+why))
	}
	if x := r.Experiment; x != nil && x.Mismatch {
		fmt.Fprintln(w, alarm(w, "answer    SAMPLE-RATIO MISMATCH: the arms do not have the shares that were stated, and no number below can be trusted"))
	}
	if one := report.One(r); one != nil {
		e := one.Estimate
		fmt.Fprintf(w, "value     %.6g%s\n", e.Value, quantity(r, ", the "))
		if says, moved := report.Moved(r); moved {
			fmt.Fprintln(w, alarm(w, fmt.Sprintf("          MOVED to the end of the interval: the model predicts %.6g, which lies outside", says)))
		}
		fmt.Fprintf(w, "interval  [%.6g, %.6g] at %g%%\n", e.Interval[0], e.Interval[1], 100*e.Confidence)
		fmt.Fprintf(w, "errors    sampling %s (%s), privacy %.3g\n", samplingError(e), cmp.Or(sourceWords[e.Sampling], string(e.Sampling)), e.StdPrivacy)
		if r.Survival != nil {
			printOpen(w, r, e)
		} else if share, sd, ok := report.Missing(r); ok {
			if report.Unguarded(r) {
				if report.Unanswered(r) == "" {
					fmt.Fprintf(w, "missing   nothing, if the design and problem.records are right; the mean weight is %.0f%% (+- %.0f%%) below 1\n", 100*share, 100*sd)
				}
			} else if report.PlugIn(r) {
				fmt.Fprintf(w, "missing   %.0f%% (+- %.0f%%) of %s: the interval allows for it\n", 100*share, 100*sd, report.Asked(r))
			} else {
				fmt.Fprintf(w, "missing   %.0f%% (+- %.0f%%) of %s: lengthens the interval by %.3g below and %.3g above\n", 100*share, 100*sd, report.Asked(r), e.Clipping[0], e.Clipping[1])
			}
		} else if e.Clipping != [2]float64{} {
			fmt.Fprintf(w, "rare      outcomes that the data may not contain, and contributions beyond a chosen clip: lengthen the interval by %.3g below and %.3g above\n", e.Clipping[0], e.Clipping[1])
		}
	} else {
		printAnswers(w, r)
	}
	printArms(w, r)
	printLearned(w, r)
	for _, l := range report.Experiment(r) {
		fmt.Fprintf(w, "%-9s %s\n", l.Head, printable(l.Text))
	}
	if r.Values != nil {
		names := report.States(r.Public)
		fmt.Fprintf(w, "values    %s\n", numbers(r.Values, names))
		printStart(w, r.Start)
		if b := r.Bands; b != nil {
			fmt.Fprintf(w, "bands     %.3g standard deviations to either side, not confidence intervals; they assume %s\n          from %s\n          to   %s\n", b.Deviations, b.Condition, numbers(b.Lower, names), numbers(b.Upper, names))
		}
	} else if r.Theta != nil {
		names := report.Features(r.Public)
		if report.Tabular(r.Public) {
			names = report.States(r.Public)
		}
		fmt.Fprintf(w, "theta     %s\n", numbers(r.Theta, names))
	}
	value, difference := report.Constants(r)
	printBaseline(w, value, difference)
	printPrivacy(w, r)
	printNotes(w, report.Notes(r))
}

func printNotes(w io.Writer, notes []string) {
	for _, n := range notes {
		fmt.Fprintf(w, "note      %s\n", printable(n))
	}
}

// printStart tells what the values are worth under the public first states.
func printStart(w io.Writer, s *evaluate.StartValue) {
	switch {
	case s == nil:
	case s.Band == nil:
		fmt.Fprintf(w, "start     %.6g: the mean of the values over the public first states, without an error\n          it assumes %s\n", s.Value, s.Condition)
	default:
		fmt.Fprintf(w, "start     %.6g: the mean of the values over the public first states; standard deviation at most %.3g; %.3g of them to either side: %.6g to %.6g\n          it assumes %s\n", s.Value, s.StdAtMost, s.Deviations, s.Band[0], s.Band[1], s.Condition)
	}
}

// printBaseline tells how far off an answer can be that is made up without data: a value,
// a difference, or each.
func printBaseline(w io.Writer, value, difference float64) {
	if value > 0 {
		fmt.Fprintf(w, "baseline  a constant chosen without data is wrong by at most %.4g\n", value)
	}
	if difference > 0 {
		fmt.Fprintf(w, "baseline  the difference 0, chosen without data, is wrong by at most %.4g\n", difference)
	}
}

// samplingError prints the error of sampling. A released variance that is not above 0
// does not say that there is none: it is hidden in its noise, and the error of privacy
// allows for what may be.
func samplingError(e *evaluate.Estimate) string {
	if report.BelowNoise(e) {
		return "below noise"
	}
	return fmt.Sprintf("%.3g", e.StdSampling)
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
	for s, ok := w.(*sticky); ok; s, ok = w.(*sticky) {
		w = s.Writer
	}
	if terminal(w) && os.Getenv("NO_COLOR") == "" {
		return "\x1b[1;31m" + text + "\x1b[0m"
	}
	return text
}

var sourceWords = map[evaluate.SamplingSource]string{evaluate.Paid: "paid for", evaluate.PublicBound: "public bound", evaluate.NotPrivate: "not private"}

// mostTold is how many entries of a vector are printed.
const mostTold = 8

// numbers prints the first numbers of a vector, beside their names where there is one
// for each.
func numbers(x []float64, names []string) string {
	between, named := " ", len(names) == len(x)
	if named {
		between = ", "
	}
	var out []string
	for i, v := range x {
		if i == mostTold {
			out = append(out, fmt.Sprintf("... (%d in all)", len(x)))
			break
		}
		text := fmt.Sprintf("%.4g", v)
		if named {
			text = printable(names[i]) + " " + text
		}
		out = append(out, text)
	}
	return strings.Join(out, between)
}

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
		fmt.Fprintf(w, "answers   1 interval%s that holds with %g%% probability\n", quantity(r, " of the "), 100*r.JointConfidence)
	} else {
		alone := ""
		if r.Learned != nil {
			alone = ", each by itself with at least 90%"
		}
		fmt.Fprintf(w, "answers   %d intervals%s that hold simultaneously with %g%% probability%s\n", n, quantity(r, " of the "), 100*r.JointConfidence, alone)
	}
	widest := 0
	for _, a := range r.Answers {
		if a.Estimate != nil {
			widest = max(widest, len([]rune(report.AnswerName(r.Public, a.Name))))
		}
	}
	for i, a := range r.Answers {
		if e := a.Estimate; e != nil {
			name := report.AnswerName(r.Public, a.Name)
			name = printable(name) + strings.Repeat(" ", widest-len([]rune(name)))
			fmt.Fprintf(w, "%-9s %s  %9.5g  [%.5g, %.5g]\n", a.Kind, name, e.Value, e.Interval[0], e.Interval[1])
			fmt.Fprintf(w, "          %s\n", report.Forest(r, i, plotWidth))
			if size := report.GroupSize(a); a.Kind == evaluate.OfGroup && size != "" {
				fmt.Fprintf(w, "          %s\n", r.Privacy.Unit.Words(size))
			}
			fmt.Fprintf(w, "          errors: sampling %s, privacy %.3g; %s the interval by %.3g below, %.3g above\n", samplingError(e), e.StdPrivacy, lengthens(r), e.Clipping[0], e.Clipping[1])
		}
	}
	for _, a := range r.Answers {
		if s := a.Selection; s != nil {
			switch name := printable(s.Named()); {
			case name == "" || s.Regret == nil:
				fmt.Fprintln(w, "best      no policy is named: several have the largest value or limit")
			case s.Separated == nil:
				fmt.Fprintf(w, "best      %s has the largest lower limit, and is at most %.4g below the best\n", name, *s.Regret)
			case *s.Separated:
				fmt.Fprintf(w, "best      %s: the intervals show that no other is better\n", name)
			default:
				fmt.Fprintf(w, "best      %s has the largest value; the intervals do not show that it is the best, and it is at most %.4g below it\n", name, *s.Regret)
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
