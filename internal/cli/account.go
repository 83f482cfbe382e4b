package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/chart"
	"github.com/discreet-rl/discreet/internal/dp/xie19"
)

func newAccount() *cobra.Command {
	return family("account", "Certified epsilon, delta and noise of a described mechanism", "",
		newQuery("epsilon", "Smallest epsilon at a delta"),
		newQuery("delta", "Smallest delta at an epsilon"),
		newQuery("calibrate", `Smallest noise, largest rate or largest count for a budget; the event holds "?" in its place`),
		newCurve(),
		newConvert(),
		newSmoothSensitivity(),
		newXie19())
}

// oneEvent are the arguments of a query.
var oneEvent = exactly(1, "one event file, or -")

// newQuery makes one of epsilon, delta and calibrate.
func newQuery(query, short string) *cobra.Command {
	q := accountQuery{query: query, epsilon: math.NaN(), delta: math.NaN()}
	cmd := command(query+" EVENT.json", short,
		short+`.

EVENT.json is a file or - for standard input: one event (docs/accounting.md has an
example of every kind), or an array. An element
of the array is an event, or an object {"id", "event", "adjacency", "delta",
"epsilon", "accountant", "group"} whose keys but event may be left out and then follow the
flags. An array is answered by an array.`, oneEvent,
		func(cmd *cobra.Command, args []string) error {
			if q.neighbours != "" {
				var err error
				if q.adjacency, err = dp.ParseAdjacency(q.neighbours); err != nil {
					return err
				}
			}
			text, err := readInput(cmd, args[0])
			if err != nil {
				return err
			}
			if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")) {
				return answerAll(cmd, q, text)
			}
			a, err := q.answer(cmd.Context(), text)
			if err != nil {
				return err
			}
			return show(cmd, a, "%s\n", a.text())
		})
	jsonFlag(cmd, "JSON")
	f := cmd.Flags()
	q.register(f)
	if query != "delta" {
		f.Float64Var(&q.delta, "delta", q.delta, "delta to hold")
	}
	if query != "epsilon" {
		f.Float64Var(&q.epsilon, "epsilon", q.epsilon, "epsilon to hold")
	}
	return cmd
}

func newSmoothSensitivity() *cobra.Command {
	var budget dp.Budget
	var dimension int
	var beta float64
	cmd := command("smooth-sensitivity", "Smallest alpha of Gaussian noise scaled to a beta-smooth bound",
		`Smallest alpha such that noise of standard deviation alpha times a beta-smooth
bound on the local sensitivity is (epsilon, delta)-private in the given
dimension. Without --beta the beta of Balle et al. 2016 is taken.`, exactly(0, "flags alone"),
		func(cmd *cobra.Command, _ []string) error {
			if beta == 0 {
				var err error
				if _, beta, err = account.Balle16Constants(cmd.Context(), budget, dimension); err != nil {
					return err
				}
			}
			alpha, err := account.SmoothGaussianAlpha(cmd.Context(), budget, beta, dimension)
			if err != nil {
				return err
			}
			return show(cmd, map[string]any{"alpha": alpha, "beta": beta}, "alpha in %v at beta %.9g\n", alpha, beta)
		})
	f := cmd.Flags()
	f.Float64Var(&budget.Epsilon, "epsilon", 0, "epsilon to hold")
	f.Float64Var(&budget.Delta, "delta", 0, "delta to hold")
	f.IntVar(&dimension, "dimension", 1, "number of coordinates released")
	f.Float64Var(&beta, "beta", 0, "smoothness; by default that of Balle et al. 2016")
	jsonFlag(cmd, "JSON")
	return cmd
}

type xie19JSON struct {
	Sigma       float64 `json:"sigma"`
	EpsilonTrue struct {
		ReplaceOne          account.Bracket `json:"replace_one"`
		PoissonAddRemoveOne account.Bracket `json:"poisson_add_remove_one"`
	} `json:"epsilon_true"`
}

func newXie19() *cobra.Command {
	var budget dp.Budget
	var trajectories, iterations int64
	cmd := command("xie19", "The noise that Xie et al. 2019 ask for, and what it really guarantees", "", exactly(0, "flags alone"),
		func(cmd *cobra.Command, _ []string) error {
			out, err := accountXie19(cmd.Context(), trajectories, iterations, budget)
			if err != nil {
				return err
			}
			return showBy(cmd, out, func(w io.Writer) {
				fmt.Fprintf(w, "sigma %.9g claims epsilon %g at delta %g: not a guarantee\n", out.Sigma, budget.Epsilon, budget.Delta)
				fmt.Fprintf(w, "true epsilon in %v, one trajectory a step, replace_one\n", out.EpsilonTrue.ReplaceOne)
				fmt.Fprintf(w, "true epsilon in %v, Poisson sampling, add_remove_one\n", out.EpsilonTrue.PoissonAddRemoveOne)
			})
		})
	f := cmd.Flags()
	f.Int64Var(&trajectories, "trajectories", 0, "number of trajectories m")
	f.Int64Var(&iterations, "iterations", 0, "number of iterations N")
	f.Float64Var(&budget.Epsilon, "epsilon", 0, "epsilon as the paper claims it")
	f.Float64Var(&budget.Delta, "delta", 0, "delta")
	jsonFlag(cmd, "JSON")
	return cmd
}

func accountXie19(ctx context.Context, m, iterations int64, b dp.Budget) (xie19JSON, error) {
	var out xie19JSON
	var err error
	if out.Sigma, _, err = xie19.Sigma(m, iterations, b.Epsilon, b.Delta); err != nil {
		return out, err
	}
	replace, poisson, err := xie19.Events(m, iterations, out.Sigma)
	if err != nil {
		return out, err
	}
	if out.EpsilonTrue.ReplaceOne, err = epsilonOf(ctx, replace, dp.ReplaceOne, b.Delta); err != nil {
		return out, err
	}
	out.EpsilonTrue.PoissonAddRemoveOne, err = epsilonOf(ctx, poisson, dp.AddRemoveOne, b.Delta)
	return out, err
}

func epsilonOf(ctx context.Context, e dp.Event, adjacency dp.Adjacency, delta float64) (account.Bracket, error) {
	a := account.NewPLD(adjacency)
	if err := a.Compose(ctx, e, 1); err != nil {
		return account.Bracket{}, err
	}
	return a.Epsilon(ctx, delta)
}

func newConvert() *cobra.Command {
	var from, to string
	cmd := command("convert EVENT.json --from dp-accounting | --to dp-accounting", "Events of the Python package dp-accounting, and back",
		`Reads an event of the Python package dp-accounting 0.6.0 and prints it as an event, or the
other way round. docs/accounting.md has the form, and the script that writes and reads it in Python.
What has no counterpart is refused by name.`, oneEvent,
		func(cmd *cobra.Command, args []string) error {
			if (from == "dp-accounting") == (to == "dp-accounting") || from+to != "dp-accounting" {
				return usage(fmt.Errorf("account convert: --from is %q and --to is %q; want one of them, dp-accounting", from, to))
			}
			text, err := readInput(cmd, args[0])
			if err != nil {
				return err
			}
			if from != "" {
				e, err := dp.FromDPAccounting(text)
				if err != nil {
					return err
				}
				return printJSON(cmd.OutOrStdout(), e)
			}
			e, err := dp.ParseEvent(text)
			if err != nil {
				return err
			}
			out, err := dp.ToDPAccounting(e)
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), json.RawMessage(out))
		})
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "what EVENT.json is: dp-accounting")
	f.StringVar(&to, "to", "", "what to print: dp-accounting")
	return cmd
}

// privacyCurve is what account curve writes: delta at some epsilons, and a certain bound from
// below on the trade-off function that they give.
type privacyCurve struct {
	Adjacency  string                 `json:"adjacency"`
	Accountant string                 `json:"accountant"`
	Group      int                    `json:"group,omitempty"`
	Profile    []account.ProfilePoint `json:"profile"`
	TradeOff   []tradeOffPoint        `json:"trade_off"`
}

type tradeOffPoint struct {
	FalseAlarm float64 `json:"false_alarm"`
	Miss       float64 `json:"miss"` // at least
}

func newCurve() *cobra.Command {
	q := accountQuery{query: "curve"}
	var out string
	var least float64
	var points int
	cmd := command("curve EVENT.json -o curve.svg", "Delta against epsilon and the trade-off function, as a picture or as numbers",
		`Delta against epsilon, from 0 to the epsilon that holds at --least, and the trade-off
function that follows: for each false-alarm probability, the smallest miss probability of
any test that distinguishes two neighbouring datasets. The extension of -o chooses the format: svg, csv or json.`, oneEvent,
		func(cmd *cobra.Command, args []string) error {
			var err error
			if q.adjacency, err = dp.ParseAdjacency(q.neighbours); err != nil {
				return err
			}
			ext := filepath.Ext(out)
			write, ok := curveWriters[ext]
			switch {
			case ext == ".png":
				return usage(fmt.Errorf("account curve: -o is %q, and PNG is not drawn; name it %q", out, strings.TrimSuffix(out, ext)+".svg"))
			case !ok:
				return usage(fmt.Errorf("account curve: -o is %q; want a name that ends in .svg, .csv or .json", out))
			case points < 2 || points > 10000 || !(least > 0 && least < 1):
				return usage(fmt.Errorf("account curve: %d points down to delta %v; want 2 to 10000, and a delta between 0 and 1", points, least))
			}
			text, err := readInput(cmd, args[0])
			if err != nil {
				return err
			}
			c, err := q.curve(cmd, text, least, points)
			if err != nil {
				return err
			}
			if err := atomicfile.Write(out, 0o666, func(w io.Writer) error { return write(w, c) }); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), out)
			return nil
		})
	f := cmd.Flags()
	q.register(f)
	f.StringVarP(&out, "output", "o", "", "file to write: .svg, .csv or .json")
	f.Float64Var(&least, "least", 1e-10, "the delta at which the curve ends")
	f.IntVar(&points, "points", 100, "how many epsilons")
	return cmd
}

// curve asks for delta on a grid that ends where delta is least.
func (q accountQuery) curve(cmd *cobra.Command, text []byte, least float64, points int) (privacyCurve, error) {
	a, fresh, err := q.begin()
	if err != nil {
		return privacyCurve{}, err
	}
	accountant, err := q.compose(cmd.Context(), &a, text, fresh)
	if err != nil {
		return privacyCurve{}, err
	}
	end, err := accountant.Epsilon(cmd.Context(), least)
	if err != nil {
		return privacyCurve{}, err
	}
	epsilons := make([]float64, points)
	for i := range epsilons {
		epsilons[i] = end.Upper * float64(i) / float64(points-1)
	}
	c := privacyCurve{Adjacency: a.Adjacency, Accountant: a.Accountant, Group: a.Group}
	if c.Profile, err = account.Profile(cmd.Context(), accountant, epsilons); err != nil {
		return c, err
	}
	for i := range 201 {
		alpha := float64(i) / 200
		c.TradeOff = append(c.TradeOff, tradeOffPoint{alpha, account.TradeOff(c.Profile, alpha)})
	}
	return c, nil
}

var curveWriters = map[string]func(w io.Writer, c privacyCurve) error{
	".json": func(w io.Writer, c privacyCurve) error { return printJSON(w, c) },
	".csv":  writeCurveCSV,
	".svg":  drawCurve,
}

// writeCurveCSV writes both curves below each other, told apart by the first column.
func writeCurveCSV(w io.Writer, c privacyCurve) error {
	out := csv.NewWriter(w)
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	rows := [][]string{{"curve", "x", "lower", "upper"}}
	for _, p := range c.Profile {
		rows = append(rows, []string{"delta_of_epsilon", number(p.Epsilon), number(p.Delta.Lower), number(p.Delta.Upper)})
	}
	for _, p := range c.TradeOff {
		rows = append(rows, []string{"miss_of_false_alarm", number(p.FalseAlarm), number(p.Miss), ""})
	}
	return out.WriteAll(rows)
}

// onlyLine is the class of the line of a panel that has no other.
var onlyLine = "line " + chart.Colour(4)

// drawCurve draws delta against epsilon, on a logarithmic scale, and the trade-off function.
func drawCurve(w io.Writer, c privacyCurve) error {
	var profile, miss []chart.Dot
	var deltas []float64
	for _, p := range c.Profile {
		if p.Delta.Upper > 0 {
			profile, deltas = append(profile, chart.Dot{X: p.Epsilon, Y: p.Delta.Upper}), append(deltas, p.Delta.Upper)
		}
	}
	for _, p := range c.TradeOff {
		miss = append(miss, chart.Dot{X: p.FalseAlarm, Y: p.Miss})
	}
	epsilon := chart.Axis{Name: "epsilon", High: c.Profile[len(c.Profile)-1].Epsilon}
	if epsilon.High == 0 {
		epsilon.High = 1
	}
	left := chart.New("Delta that holds at an epsilon ("+c.Adjacency+")", epsilon, chart.Axis{Name: "delta", Log: true}.Over(deltas...))
	left.Line(onlyLine, profile)
	right := chart.New("Trade-off function, a bound from below", chart.Axis{Name: "false alarms", High: 1}, chart.Axis{Name: "misses, at least", High: 1})
	right.Line(onlyLine, miss)
	return chart.Drawing{Title: "Privacy profile and trade-off function", Panels: []*chart.Panel{left, right}}.Write(w)
}
