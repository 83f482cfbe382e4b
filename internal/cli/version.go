package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/buildinfo"
)

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Version of the module, commit, and the Go that built it",
		Args:  exactly(0, "none"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			this := buildinfo.This()
			if asJSON {
				return printJSON(cmd.OutOrStdout(), this)
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), this.Lines("discreet"))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON and nothing else")
	return cmd
}
