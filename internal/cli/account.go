package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/dp/xie19"
)

func newAccount() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "account",
		Short: "Certified epsilon, delta and noise of a described mechanism",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newQuery("epsilon", "Smallest epsilon at a delta"),
		newQuery("delta", "Smallest delta at an epsilon"),
		newQuery("calibrate", `Smallest noise, largest rate or largest count for a budget; the event holds "?" in its place`),
		newCurve(),
		newConvert(),
		newSmoothSensitivity(),
		newXie19(),
	)
	return cmd
}

// newQuery makes one of epsilon, delta and calibrate.
func newQuery(query, short string) *cobra.Command {
	q := accountQuery{query: query, epsilon: math.NaN(), delta: math.NaN()}
	var adjacency string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   query + " EVENT.json",
		Short: short,
		Long: short + `.

EVENT.json is a file or - for standard input: one event (docs/accounting.md has an
example of every kind), or an array. An element
of the array is an event, or an object {"id", "event", "adjacency", "delta",
"epsilon", "accountant", "group"} whose keys but event may be left out and then follow the
flags. An array is answered by an array.`,
		Args: exactly(1, "one event file, or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if adjacency != "" {
				var err error
				if q.adjacency, err = dp.ParseAdjacency(adjacency); err != nil {
					return err
				}
			}
			text, err := readInput(cmd, args[0])
			if err != nil {
				return err
			}
			if isArray(text) {
				return answerAll(cmd, q, text)
			}
			a, err := q.answer(cmd.Context(), text)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), a)
			}
			fmt.Fprintln(cmd.OutOrStdout(), a.text())
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&adjacency, "adjacency", "", "replace_one or add_remove_one")
	f.StringVar(&q.accountant, "accountant", "pld", "pld or rdp")
	f.BoolVar(&asJSON, "json", false, "print JSON and nothing else")
	f.Float64Var(&q.width, "width", 2e-4, "relative width of a bracket to aim at, 1e-6 to 0.1: a narrower one takes longer")
	f.IntVar(&q.group, "group", 1, "how many linked persons neighbours may differ in")
	if query != "calibrate" {
		f.Float64Var(&q.fixDelta, "fix-delta", 0, "part of delta divided among smooth_gaussian and shuffled events, so that they can be composed")
	}
	if query != "delta" {
		f.Float64Var(&q.delta, "delta", q.delta, "delta to hold")
	}
	if query != "epsilon" {
		f.Float64Var(&q.epsilon, "epsilon", q.epsilon, "epsilon to hold")
	}
	return cmd
}

func readInput(cmd *cobra.Command, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(cmd.InOrStdin())
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, usage(err)
	}
	return text, nil
}

func newSmoothSensitivity() *cobra.Command {
	var budget dp.Budget
	var dimension int
	var beta float64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "smooth-sensitivity",
		Short: "Smallest alpha of Gaussian noise scaled to a beta-smooth bound",
		Long: `Smallest alpha such that noise of standard deviation alpha times a beta-smooth
bound on the local sensitivity is (epsilon, delta)-private in the given
dimension. Without --beta the beta of Balle et al. 2016 is taken.`,
		Args: exactly(0, "flags alone"),
		RunE: func(cmd *cobra.Command, _ []string) error {
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
			if asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					Alpha account.Bracket `json:"alpha"`
					Beta  float64         `json:"beta"`
				}{alpha, beta})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "alpha in %v at beta %.9g\n", alpha, beta)
			return nil
		},
	}
	f := cmd.Flags()
	f.Float64Var(&budget.Epsilon, "epsilon", 0, "epsilon to hold")
	f.Float64Var(&budget.Delta, "delta", 0, "delta to hold")
	f.IntVar(&dimension, "dimension", 1, "number of coordinates released")
	f.Float64Var(&beta, "beta", 0, "smoothness; by default that of Balle et al. 2016")
	f.BoolVar(&asJSON, "json", false, "print JSON and nothing else")
	return cmd
}

// xie19JSON is what account xie19 prints.
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
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "xie19",
		Short: "The noise that Xie et al. 2019 ask for, and what it really guarantees",
		Args:  exactly(0, "flags alone"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := accountXie19(cmd.Context(), trajectories, iterations, budget)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), out)
			}
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "sigma %.9g claims epsilon %g at delta %g: not a guarantee\n", out.Sigma, budget.Epsilon, budget.Delta)
			fmt.Fprintf(w, "true epsilon in %v, one trajectory a step, replace_one\n", out.EpsilonTrue.ReplaceOne)
			fmt.Fprintf(w, "true epsilon in %v, Poisson sampling, add_remove_one\n", out.EpsilonTrue.PoissonAddRemoveOne)
			return nil
		},
	}
	f := cmd.Flags()
	f.Int64Var(&trajectories, "trajectories", 0, "number of trajectories m")
	f.Int64Var(&iterations, "iterations", 0, "number of iterations N")
	f.Float64Var(&budget.Epsilon, "epsilon", 0, "epsilon as the paper claims it")
	f.Float64Var(&budget.Delta, "delta", 0, "delta")
	f.BoolVar(&asJSON, "json", false, "print JSON and nothing else")
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
