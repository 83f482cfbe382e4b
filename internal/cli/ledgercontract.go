package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/charging"
)

func newLedgerContract() *cobra.Command {
	var dataset, reason string
	cmd := command("contract LEDGER [CONFIG.yaml [--new-version WHY]]", "Fix how the data of a dataset are read, or show it",
		`Fix how the data of a dataset are read: the steward's part of a configuration.
That is every key but those of the question (target, targets, levels, contrasts,
select, start, method, privacy.epsilon and privacy.delta, ledger, output,
justification, sign). An evaluation that differs from it is refused before the data are opened, with the keys in which it does.

--new-version says why there is a new version: more months of data, persons who
asked to be erased. What is spent stays spent, whatever the version; unit and
adjacency cannot change. Without a configuration the version in force is shown.`, between(1, 2, "one ledger, and a configuration"),
		func(cmd *cobra.Command, args []string) error {
			ctx, out := cmd.Context(), cmd.OutOrStdout()
			if len(args) == 1 {
				if reason != "" || len(overrides(cmd)) > 0 {
					return usage(errors.New("ledger contract: --new-version and --set go with a configuration; name one"))
				}
				return withLedger(ctx, args[0], dataset, func(l *ledger.Ledger) error {
					body, err := l.Contract(ctx)
					if err != nil {
						return err
					}
					if body == nil {
						fmt.Fprintf(out, "dataset %s has no contract: whoever asks says how the data are read\n", l.Dataset())
						return nil
					}
					fmt.Fprintf(out, "dataset   %s\nversion   %d, sha256:%s\n", l.Dataset(), body.Number, body.Hash)
					if body.Reason != "" {
						fmt.Fprintf(out, "reason    %s\n", printable(body.Reason))
					}
					var terms bytes.Buffer
					if err := json.Indent(&terms, body.Terms, "", "  "); err != nil {
						return err
					}
					fmt.Fprintln(out, printable(terms.String()))
					return nil
				})
			}
			c, err := discreet.Load(args[1], overrides(cmd)...)
			if err != nil {
				return err
			}
			body, err := charging.SetContract(ctx, c, args[0], dataset, reason)
			if body != nil {
				fmt.Fprintf(out, "version %d of the contract is in force, sha256:%s\n", body.Number, body.Hash)
			}
			return err
		})
	datasetFlag(cmd, &dataset)
	cmd.Flags().StringVar(&reason, "new-version", "", "why there is a new version; kept in the ledger")
	setFlag(cmd)
	return cmd
}

func newLedgerClear() *cobra.Command {
	return onLedger("clear LEDGER", "Let evaluations go on after checks of the data have failed",
		`Forget the checks of the data that failed, and print them. Each tells whoever
asked at most one bit of the data. After as many as the contract says (3 by
default) nothing is read any more until they are cleared. Look at who asked what
before. A check counts from before the data are opened until its charge is
committed: so do runs that were cancelled or killed, and those that still run.`, oneLedger,
		func(cmd *cobra.Command, l *ledger.Ledger, _ []string) error {
			all, err := l.ClearChecks(cmd.Context())
			if err != nil {
				return err
			}
			printChecks(cmd.OutOrStdout(), all)
			fmt.Fprintf(cmd.OutOrStdout(), "cleared   %s of dataset %s\n", many(len(all), "failed check"), l.Dataset())
			return nil
		})
}

func printChecks(w io.Writer, all []ledger.FailedCheck) {
	for _, c := range all {
		fmt.Fprintf(w, "failed    a check of the data at %s, asked for by %s (or it still runs)\n", c.Time.Format("2006-01-02 15:04:05 MST"), printable(c.Analyst))
	}
}
