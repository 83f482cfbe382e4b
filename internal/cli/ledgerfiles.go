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
	var out string
	cmd := onLedger("export LEDGER", "Write all entries, one JSON object a line",
		`Write all entries of a dataset's budget, one JSON object a line, each with its
hash: enough to recompute the chain and the accounting elsewhere, not to restore
(see backup). It is for the curator; fingerprints of the data are sealed in it.`, oneLedger,
		func(cmd *cobra.Command, l *ledger.Ledger, _ []string) error {
			if out == "" {
				return l.Export(cmd.Context(), cmd.OutOrStdout())
			}
			return newFile(out, 0o600, func(w io.Writer) error { return l.Export(cmd.Context(), w) })
		})
	cmd.Flags().StringVarP(&out, "output", "o", "", "new file to write; standard output by default")
	return cmd
}

func newLedgerBackup() *cobra.Command {
	return onLedger("backup LEDGER FILE", "Write all that restore needs, while charges go on",
		`Write all that restore needs into one file: the entries, the recorded releases
and the key of the fingerprints. Keep it as secret as the ledger. Charges go on
meanwhile; what is charged after a backup is not in it. FILE must not exist. It is
read back and verified as restore would; note the head that is printed.`, exactly(2, "a ledger and a new file"),
		func(cmd *cobra.Command, l *ledger.Ledger, args []string) error {
			if err := newFile(args[1], 0o600, func(w io.Writer) error { return l.Backup(cmd.Context(), w) }); err != nil {
				return err
			}
			return new(verdict).written(cmd.OutOrStdout(), args[1], aBackup)
		})
}

func newLedgerRestore() *cobra.Command {
	var o ledger.RestoreOptions
	var lost string
	var releases []string
	cmd := command("restore FILE LEDGER (--lost-nothing | --lost EVENT.json | --lost-everything) --reason WHY", "Make a ledger from a backup",
		`Make the ledger of a dataset from a backup, in a place that does not hold it.

A backup cannot know what was charged after it, so say it: nothing (the ledger
was moved), at most an event, or it is not known and all that is left is debited.
Give the releases that left since, and the restore checks your word against
them. The ledger that was backed up must not be charged any more.`, exactly(2, "a backup and a ledger"),
		func(cmd *cobra.Command, args []string) (err error) {
			if lost != "" {
				text, err := readNamed(lost)
				if err != nil {
					return err
				}
				if o.Lost, err = dp.ParseEvent(text); err != nil {
					return fmt.Errorf("%s: %w", lost, err)
				}
			}
			for _, path := range releases {
				text, err := readNamed(path)
				if err != nil {
					return err
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
				return fmt.Errorf("%w; give one of --lost-nothing, --lost EVENT.json or --lost-everything (the safe answer)", err)
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
		})
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

func newLedgerMigrate() *cobra.Command {
	version := int64(ledger.SchemaVersion)
	cmd := command("migrate LEDGER", "Bring the tables of a ledger to this program's version, or to another",
		`Bring the tables of a ledger to this program's version, or with --to to another
one, up or down. Entries do not change. Take a backup first.`, oneLedger,
		func(cmd *cobra.Command, args []string) error {
			if version < 1 || version > ledger.SchemaVersion {
				return usage(fmt.Errorf("%s: --to is %d; want 1 to %d", cmd.CommandPath(), version, ledger.SchemaVersion))
			}
			if err := ledger.Migrate(cmd.Context(), args[0], version); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "tables of version %d\n", version)
			return nil
		})
	cmd.Flags().Int64Var(&version, "to", version, "version of the tables")
	return cmd
}

func newLedgerWitness() *cobra.Command {
	var add, remove, to string
	cmd := onLedger("witness LEDGER [--add PLACE | --remove PLACE | --to PLACE]", "Keep the head of the chain outside the ledger, and ask whether it is still there",
		`Keep the number and the hash of the newest entry outside the ledger. To a place
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
are asked and listed.`, oneLedger,
		func(cmd *cobra.Command, l *ledger.Ledger, _ []string) (err error) {
			ctx, out := cmd.Context(), cmd.OutOrStdout()
			switch {
			case cmd.Flags().Changed("add"):
				err = l.AddWitness(ctx, add)
			case cmd.Flags().Changed("remove"):
				err = l.RemoveWitness(ctx, remove)
			case cmd.Flags().Changed("to"):
				if err = l.TellWitness(ctx, to); err == nil {
					fmt.Fprintf(out, "%s knows the head of dataset %s now\n", printable(to), l.Dataset())
				}
				return err
			}
			if err != nil {
				return err
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
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if given(cmd, "add", "remove", "to") > 1 {
			return usage(errors.New("ledger witness: give one of --add, --remove and --to"))
		}
		return nil
	}
	cmd.Flags().StringVar(&add, "add", "", "place to which the head is appended after every charge, and that is asked before; made where there is nothing")
	cmd.Flags().StringVar(&remove, "remove", "", "witness to forget; what it holds stays")
	cmd.Flags().StringVar(&to, "to", "", "place to which the present head is appended once")
	return cmd
}
