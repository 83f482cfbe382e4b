package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp/ledger"
)

func newLedgerWitness() *cobra.Command {
	var dataset, add, remove, to string
	cmd := &cobra.Command{
		Use:   "witness LEDGER [--add PLACE | --remove PLACE | --to PLACE]",
		Short: "Keep the head of the chain outside the ledger, and ask whether it is still there",
		Long: `Keep the number and the hash of the newest entry outside the ledger. To a place
that is named with --add they are appended after every charge, and before every
charge it is read: when it is gone, or knows an entry that the ledger does not
hold, nothing is charged (exit code 3). So an old copy that was put back is found
before it can be charged. A place is

  head.ndjson                                a file, best on another disk
  git:/srv/witness.git#refs/witness/trial    a reference of a Git repository, in a
                                             directory or by ssh or https
  https://example.org/witness/trial          a URL; docs/ledger.md says what the
                                             server has to do

--to appends them once to a place that is not named. Without a flag the witnesses
are asked and listed.`,
		Args: exactly(1, "one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := 0
			for _, name := range []string{"add", "remove", "to"} {
				if cmd.Flags().Changed(name) {
					given++
				}
			}
			if given > 1 {
				return usage(errors.New("ledger witness: give one of --add, --remove and --to"))
			}
			ctx, out := cmd.Context(), cmd.OutOrStdout()
			return withLedger(ctx, args[0], dataset, func(l *ledger.Ledger) error {
				switch {
				case cmd.Flags().Changed("add"):
					if err := l.AddWitness(ctx, add); err != nil {
						return err
					}
				case cmd.Flags().Changed("remove"):
					if err := l.RemoveWitness(ctx, remove); err != nil {
						return err
					}
				case cmd.Flags().Changed("to"):
					if err := l.TellWitness(ctx, to); err != nil {
						return err
					}
					fmt.Fprintf(out, "%s knows the head of dataset %s now\n", printable(to), l.Dataset())
					return nil
				}
				all, err := l.Witnesses(ctx)
				if err != nil {
					return err
				}
				if len(all) == 0 {
					fmt.Fprintf(out, "dataset %s has no witness: an old copy that is put back goes unnoticed until a release is verified\n", l.Dataset())
				}
				for _, w := range all {
					fmt.Fprintf(out, "%s knows entry %d of dataset %s, and so does the ledger\n", printable(w.Place), w.Head.Seq, l.Dataset())
				}
				return nil
			})
		},
	}
	datasetFlag(cmd, &dataset)
	cmd.Flags().StringVar(&add, "add", "", "place to which the head is appended after every charge, and that is asked before; made where there is nothing")
	cmd.Flags().StringVar(&remove, "remove", "", "witness to forget; what it holds stays")
	cmd.Flags().StringVar(&to, "to", "", "place to which the present head is appended once")
	return cmd
}
