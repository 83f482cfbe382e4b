package cli

import "github.com/spf13/cobra"

func newFleet() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Train over a network: devices and an aggregator",
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newFleetAgent())
	return cmd
}
