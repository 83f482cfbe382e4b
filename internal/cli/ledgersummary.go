package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// mostInFull is how many datasets of a store are shown one after the other; of
// more, such as the agents of a fleet, a line each.
const mostInFull = 5

// summarise prints a line for a dataset, up to a screen of them, and what holds of
// all.
func summarise(cmd *cobra.Command, location string, names []string) error {
	t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "dataset\tcharges\tpending\tspent epsilon\tdelta\tof epsilon\tdelta")
	var charges, pending int64
	var most dp.Budget
	for i, name := range names {
		err := withLedger(cmd.Context(), location, name, func(l *ledger.Ledger) error {
			s, err := l.State(cmd.Context())
			if err != nil {
				return err
			}
			charges, pending = charges+s.Charges, pending+s.PendingCount
			most = dp.Budget{Epsilon: max(most.Epsilon, s.Spent.Epsilon), Delta: max(most.Delta, s.Spent.Delta)}
			if i < mostRows {
				fmt.Fprintf(t, "%s\t%d\t%d\t%.4g\t%.4g\t%g\t%g\n", name, s.Charges, s.PendingCount, s.Spent.Epsilon, s.Spent.Delta, s.Budget.Epsilon, s.Budget.Delta)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if more := len(names) - mostRows; more > 0 {
		fmt.Fprintf(t, "(%d more)\n", more)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "\n%s: %s, %d pending; the most that one has spent is epsilon %.4g, delta %.4g\nname one with --dataset for all of it\n",
		many(len(names), "dataset"), many(charges, "charge"), pending, most.Epsilon, most.Delta)
	return err
}
