package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/signature"
)

// oneLedger are the arguments of most commands of a ledger.
var oneLedger = exactly(1, "one ledger")

func newLedger() *cobra.Command {
	return family("ledger", "Keep the privacy budget of a dataset", `Keep the privacy budget of a dataset: one budget that all releases from it
share. LEDGER is a SQLite file or a postgres:// URL, and may hold the budgets of
several datasets. docs/ledger.md is a guide from init to verify.`, newLedgerInit(), newLedgerBudget(), newLedgerShow(), newLedgerVerify(), newLedgerWitness(),
		newLedgerExport(), newLedgerBackup(), newLedgerRestore(), newLedgerMigrate(), newLedgerContract(), newLedgerClear(), newLedgerKeygen())
}

// onLedger is a command that opens the ledger which its first argument names.
func onLedger(use, short, long string, args cobra.PositionalArgs, run func(*cobra.Command, *ledger.Ledger, []string) error) *cobra.Command {
	var dataset string
	cmd := command(use, short, long, args, func(cmd *cobra.Command, args []string) error {
		return withLedger(cmd.Context(), args[0], dataset, func(l *ledger.Ledger) error { return run(cmd, l, args) })
	})
	datasetFlag(cmd, &dataset)
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

// eachLedger is withLedger for some datasets of a store.
func eachLedger(ctx context.Context, location string, datasets []string, f func(int, *ledger.Ledger) error) error {
	for i, name := range datasets {
		if err := withLedger(ctx, location, name, func(l *ledger.Ledger) error { return f(i, l) }); err != nil {
			return err
		}
	}
	return nil
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

func newLedgerKeygen() *cobra.Command {
	return command("keygen KEY.pem", "Make a key pair that signs releases",
		`Make an Ed25519 key pair: KEY.pem signs (sign in a configuration, or evaluate
--sign-key) and stays with the steward; KEY.pub.pem is for everyone who checks.
Hand it out by another way than the releases.`, exactly(1, "one file"),
		func(cmd *cobra.Command, args []string) error {
			public := strings.TrimSuffix(args[0], ".pem") + ".pub.pem"
			key, err := signature.Generate(args[0], public)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s   keep secret\n%s   hand out; its identity is %s\n", args[0], public, signature.KeyID(key))
			return nil
		})
}
