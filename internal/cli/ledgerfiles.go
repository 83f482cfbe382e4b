package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

func newLedgerExport() *cobra.Command {
	var dataset, out string
	cmd := &cobra.Command{
		Use:   "export LEDGER",
		Short: "Write all entries, one JSON object a line",
		Long: `Write all entries of a dataset's budget, one JSON object a line, each with its
hash: enough to recompute the chain and the accounting elsewhere, not to restore
(see backup). It is for the curator; fingerprints of the data are sealed in it.`,
		Args: exactly(1, "one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), args[0], dataset, func(l *ledger.Ledger) error {
				if out == "" {
					return l.Export(cmd.Context(), cmd.OutOrStdout())
				}
				return newFile(out, 0o600, func(w io.Writer) error { return l.Export(cmd.Context(), w) })
			})
		},
	}
	datasetFlag(cmd, &dataset)
	cmd.Flags().StringVarP(&out, "output", "o", "", "new file to write; standard output by default")
	return cmd
}

func newLedgerBackup() *cobra.Command {
	var dataset string
	cmd := &cobra.Command{
		Use:   "backup LEDGER FILE",
		Short: "Write all that restore needs, while charges go on",
		Long: `Write all that restore needs into one file: the entries, the recorded releases
and the key of the fingerprints. Keep it as secret as the ledger. Charges go on
meanwhile; what is charged after a backup is not in it. FILE must not exist. It is
read back and verified as restore would; note the head that is printed.`,
		Args: exactly(2, "a ledger and a new file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), args[0], dataset, func(l *ledger.Ledger) error {
				err := newFile(args[1], 0o600, func(w io.Writer) error { return l.Backup(cmd.Context(), w) })
				if err != nil {
					return err
				}
				var v verdict
				return v.written(cmd.OutOrStdout(), args[1], aBackup)
			})
		},
	}
	datasetFlag(cmd, &dataset)
	return cmd
}

// lostFlags are the answers to what was charged after a backup.
const lostFlags = "--lost-nothing, --lost EVENT.json or --lost-everything"

func newLedgerRestore() *cobra.Command {
	var o ledger.RestoreOptions
	var lost string
	var releases []string
	cmd := &cobra.Command{
		Use:   "restore FILE LEDGER (--lost-nothing | --lost EVENT.json | --lost-everything) --reason WHY",
		Short: "Make a ledger from a backup",
		Long: `Make the ledger of a dataset from a backup, in a place that does not hold it.

A backup cannot know what was charged after it, so say it: nothing (the ledger
was moved), at most an event, or it is not known and all that is left is debited.
Give the releases that left since, and the restore checks your word against
them. The ledger that was backed up must not be charged any more.`,
		Args: exactly(2, "a backup and a ledger"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if lost != "" {
				if o.Lost, err = readEvent(lost); err != nil {
					return err
				}
			}
			for _, path := range releases {
				text, err := os.ReadFile(path)
				if err != nil {
					return usage(err)
				}
				o.Releases = append(o.Releases, text)
			}
			f, err := os.Open(args[0])
			if err != nil {
				return usage(err)
			}
			defer f.Close()
			l, err := ledger.Restore(cmd.Context(), f, args[1], o)
			if errors.Is(err, ledger.ErrConfig) && !exactlyOne(lost != "", o.LostNothing, o.LostEverything) {
				return fmt.Errorf("%w; give one of %s (the safe answer)", err, lostFlags)
			} else if err != nil {
				return err
			}
			s, err := l.State(cmd.Context())
			if err != nil {
				return errors.Join(err, l.Close())
			}
			fmt.Fprintf(cmd.OutOrStdout(), "ledger of dataset %s restored up to entry %d; spent epsilon %.4g, delta %.4g of %g, %g\n",
				l.Dataset(), s.Head.Seq-1, s.Spent.Epsilon, s.Spent.Delta, s.Budget.Epsilon, s.Budget.Delta)
			return l.Close()
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.LostNothing, "lost-nothing", false, "nothing was charged after the backup")
	f.BoolVar(&o.LostEverything, "lost-everything", false, "it is not known what was: debit all that is left")
	f.StringVar(&lost, "lost", "", "an event (JSON) that the charges after the backup amount to at most")
	f.StringArrayVar(&releases, "release", nil, "a release that left under this ledger, to hold against the backup; repeat for more")
	f.StringArrayVar(&o.Witnesses, "witness", nil, "a witness of the ledger, to hold against the backup; repeat for more")
	f.StringVar(&o.Reason, "reason", "", "why it is restored; kept in the ledger")
	return cmd
}

func exactlyOne(answers ...bool) bool {
	n := 0
	for _, given := range answers {
		if given {
			n++
		}
	}
	return n == 1
}

func readEvent(path string) (dp.Event, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, usage(err)
	}
	event, err := dp.ParseEvent(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return event, nil
}

func newLedgerMigrate() *cobra.Command {
	version := int64(ledger.SchemaVersion)
	cmd := &cobra.Command{
		Use:   "migrate LEDGER",
		Short: "Bring the tables of a ledger to this program's version, or to another",
		Long: `Bring the tables of a ledger to this program's version, or with --to to another
one, up or down. Entries do not change. Take a backup first.`,
		Args: exactly(1, "one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if version < 1 || version > ledger.SchemaVersion {
				return usage(fmt.Errorf("%s: --to is %d; want 1 to %d", cmd.CommandPath(), version, ledger.SchemaVersion))
			}
			if err := ledger.Migrate(cmd.Context(), args[0], version); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "tables of version %d\n", version)
			return nil
		},
	}
	cmd.Flags().Int64Var(&version, "to", version, "version of the tables")
	return cmd
}
