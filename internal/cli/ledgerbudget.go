package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
)

// budgetFlags are an epsilon and a delta on the command line.
func budgetFlags(cmd *cobra.Command, b *dp.Budget) {
	cmd.Flags().Float64Var(&b.Epsilon, "epsilon", 0, "epsilon of the budget")
	cmd.Flags().Float64Var(&b.Delta, "delta", 0, "delta of the budget, far below one in the number of persons")
}

func newLedgerInit() *cobra.Command {
	var c ledger.Config
	var adjacency, rule, unit, analysts string
	var witnesses []string
	cmd := command("init LEDGER --dataset NAME --epsilon E --delta D --adjacency A [--unit U]", "Begin the budget of a dataset",
		`Begin the budget of a dataset. All but the budget is fixed for good.

The rule says what adds up. Each holds where analysts choose a release after
seeing the earlier ones:
  gaussian  mu^2 of Gaussian noise (the default; most of this program's methods)
  renyi     divergences of one order, for subsampled noise as well
  basic     epsilons and deltas
Under gaussian and renyi a part of the budget is held in reserve for charges that
the rule does not support, a quarter of epsilon and half of delta unless the flags below
say otherwise; epsilons and deltas add up in it. So the largest single release is
smaller than the budget; init prints it.`, oneLedger,
		func(cmd *cobra.Command, args []string) error {
			if c.Dataset == "" {
				return usage(errors.New("ledger init: --dataset is missing; give the data set a name"))
			}
			for _, name := range []string{"epsilon", "delta"} {
				if !cmd.Flags().Changed(name) {
					return usage(fmt.Errorf("ledger init: --%s is missing; a budget is both, such as --epsilon 3 --delta 1e-5 (delta far below one in the number of persons)", name))
				}
			}
			if adjacency == "" {
				return usage(errors.New("ledger init: --adjacency is missing; want replace_one (the number of persons is public) or add_remove_one (it is not)"))
			}
			switch evaluate.Unit(unit) {
			case evaluate.Person, evaluate.Episode, evaluate.Row:
				c.Unit = unit
			default:
				return usage(fmt.Errorf("ledger init: --unit is %q; want person, episode or row", unit))
			}
			var err error
			if c.Adjacency, err = dp.ParseAdjacency(adjacency); err != nil {
				return err
			}
			if c.Rule, err = account.ParseRule(rule); err != nil {
				return err
			}
			if c.OpenList = analysts == "open"; !c.OpenList && analysts != "closed" {
				return usage(fmt.Errorf("ledger init: --analysts is %q; want closed or open", analysts))
			}
			l, err := ledger.Create(cmd.Context(), args[0], c)
			if err != nil {
				return err
			}
			for _, place := range witnesses {
				if err := l.AddWitness(cmd.Context(), place); err != nil {
					return errors.Join(fmt.Errorf("the ledger is begun, and its witness is not: %w", err), l.Close())
				}
			}
			o := l.Opening()
			fmt.Fprintf(cmd.OutOrStdout(), "ledger %s of dataset %s: epsilon %g, delta %g for %s, %s, %s rule\n", o.Ledger, o.Dataset, o.Budget.Epsilon, o.Budget.Delta, oneOf(o.Unit), o.Adjacency, o.Rule)
			if o.Reserve != (dp.Budget{}) {
				fmt.Fprintf(cmd.OutOrStdout(), "in reserve for charges that the rule does not support: epsilon %g, delta %g\n", o.Reserve.Epsilon, o.Reserve.Delta)
			}
			s, err := l.State(cmd.Context())
			if err != nil {
				return errors.Join(err, l.Close())
			}
			tellLargest(cmd.OutOrStdout(), s.Left, s.Budget.Delta)
			if o.Reserve != (dp.Budget{}) {
				fmt.Fprintln(cmd.OutOrStdout(), "(without the reserve; if all releases use Gaussian noise, create the ledger with --no-reserve)")
			}
			if o.Budget.Delta >= largeDelta {
				warn(cmd, fmt.Sprintf(evaluate.Unit(o.Unit).Words("delta %g allows a method that shows all of a person's data with that probability; keep it far below one in the number of persons"), o.Budget.Delta))
			}
			fmt.Fprintf(cmd.OutOrStdout(), "to charge it, say in a configuration: ledger: {path: %s, dataset: %s, analyst: WHO}\n", pathInConfig(args[0]), o.Dataset)
			return l.Close()
		})
	f := cmd.Flags()
	f.StringVar(&c.Dataset, "dataset", "", "name of the data set")
	budgetFlags(cmd, &c.Budget)
	f.StringVar(&adjacency, "adjacency", "", "replace_one or add_remove_one")
	f.StringVar(&unit, "unit", "person", "what one charge protects: person, episode or row, as privacy.unit")
	f.StringVar(&rule, "rule", "gaussian", "gaussian, renyi or basic")
	f.StringVar(&analysts, "analysts", "closed", "closed: once one analyst has a share, who has none is refused; open: who has none may spend up to the budget")
	f.StringArrayVar(&witnesses, "witness", nil, "place outside the ledger that keeps its head, as with discreet ledger witness --add; repeat for more")
	f.Float64Var(&c.Filter.Reserve.Epsilon, "reserve-epsilon", 0, "epsilon in reserve for charges that the rule does not support")
	f.Float64Var(&c.Filter.Reserve.Delta, "reserve-delta", 0, "delta in reserve for charges that the rule does not support")
	f.Float64Var(&c.Filter.ChargeDelta, "charge-delta", 0, "delta at which one such charge is converted")
	f.Float64Var(&c.Filter.Order, "order", 0, "order of the renyi rule; by default that which holds the most Gaussian noise")
	f.BoolVar(&c.NoReserve, "no-reserve", false, "hold nothing in reserve: charges that the rule does not support are refused")
	f.BoolVar(&c.RefuseCopies, "refuse-copies", false, "refuse data that the ledger knows under another data set's name, or that are mostly of its persons; by default it warns")
	return cmd
}

// largeDelta is a delta that is hardly meant: at a thousand persons it would let
// one of them be shown.
const largeDelta = 1e-3

// tellLargest says what an allowance buys at most in one release.
func tellLargest(w io.Writer, a account.Allowance, delta float64) {
	if text := largest(a, delta); text != "" {
		fmt.Fprintf(w, "largest single release of Gaussian noise that fits: %s\n", text)
	}
}

// largest is the epsilon of the largest Gaussian release that an allowance covers,
// rounded down, and its delta; empty where the rule is another or nothing is left.
func largest(a account.Allowance, delta float64) string {
	if !(a.Mu > 0) || !(delta > 0) {
		return ""
	}
	b, err := account.GaussianEpsilon(a.Mu, delta)
	if err != nil || !(b.Lower > 0) {
		return ""
	}
	return fmt.Sprintf("epsilon %s at delta %.15g", floored(b.Lower), delta)
}

// floored prints four digits of a positive number, rounded down.
func floored(x float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(x))-3)
	return fmt.Sprintf("%.4g", math.Floor(x/unit)*unit)
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

func newLedgerBudget() *cobra.Command {
	var analyst, reason string
	var b dp.Budget
	cmd := onLedger("budget LEDGER --epsilon E --delta D (--reason WHY | --analyst NAME)", "Change the budget, or set an analyst's share of it",
		`Change the budget of a dataset, with a reason that stays in the ledger, or set
what one analyst may spend of it. Neither can go below what is spent. Decide on a
larger budget without looking at the releases: a bound that moves with them is
not one that was promised beforehand. Of a share the same part is held in reserve
as of the budget; what is left of it for one release is printed.`, oneLedger,
		func(cmd *cobra.Command, l *ledger.Ledger, _ []string) error {
			if analyst != "" {
				if err := l.SetShare(cmd.Context(), analyst, b); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "analyst %s may spend epsilon %g, delta %g of dataset %s\n", analyst, b.Epsilon, b.Delta, l.Dataset())
			} else {
				if err := l.SetBudget(cmd.Context(), b, reason); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "the budget of dataset %s is epsilon %g, delta %g\n", l.Dataset(), b.Epsilon, b.Delta)
			}
			s, err := l.State(cmd.Context())
			if err != nil {
				return err
			}
			if analyst == "" {
				tellLargest(cmd.OutOrStdout(), s.Left, s.Budget.Delta)
				return nil
			}
			for _, a := range s.Analysts {
				if a.Analyst == analyst && a.Left != nil {
					tellLargest(cmd.OutOrStdout(), shareWithin(*a.Left, s.Left), s.Budget.Delta)
				}
			}
			return nil
		})
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case !cmd.Flags().Changed("epsilon") || !cmd.Flags().Changed("delta"):
			return usage(errors.New("ledger budget: give both --epsilon and --delta; discreet ledger show tells what they are now"))
		case analyst != "" && reason != "":
			return usage(errors.New("ledger budget: --reason goes with a change of the whole budget and --analyst with a share, which needs none; give one of them"))
		case analyst == "" && reason == "":
			return usage(errors.New("ledger budget: give --reason to change the budget, or --analyst to set a share"))
		}
		return nil
	}
	budgetFlags(cmd, &b)
	cmd.Flags().StringVar(&analyst, "analyst", "", "whose share it is; without it the whole budget changes")
	cmd.Flags().StringVar(&reason, "reason", "", "why the budget changes; kept in the ledger")
	return cmd
}
