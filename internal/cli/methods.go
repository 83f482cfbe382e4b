package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/evaluate"
)

func newMethods() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "methods",
		Short: "Estimators with their assumptions and parameters",
		Args:  exactly(0, "none"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			methods := evaluate.Methods()
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"methods": methods})
			}
			w := cmd.OutOrStdout()
			for _, m := range methods {
				fmt.Fprintf(w, "%-9s %s\n          %s\n", m.Name, m.Releases, m.Assumes)
				for _, p := range m.Parameters {
					fmt.Fprintf(w, "          - %s\n", p)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON and nothing else")
	return cmd
}
