package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

type planJSON struct {
	Method    string            `json:"method"`
	Unit      evaluate.Unit     `json:"unit,omitempty"`
	Adjacency string            `json:"adjacency,omitempty"`
	Budget    *dp.Budget        `json:"budget,omitempty"`
	Accounted *account.Bracket  `json:"accounted,omitempty"`
	Event     dp.Event          `json:"event,omitempty"`
	Expected  evaluate.Expected `json:"expected"`
	Public    map[string]any    `json:"public"`
	Notes     []string          `json:"notes,omitempty"`
	// Ends says why data without a column terminated would be refused; absent where they would not.
	Ends string `json:"ends,omitempty"`
	// Ledger is what is left of the budget; absent where none is named.
	Ledger *fundsJSON `json:"ledger,omitempty"`
	// Memory is what an evaluation takes; absent where --rows is.
	Memory *scan.Memory `json:"memory,omitempty"`
}

// fundsJSON says what a ledger has left for a plan.
type fundsJSON struct {
	Dataset string    `json:"dataset"`
	Budget  dp.Budget `json:"budget"`
	Spent   dp.Budget `json:"spent"`
	Fits    bool      `json:"fits"`
	Reason  string    `json:"reason,omitempty"`
}

func newPlan() *cobra.Command {
	var rows, persons int64
	cmd := command("plan CONFIG.yaml", "Cost and expected error, without opening the data", "", oneConfiguration,
		func(cmd *cobra.Command, args []string) error {
			set := overrides(cmd)
			if cmd.Flags().Changed("persons") {
				set = append(set, fmt.Sprintf("problem.persons=%d", persons))
			}
			c, err := load(cmd, args[0], set...)
			if err != nil {
				return err
			}
			plan, err := discreet.Plan(c)
			if err != nil {
				return err
			}
			var memory *scan.Memory
			if cmd.Flags().Changed("rows") {
				m, err := scan.MemoryOf(c, plan, rows)
				if err != nil {
					return err
				}
				memory = &m
			}
			funds, missing := discreet.Budget(cmd.Context(), c, plan)
			var ends error // of data that do not say how episodes end
			if c.Problem.End == "" || c.Problem.End == "column" {
				named := c.Data.Column("terminated")
				ends = plan.CheckEnds(named != "" && named != trajectory.NoColumn)
			}
			if wantsJSON(cmd) {
				if missing != nil {
					return missing
				}
				return printJSON(cmd.OutOrStdout(), toJSON(plan, funds, ends, memory))
			}
			if err := printPlan(cmd, plan); err != nil {
				return err
			}
			if ends != nil {
				fmt.Fprintln(cmd.OutOrStdout(), "data      "+withoutSentinel(ends, evaluate.ErrData))
			}
			if memory != nil {
				fmt.Fprintf(cmd.OutOrStdout(), "memory    about %.3g MB for %d rows of %d persons, of whom %s are kept\n", float64(memory.Bytes)/1e6, memory.Rows, memory.Persons, memory.Kept)
			}
			printFunds(cmd.OutOrStdout(), funds)
			return missing
		})
	cmd.Flags().Int64Var(&rows, "rows", 0, "say how much memory an evaluation of so many rows takes")
	cmd.Flags().Int64Var(&persons, "persons", 0, "problem.persons, in place of the configuration's")
	setFlag(cmd)
	jsonFlag(cmd, "the plan as JSON")
	return cmd
}

// withoutSentinel is an error's text without the words of what it wraps.
func withoutSentinel(err, sentinel error) string {
	return strings.TrimPrefix(err.Error(), sentinel.Error()+": ")
}

func toJSON(p *evaluate.Plan, f *discreet.Funds, ends error, memory *scan.Memory) planJSON {
	out := planJSON{Method: p.Method, Event: p.Event, Expected: p.Expected, Public: p.Facts, Notes: slices.Concat(p.Notes, p.Outlook), Memory: memory}
	if ends != nil {
		out.Ends = withoutSentinel(ends, evaluate.ErrData)
	}
	if p.Privacy != nil {
		out.Unit = evaluate.Unit(p.Privacy.Unit.String())
		out.Adjacency = p.Privacy.Adjacency.String()
		budget, accounted := p.Privacy.Budget, p.Epsilon
		out.Budget, out.Accounted = &budget, &accounted
	}
	if f != nil {
		out.Ledger = &fundsJSON{Dataset: f.Config.Dataset, Budget: f.Budget, Spent: f.Spent, Fits: f.Refused == nil}
		if f.Refused != nil {
			out.Ledger.Reason = f.Refused.Error()
		}
	}
	return out
}

// printFunds tells what is left of the budget.
func printFunds(w io.Writer, f *discreet.Funds) {
	if f == nil {
		return
	}
	fmt.Fprintf(w, "ledger    dataset %s: spent epsilon %.4g, delta %.4g of %g, %g (%s rule)\n", f.Config.Dataset, f.Spent.Epsilon, f.Spent.Delta, f.Budget.Epsilon, f.Budget.Delta, f.Config.Rule)
	if f.Refused != nil {
		fmt.Fprintf(w, "          %s\n", alarm(w, "this plan would be refused: "+withoutSentinel(f.Refused, ledger.ErrBudget)))
		return
	}
	fmt.Fprintln(w, "          this plan fits what is left")
}

// printBehavior says where the probabilities come from that an off-policy value
// divides by.
func printBehavior(w io.Writer, facts map[string]any) {
	b, ok := facts["behavior"].(map[string]any)
	if !ok {
		return
	}
	fmt.Fprintf(w, "behaviour probabilities of the logged actions: source %v, kind %v", b["source"], b["kind"])
	for _, key := range []string{"name", "probs", "once", "trained_on", "note"} {
		if v, ok := b[key]; ok {
			fmt.Fprintf(w, "; %s: %s", strings.ReplaceAll(key, "_", " "), printable(fmt.Sprint(v)))
		}
	}
	fmt.Fprintln(w)
}

func printPlan(cmd *cobra.Command, p *evaluate.Plan) error {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "method    %s\n", p.Method)
	switch target := p.Facts["target"].(type) {
	case nil:
	case []string:
		for _, one := range target {
			fmt.Fprintf(w, "target    %s\n", printable(one))
		}
	default:
		fmt.Fprintf(w, "target    %s\n", printable(fmt.Sprint(target)))
	}
	if names := report.Features(p.Facts); names != nil {
		fmt.Fprintf(w, "features  %s\n", printable(first(names)))
	}
	if p.Privacy == nil {
		fmt.Fprintln(w, "privacy   NONE: a reference, not for release")
		return nil
	}
	event, err := dp.MarshalEvent(p.Event)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "privacy   epsilon %g, delta %g, unit %s, %s\n", p.Privacy.Budget.Epsilon, p.Privacy.Budget.Delta, p.Privacy.Unit, p.Privacy.Adjacency)
	fmt.Fprintf(w, "event     %s\n", event)
	fmt.Fprintf(w, "accounted epsilon in %v (%s)\n", p.Epsilon, p.Accountant)
	printBehavior(w, p.Facts)
	if p.Facts["on_policy"] == false && p.Method != "constant" {
		what := "target and behaviour"
		if p.Facts["estimated_behavior"] != nil {
			what = "the target"
		}
		fmt.Fprintln(w, p.Privacy.Unit.Words("          "+what+" must not have been fitted on these persons: one record would then change the weights of all persons, and the guarantee would be void"))
	}
	if rule, ok := p.Facts["on_violation"].(string); ok {
		fmt.Fprintf(w, "records   %s\n", rule)
	}
	e := p.Expected
	printExpected(w, p)
	if answers, _ := p.Facts["answers"].([]evaluate.ExpectedAnswer); answers == nil && (e.HalfWidth > 0 || p.Facts["forecast"] != nil) {
		fmt.Fprintf(w, "expected  privacy error %.3g;%s half width of the interval %s, never above %.3g\n", e.StdPrivacy, samplingAbout(e.StdSampling), aboutHalf(e.HalfWidth), e.Constant)
	}
	if c := e.Constant; c > 0 && (e.HalfWidth >= c || e.RMSE >= c) {
		fmt.Fprintln(w, alarm(w, "expected  NO ANSWER: the error is about as large as that of an answer chosen without data; a larger epsilon, more persons or a shorter horizon would help"))
	}
	if e.RMSE > 0 {
		fmt.Fprintf(w, "expected  root mean squared privacy error %.3g over states\n", e.RMSE)
	}
	answers, _ := p.Facts["answers"].([]evaluate.ExpectedAnswer)
	var kinds []evaluate.AnswerKind
	for _, a := range answers {
		kinds = append(kinds, a.Kind)
	}
	if _, compared := p.Facts["control"]; compared && kinds == nil {
		kinds = []evaluate.AnswerKind{evaluate.OfContrast}
	}
	value, difference := report.ConstantsOf(p.Expected, kinds...)
	printBaseline(w, value, difference)
	printNotes(w, slices.Concat(p.Notes, p.Outlook))
	return nil
}

func first(names []string) string {
	if len(names) > mostTold {
		return strings.Join(names[:mostTold], ", ") + fmt.Sprintf(", ... (%d in all)", len(names))
	}
	return strings.Join(names, ", ")
}

// printChoice tells what a plan supposes of a choice, and how likely either way is to
// name the best policy.
func printChoice(w io.Writer, p *evaluate.Plan) {
	c, ok := p.Facts["choice"].(*evaluate.ChoiceForecast)
	if !ok {
		return
	}
	fmt.Fprintf(w, "choice    by %s; assumed, not measured: the best is better than all others by %.4g, and all are worth about %.4g\n", c.By, c.Gap, c.Value)
	limits := fmt.Sprintf("%.2f by the largest value", c.Limits)
	if c.Limits == 0 {
		limits = "values need delta above 0"
	}
	fmt.Fprintf(w, "expected  the best is named with probability %.2f by permute-and-flip, %s; without missing mass\n", c.Flip, limits)
}

// aboutHalf tells a half width, where a plan forecasts one.
func aboutHalf(half float64) string {
	if half == 0 {
		return "not forecast"
	}
	return fmt.Sprintf("about %.3g", half)
}

// aboutAnswer tells what is expected of one of several answers, in an interval that may count what is missing.
func aboutAnswer(name string, private, sampling, half float64, interval string, counted bool) string {
	missing := ", without missing mass"
	if counted || half == 0 {
		missing = ""
	}
	return fmt.Sprintf("expected  %s: privacy error %.3g;%s half width of the %s interval %s%s", printable(name), private, samplingAbout(sampling), interval, aboutHalf(half), missing)
}

// samplingAbout names the sampling error, where a plan forecasts one.
func samplingAbout(sd float64) string {
	if sd == 0 {
		return ""
	}
	return fmt.Sprintf(" sampling error about %.3g if returns vary as much as they can;", sd)
}

// printExpected tells what a plan knows of each of several answers.
func printExpected(w io.Writer, p *evaluate.Plan) {
	printChoice(w, p)
	answers, _ := p.Facts["answers"].([]evaluate.ExpectedAnswer)
	interval, counted := report.AnswerInterval(p.Facts)
	for _, a := range answers {
		fmt.Fprintln(w, aboutAnswer(report.AnswerName(p.Facts, a.Name), a.StdPrivacy, a.StdSampling, a.HalfWidth, interval, counted))
		if half := a.Range.Width() / 2; a.HalfWidth >= half {
			remedy := "fewer answers, a larger epsilon or more persons"
			if a.Kind == evaluate.OfGroup {
				remedy = "a larger epsilon or more persons in the group"
			}
			fmt.Fprintln(w, alarm(w, "expected  NO ANSWER: the error is about as large as that of an answer chosen without data; "+remedy+" would help"))
		}
	}
}
