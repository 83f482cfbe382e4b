package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/fleet/store"
	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// fleetBackup is a command about the store and a backup of it.
func fleetBackup(use, short, long string, run func(cmd *cobra.Command, location, dir string) error) *cobra.Command {
	cmd := command(use, short, long, exactly(2, "a configuration and a directory"), func(cmd *cobra.Command, args []string) error {
		f, err := loadFleet(cmd, args[0])
		if err != nil {
			return err
		}
		if f.Store == "" {
			return fmt.Errorf("%w: store is missing; name a file, or a postgres:// URL", yamlfile.ErrSyntax)
		}
		return run(cmd, f.path(f.Store), args[1])
	})
	setFlag(cmd)
	jsonFlag(cmd, "the result as JSON")
	return cmd
}

func newFleetBackup() *cobra.Command {
	return fleetBackup("backup FLEET.yaml DIR", "Write the store into a new directory, while servers run",
		"Needs the store, not a server. DIR has its name once it is whole. It holds no keys: copy the directory of keys once,\nand after every rotate.",
		func(cmd *cobra.Command, location, dir string) error {
			m, err := store.Backup(cmd.Context(), location, dir)
			if err != nil {
				return err
			}
			return show(cmd, map[string]any{"backup": dir, "taken": m.Taken}, "backup    %s, of %s\n", dir, m.Taken.Format(time.RFC3339))
		})
}

func newFleetRestore() *cobra.Command {
	return fleetBackup("restore FLEET.yaml DIR", "Put back a store that is gone, and count what is not known as spent",
		"Stop the servers and move away what is damaged first; what is there is not touched. Nobody knows which permits were\ndrawn after the backup: all runs have ended, and devices go on in a new one.",
		func(cmd *cobra.Command, location, dir string) error {
			m, err := store.ReadBackup(dir)
			if err != nil {
				return err
			}
			made, err := store.Restore(cmd.Context(), location, dir, m, time.Now())
			if err != nil {
				return err
			}
			lost := []string{
				"rounds, reports and permits since then are lost; all of them count as spent",
				"all runs have ended; `policy` and `transcript` still read them, and `create` makes the next run",
				"enrolments, codes and revocations since then are lost: revoke again what was revoked, and give new codes to devices that enrolled",
			}
			return showBy(cmd, map[string]any{"restored": made, "taken": m.Taken, "lost": lost}, func(w io.Writer) {
				if !made {
					fmt.Fprintln(w, "nothing is missing: there is a store, and it was not touched")
					return
				}
				fmt.Fprintf(w, "restored  the store is that of %s\n", m.Taken.Format(time.RFC3339))
				for _, l := range lost {
					fmt.Fprintf(w, "          %s\n", l)
				}
			})
		})
}
