package cli

import (
	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/agent"
	"github.com/discreet-rl/discreet/internal/config"
)

func newFleetAgent() *cobra.Command {
	var overrides []string
	cmd := &cobra.Command{
		Use:   "agent CONFIG.yaml",
		Short: "Take part in the training of a fleet with this device",
		Long: `Take part in the training of a fleet, until the run has ended or the budget is used
up. What the device spent, and what it is about to send, is kept in the directory
"state": stop the agent at any moment and start it again. With learner.stdio another
program learns and speaks lines of JSON on standard input and output; everything
else goes to standard error. docs/fleet.md explains the keys.`,
		Args: exactly(1, "one configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := config.LoadFleetAgent(args[0], overrides)
			if err != nil {
				return err
			}
			return agent.Run(cmd.Context(), f, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringArrayVar(&overrides, "set", nil, "override a key of the configuration, key.key=value")
	return cmd
}
