package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp/ledger"
)

func newLedger() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Keep the privacy budget of a dataset",
		Long: `Keep the privacy budget of a dataset: one budget that all releases from it
share. LEDGER is a SQLite file or a postgres:// URL, and may hold the budgets of
several datasets. docs/ledger.md is a guide from init to verify.`,
		Args: noOther,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLedgerInit(), newLedgerBudget(), newLedgerShow(), newLedgerVerify(), newLedgerWitness(),
		newLedgerExport(), newLedgerBackup(), newLedgerRestore(), newLedgerMigrate(), newLedgerContract(), newLedgerClear(), newLedgerKeygen())
	return cmd
}

// datasetFlag names the dataset that a command is about.
func datasetFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "dataset", "", "name of the dataset; may be left out where the ledger holds one")
}

// withLedger opens a ledger, calls f and closes it.
func withLedger(ctx context.Context, location, dataset string, f func(*ledger.Ledger) error) error {
	l, err := ledger.Open(ctx, location, dataset)
	if errors.Is(err, ledger.ErrNoDataset) && dataset != "" {
		if names, also := ledger.Datasets(ctx, location); also == nil && len(names) > 0 {
			return fmt.Errorf("%w; it holds %q", err, names[:min(len(names), mostRows)])
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(f(l), l.Close())
}

// many counts things in English.
func many[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// oneOf is a thing with its article, such as an agent.
func oneOf(thing string) string {
	if strings.ContainsAny(thing[:min(1, len(thing))], "aeiou") {
		return "an " + thing
	}
	return "a " + thing
}
