package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// budgetFlags are an epsilon and a delta on the command line.
func budgetFlags(cmd *cobra.Command, b *dp.Budget) {
	cmd.Flags().Float64Var(&b.Epsilon, "epsilon", 0, "epsilon of the budget")
	cmd.Flags().Float64Var(&b.Delta, "delta", 0, "delta of the budget, far below one in the number of persons")
}

func newLedgerInit() *cobra.Command {
	var c ledger.Config
	var adjacency, rule string
	cmd := &cobra.Command{
		Use:   "init LEDGER --dataset NAME --epsilon E --delta D --adjacency A",
		Short: "Begin the budget of a dataset",
		Long: `Begin the budget of a dataset. All but the budget is fixed for good.

The rule says what adds up. Each holds where analysts choose a release after
seeing the earlier ones:
  gaussian  mu^2 of Gaussian noise (the default; most of this program's methods)
  renyi     divergences of one order, for subsampled noise as well
  basic     epsilons and deltas
Under gaussian and renyi a part of the budget is held in reserve for what the
rule cannot take, a quarter of epsilon and half of delta unless the flags below
say otherwise; epsilons and deltas add up in it.`,
		Args: exactly(1, "one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.Dataset == "" {
				return usage(errors.New("ledger init: --dataset is missing; give the data set a name"))
			}
			if adjacency == "" {
				return usage(errors.New("ledger init: --adjacency is missing; want replace_one (the number of persons is public) or add_remove_one (it is not)"))
			}
			var err error
			if c.Adjacency, err = dp.ParseAdjacency(adjacency); err != nil {
				return err
			}
			if c.Rule, err = account.ParseRule(rule); err != nil {
				return err
			}
			l, err := ledger.Create(cmd.Context(), args[0], c)
			if err != nil {
				return err
			}
			o := l.Config()
			fmt.Fprintf(cmd.OutOrStdout(), "ledger %s of dataset %s: epsilon %g, delta %g for %s, %s, %s rule\n", o.Ledger, o.Dataset, o.Budget.Epsilon, o.Budget.Delta, oneOf(o.Unit), o.Adjacency, o.Rule)
			if o.Reserve != (dp.Budget{}) {
				fmt.Fprintf(cmd.OutOrStdout(), "in reserve for what the rule cannot take: epsilon %g, delta %g\n", o.Reserve.Epsilon, o.Reserve.Delta)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "to charge it, say in a configuration: ledger: {path: %s, dataset: %s, analyst: WHO}\n", pathInConfig(args[0]), o.Dataset)
			return l.Close()
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Dataset, "dataset", "", "name of the data set")
	budgetFlags(cmd, &c.Budget)
	f.StringVar(&adjacency, "adjacency", "", "replace_one or add_remove_one")
	f.StringVar(&rule, "rule", "gaussian", "gaussian, renyi or basic")
	f.Float64Var(&c.Filter.Reserve.Epsilon, "reserve-epsilon", 0, "epsilon in reserve for what the rule cannot take")
	f.Float64Var(&c.Filter.Reserve.Delta, "reserve-delta", 0, "delta in reserve for what the rule cannot take")
	f.Float64Var(&c.Filter.ChargeDelta, "charge-delta", 0, "delta at which one such charge is converted")
	f.Float64Var(&c.Filter.Order, "order", 0, "order of the renyi rule; by default that which holds the most Gaussian noise")
	f.BoolVar(&c.NoReserve, "no-reserve", false, "hold nothing in reserve: what the rule cannot take is refused")
	f.BoolVar(&c.RefuseCopies, "refuse-copies", false, "refuse data that the ledger knows under another data set's name; by default it warns")
	return cmd
}

// pathInConfig is how a configuration anywhere can name the ledger. A URL may hold
// a password and is not repeated.
func pathInConfig(location string) string {
	if strings.Contains(location, "://") {
		return "THAT-URL"
	}
	if absolute, err := filepath.Abs(location); err == nil {
		return absolute
	}
	return location
}
