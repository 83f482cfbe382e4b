package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

func newLedgerBudget() *cobra.Command {
	var dataset, analyst, reason string
	var b dp.Budget
	cmd := &cobra.Command{
		Use:   "budget LEDGER --epsilon E --delta D (--reason WHY | --analyst NAME)",
		Short: "Change the budget, or set an analyst's share of it",
		Long: `Change the budget of a dataset, with a reason that stays in the ledger, or set
what one analyst may spend of it. Neither can go below what is spent. Decide on a
larger budget without looking at the releases: a bound that moves with them is
not one that was promised beforehand. Of a share the same part is held in reserve
as of the budget; what is left of it for one release is printed.`,
		Args: exactly(1, "one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !cmd.Flags().Changed("epsilon") || !cmd.Flags().Changed("delta"):
				return usage(errors.New("ledger budget: give both --epsilon and --delta; discreet ledger show tells what they are now"))
			case analyst != "" && reason != "":
				return usage(errors.New("ledger budget: --reason goes with a change of the whole budget and --analyst with a share, which needs none; give one of them"))
			case analyst == "" && reason == "":
				return usage(errors.New("ledger budget: give --reason to change the budget, or --analyst to set a share"))
			}
			return withLedger(cmd.Context(), args[0], dataset, func(l *ledger.Ledger) error {
				if analyst != "" {
					if err := l.SetShare(cmd.Context(), analyst, b); err != nil {
						return err
					}
					fmt.Fprintf(cmd.OutOrStdout(), "analyst %s may spend epsilon %g, delta %g of dataset %s\n", analyst, b.Epsilon, b.Delta, l.Dataset())
					return tellShare(cmd, l, analyst)
				}
				if err := l.SetBudget(cmd.Context(), b, reason); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "the budget of dataset %s is epsilon %g, delta %g\n", l.Dataset(), b.Epsilon, b.Delta)
				s, err := l.State(cmd.Context())
				if err == nil {
					tellLargest(cmd.OutOrStdout(), s.Left, s.Budget.Delta)
				}
				return err
			})
		},
	}
	datasetFlag(cmd, &dataset)
	budgetFlags(cmd, &b)
	cmd.Flags().StringVar(&analyst, "analyst", "", "whose share it is; without it the whole budget changes")
	cmd.Flags().StringVar(&reason, "reason", "", "why the budget changes; kept in the ledger")
	return cmd
}

// tellShare says what an analyst's share buys now.
func tellShare(cmd *cobra.Command, l *ledger.Ledger, analyst string) error {
	s, err := l.State(cmd.Context())
	if err != nil {
		return err
	}
	for _, a := range s.Analysts {
		if a.Analyst == analyst && a.Left != nil {
			left := *a.Left
			left.Mu = min(left.Mu, s.Left.Mu)
			tellLargest(cmd.OutOrStdout(), left, s.Budget.Delta)
		}
	}
	return nil
}
